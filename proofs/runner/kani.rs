//! The harnesses under Kani.

mod output;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harnesses::{Engine, Harness};
use crate::reach::{self, Reach};
use crate::{output_directory, root};

pub use output::parse;

/// The first version that runs the harnesses; `make kani-setup` installs a later one. The record
/// names the version that ran.
const OLDEST: [u32; 3] = [0, 67, 0];
/// Seconds for one harness: five times what it should take, as machines differ.
pub const TIMEOUT: u32 = 300;
/// Seconds for one slow harness.
const SLOW_TIMEOUT: u32 = 3600;

/// What Kani said of one harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Verified, and every cover satisfied.
    Proved,
    /// A check failed.
    Failed(String),
    /// Verified, but a cover is unsatisfied: the harness may be vacuous.
    Uncovered,
    /// Not settled in time.
    Timeout,
    /// CBMC broke off.
    Broken,
    /// The solver gave no answer, which is neither a proof nor a refutation.
    Error(String),
    /// In the inventory, but without a result.
    Missing,
    /// Not run, and why.
    Skipped(String),
    /// Not run here; proved in the committed record of this day, whose sources are the present ones.
    Quoted(String),
    /// Not run here, and the committed record is of other sources: which one.
    Stale(String),
}

/// Verdict with what else the output has of a harness.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What Kani said.
    pub verdict: Verdict,
    /// Seconds that it took.
    pub seconds: Option<f64>,
    /// Covers satisfied, and how many there are.
    pub covers: Option<(u64, u64)>,
}

impl Checked {
    /// A verdict and nothing else.
    pub fn only(verdict: Verdict) -> Self {
        Checked {
            verdict,
            seconds: None,
            covers: None,
        }
    }
}

/// Verdict for each harness.
pub type Verdicts = BTreeMap<String, Checked>;

/// What became of the run.
pub enum Run {
    /// Kani is not there, or was switched off.
    NotRun(String),
    /// It ran.
    Done {
        /// What it said of each harness.
        verdicts: Verdicts,
        /// Names and versions of the tools.
        versions: BTreeMap<String, String>,
        /// The sources that each harness reaches.
        reach: Reach,
    },
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// The search path with our `bitwuzla` launcher behind what is there already.
fn search_path() -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(root().join("proofs"));
    path
}

fn bitwuzla_version() -> Option<String> {
    let launcher = root().join("proofs/bitwuzla");
    first_line("bitwuzla", &["--version"])
        .or_else(|| first_line(&launcher.to_string_lossy(), &["--version"]))
}

/// Whether this is a version that runs the harnesses, given what `cargo kani --version` prints:
/// `Kani Rust Verifier 0.68.0 (cargo plugin)`, or `cargo-kani 0.67.0` in earlier versions.
fn is_new_enough(printed: &str) -> bool {
    printed.split_whitespace().any(|word| {
        let numbers: Option<Vec<u32>> = word.split('.').map(|n| n.parse().ok()).collect();
        numbers.is_some_and(|n| n.len() == OLDEST.len() && n.as_slice() >= OLDEST.as_slice())
    })
}

/// What `cargo kani --version` prints, or why Kani cannot be used.
pub fn version() -> Result<String, String> {
    let Some(version) = first_line("cargo", &["kani", "--version"]) else {
        return Err("cargo kani is not installed (make kani-setup installs it)".into());
    };
    if !is_new_enough(&version) {
        let [major, minor, patch] = OLDEST;
        return Err(format!(
            "found {version:?}, but {major}.{minor}.{patch} or later is needed (make kani-setup \
             installs it)"
        ));
    }
    Ok(version)
}

/// Runs the harnesses under Kani, if it is there.
///
/// # Errors
/// Kani is there, but its inventory cannot be made or read.
pub fn run(listed: &[Harness], slow: bool) -> Result<Run, String> {
    let version = match version() {
        Ok(version) => version,
        Err(reason) => return Ok(Run::NotRun(reason)),
    };
    let bitwuzla = bitwuzla_version();
    let kani = Kani {
        package: root().to_owned(),
        target: root().join("target/kani"),
        slow,
    };
    let inventory = kani.inventory()?;
    let mut skipped = Verdicts::new();
    let mut selected = Vec::new();
    for harness in listed {
        let wanted = match harness.engine {
            Engine::Kani => true,
            Engine::KaniSlow => slow,
            Engine::TestOnly => false,
        };
        if !wanted {
            continue;
        }
        if harness.solver.as_deref() == Some("bitwuzla") && bitwuzla.is_none() {
            println!(
                "KANI SKIPS {}: bitwuzla is not installed (make kani-setup)",
                harness.name
            );
            let reason = "bitwuzla is not installed".to_owned();
            skipped.insert(
                harness.name.clone(),
                Checked::only(Verdict::Skipped(reason)),
            );
        } else {
            selected.push(harness.name.clone());
        }
    }
    println!("{} harnesses under {version}", selected.len());
    let timeout = if slow { SLOW_TIMEOUT } else { TIMEOUT };
    let log = output_directory().join("kani.log");
    let output = kani.verify(&selected, timeout, &log)?;
    let mut verdicts = judge(&selected, &inventory, &output);
    verdicts.extend(skipped);
    let mut versions = output::versions(&output);
    versions.insert("kani".to_owned(), version);
    if selected.len() < verdicts.len() || slow {
        versions.extend(bitwuzla.map(|v| ("bitwuzla".to_owned(), v)));
    }
    let reach = reach::of(&kani.target, &selected)?;
    Ok(Run::Done {
        verdicts,
        versions,
        reach,
    })
}

/// Kani for one package.
pub struct Kani {
    /// The package's root.
    pub package: PathBuf,
    /// Its own target directory.
    pub target: PathBuf,
    /// With the slow harnesses.
    pub slow: bool,
}

impl Kani {
    /// `cargo kani [list]`. What the manifest has under `unstable` is not read by `list`.
    fn command(&self, subcommand: Option<&str>) -> Command {
        let mut command = Command::new("cargo");
        command
            .arg("kani")
            .args(subcommand)
            .args(["-Z", "stubbing", "-Z", "unstable-options"])
            .current_dir(&self.package)
            .env("PATH", search_path())
            .env("CARGO_TARGET_DIR", &self.target)
            // Optimization duplicates covers and checks, and helps no solver.
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            // That of the cargo which started us would override Kani's own.
            .env_remove("RUSTUP_TOOLCHAIN");
        if self.slow {
            let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
            command.env("RUSTFLAGS", format!("{flags} --cfg kani_slow").trim());
        }
        command
    }

    /// The harnesses that Kani itself finds.
    fn inventory(&self) -> Result<BTreeSet<String>, String> {
        let path = self.package.join("kani-list.json");
        let output = self
            .command(Some("list"))
            .args(["--format", "json"])
            .output()
            .map_err(|e| format!("cannot run cargo kani: {e}"))?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo kani list failed:\n{error}"));
        }
        let text =
            fs::read_to_string(&path).map_err(|e| format!("cannot read kani-list.json: {e}"))?;
        // Kani writes it into the working directory; it belongs with the records.
        let _ = fs::remove_file(&path);
        read_inventory(&text)
    }

    /// Runs Kani on the selected harnesses; its output goes to a file as well.
    pub fn verify(&self, selected: &[String], timeout: u32, log: &Path) -> Result<String, String> {
        let cannot = |e: std::io::Error| format!("cannot write {}: {e}", log.display());
        fs::create_dir_all(output_directory()).map_err(cannot)?;
        let mut file = fs::File::create(log).map_err(cannot)?;
        let mut command = self.command(None);
        command
            .args(["--lib", "--harness-timeout"])
            .arg(format!("{timeout}s"))
            .arg("--exact");
        for name in selected {
            command.args(["--harness", name]);
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|e| format!("cannot run cargo kani: {e}"))?;
        let mut text = String::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.contains("Checking harness") || line.contains("VERIFICATION:-") {
                    println!("{line}");
                }
                writeln!(file, "{line}").map_err(cannot)?;
                text.push_str(&line);
                text.push('\n');
            }
        }
        // The exit code is no evidence: an unsatisfied cover leaves it at zero.
        child.wait().map_err(|e| format!("cargo kani: {e}"))?;
        Ok(text)
    }
}

/// Reads `cargo kani list --format json`: names by file, under one key for each sort of harness.
pub fn read_inventory(text: &str) -> Result<BTreeSet<String>, String> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|e| format!("kani-list.json is not JSON: {e}"))?;
    let mut names = BTreeSet::new();
    for sort in ["standard-harnesses", "contract-harnesses"] {
        let files = value.get(sort).and_then(|v| v.as_object());
        for list in files.into_iter().flat_map(|files| files.values()) {
            let list = list.as_array().into_iter().flatten();
            names.extend(list.filter_map(|name| name.as_str()).map(str::to_owned));
        }
    }
    if names.is_empty() {
        return Err("kani-list.json has no harnesses".into());
    }
    Ok(names)
}

/// Verdicts from Kani's output. Whatever the inventory has and the results lack is missing, and so
/// is what was asked for and the inventory lacks.
pub fn judge(selected: &[String], inventory: &BTreeSet<String>, output: &str) -> Verdicts {
    let mut verdicts = parse(output);
    for name in inventory {
        verdicts
            .entry(name.clone())
            .or_insert_with(|| Checked::only(Verdict::Missing));
    }
    for name in selected.iter().filter(|&name| !inventory.contains(name)) {
        verdicts.insert(name.clone(), Checked::only(Verdict::Missing));
    }
    verdicts
}

#[cfg(test)]
mod tests;
