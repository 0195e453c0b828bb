//! The harnesses under Kani.

mod output;

use std::collections::BTreeMap;
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
/// Seconds for one harness: ten times what it should take, as machines differ and are busy.
pub const TIMEOUT: u32 = 600;
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

/// Runs the harnesses under Kani, if it is there: those that are listed, or with `all` whatever Kani
/// itself finds, so that its inventory is compared with ours.
///
/// # Errors
/// Kani is there, but cannot be run, or what it leaves cannot be read.
pub fn run(listed: &[Harness], slow: bool, all: bool) -> Result<Run, String> {
    let version = match version() {
        Ok(version) => version,
        Err(reason) => return Ok(Run::NotRun(reason)),
    };
    let kani = Kani {
        package: root().to_owned(),
        target: root().join("target/kani"),
        slow,
    };
    let selected: Vec<String> = listed
        .iter()
        .filter(|harness| match harness.engine {
            Engine::Kani => true,
            Engine::KaniSlow => slow,
            Engine::TestOnly => false,
        })
        .map(|harness| harness.name.clone())
        .collect();
    println!("{} harnesses under {version}", selected.len());
    let timeout = if slow { SLOW_TIMEOUT } else { TIMEOUT };
    let log = output_directory().join("kani.log");
    let only = if all { &[] } else { &selected[..] };
    let output = kani.verify(only, timeout, &log)?;
    let verdicts = judge(&selected, &output);
    let mut versions = BTreeMap::from([("kani".to_owned(), version)]);
    add_versions(&mut versions, &output);
    let reach = reach::of(&kani.target, &selected)?;
    Ok(Run::Done {
        verdicts,
        versions,
        reach,
    })
}

/// Adds the versions that Kani's output names.
pub fn add_versions(versions: &mut BTreeMap<String, String>, output: &str) {
    versions.extend(output::versions(output));
    // A CBMC that was built without a solver runs it as a program, and does not say which.
    if versions.remove("external").is_some() {
        let found = first_line("cadical", &["--version"]);
        versions.extend(found.map(|v| ("cadical".to_owned(), v)));
    }
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
    fn command(&self) -> Command {
        let mut command = Command::new("cargo");
        command
            .arg("kani")
            .args(["-Z", "stubbing", "-Z", "unstable-options"])
            // Whether an assertion is reached is not asked one by one: covers say it for each harness.
            .arg("--no-assertion-reach-checks")
            // No harness is about the command line or Parquet.
            .arg("--no-default-features")
            .current_dir(&self.package)
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

    /// Runs Kani on some harnesses, or without any on all that it finds; its output goes to a file as
    /// well.
    pub fn verify(&self, only: &[String], timeout: u32, log: &Path) -> Result<String, String> {
        let cannot = |e: std::io::Error| format!("cannot write {}: {e}", log.display());
        fs::create_dir_all(output_directory()).map_err(cannot)?;
        let mut file = fs::File::create(log).map_err(cannot)?;
        let mut command = self.command();
        command
            .args(["--lib", "--harness-timeout"])
            .arg(format!("{timeout}s"));
        if !only.is_empty() {
            command.arg("--exact");
        }
        for name in only {
            command.args(["--harness", name]);
        }
        // What vectors hold has no type for CBMC: of up to so many bytes it follows each by itself.
        command.args(["--cbmc-args", "--max-field-sensitivity-array-size", "1024"]);
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

/// Verdicts from Kani's output. What our sources ask for and the output lacks is missing; what the
/// output has beyond that is for the record to name.
pub fn judge(selected: &[String], output: &str) -> Verdicts {
    let mut verdicts = parse(output);
    for name in selected {
        verdicts
            .entry(name.clone())
            .or_insert_with(|| Checked::only(Verdict::Missing));
    }
    verdicts
}

#[cfg(test)]
mod tests;
