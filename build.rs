//! The commit that a release is built from, for `lpf --version`.
//!
//! Development builds do without: every commit would make them build everything anew.

use std::process::Command;

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LPF_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        println!("cargo::rustc-env=LPF_VERSION={version} (development build)");
        return;
    }
    // A package without its repository may be told.
    let commit = std::env::var("LPF_COMMIT").ok().or_else(|| {
        // Not that of whatever repository a downloaded package happens to lie in.
        let root = git(&["rev-parse", "--show-toplevel"])?;
        let here = std::fs::canonicalize(".").ok()?;
        (std::fs::canonicalize(root).ok()? == here).then_some(())?;
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo::rerun-if-changed={log}");
        }
        let commit = git(&["rev-parse", "HEAD"])?;
        let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
        let more = if changed.is_empty() {
            ""
        } else {
            ", with changes"
        };
        Some(format!("{commit}{more}"))
    });
    let commit = commit.map_or(String::new(), |commit| format!(" (commit {commit})"));
    println!("cargo::rustc-env=LPF_VERSION={version}{commit}");
}
