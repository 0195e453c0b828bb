//! The harnesses under Kani, and what its own output says of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::harnesses::{Engine, Harness};
use crate::{output_directory, root};

/// The version that the harnesses were written for; see `make kani-setup`.
pub const VERSION: &str = "0.68.0";
/// Seconds for one harness: five times what it should take, as machines differ.
const TIMEOUT: u32 = 300;
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
    /// In the inventory, but without a result.
    Missing,
    /// Not run, and why.
    Skipped(String),
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
    fn only(verdict: Verdict) -> Self {
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

/// Runs the harnesses under Kani, if it is there.
///
/// # Errors
/// Kani is there, but its inventory cannot be made or read.
pub fn run(listed: &[Harness], slow: bool) -> Result<Run, String> {
    let Some(version) = first_line("cargo", &["kani", "--version"]) else {
        let reason = "cargo kani is not installed (make kani-setup installs it)";
        return Ok(Run::NotRun(reason.into()));
    };
    if version.split_whitespace().last() != Some(VERSION) {
        return Ok(Run::NotRun(format!(
            "found {version:?}, but {VERSION} is needed (make kani-setup installs it)"
        )));
    }
    let mut versions = BTreeMap::from([("kani".to_owned(), version)]);
    versions.extend(first_line("cbmc", &["--version"]).map(|v| ("cbmc".to_owned(), v)));
    let bitwuzla = bitwuzla_version();
    versions.extend(bitwuzla.clone().map(|v| ("bitwuzla".to_owned(), v)));

    let inventory = inventory(slow)?;
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
    println!("{} harnesses under {VERSION} of Kani", selected.len());
    let output = verify(&selected, slow)?;
    let mut verdicts = judge(&selected, &inventory, &output);
    verdicts.extend(skipped);
    Ok(Run::Done { verdicts, versions })
}

fn kani_command(slow: bool) -> Command {
    let mut command = Command::new("cargo");
    command
        .arg("kani")
        .current_dir(root())
        .env("PATH", search_path());
    if slow {
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        command.env("RUSTFLAGS", format!("{flags} --cfg kani_slow").trim());
    }
    command
}

/// The harnesses that Kani itself finds.
fn inventory(slow: bool) -> Result<BTreeSet<String>, String> {
    let path = root().join("kani-list.json");
    let output = kani_command(slow)
        .args(["list", "--format", "json"])
        .output()
        .map_err(|e| format!("cannot run cargo kani: {e}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo kani list failed:\n{error}"));
    }
    let text = fs::read_to_string(&path).map_err(|e| format!("cannot read kani-list.json: {e}"))?;
    // Kani writes it into the working directory; it belongs with the records.
    let _ = fs::remove_file(&path);
    read_inventory(&text)
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

/// Runs Kani on the selected harnesses; its output goes to a file as well.
fn verify(selected: &[String], slow: bool) -> Result<String, String> {
    let log = output_directory().join("kani.log");
    let cannot = |e: std::io::Error| format!("cannot write {}: {e}", log.display());
    fs::create_dir_all(output_directory()).map_err(cannot)?;
    let mut file = fs::File::create(&log).map_err(cannot)?;
    let timeout = if slow { SLOW_TIMEOUT } else { TIMEOUT };
    let mut command = kani_command(slow);
    command
        .args(["--lib", "-Z", "unstable-options", "--harness-timeout"])
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

/// Reads Kani's output, harness by harness.
pub fn parse(output: &str) -> Verdicts {
    let mut verdicts = Verdicts::new();
    let mut name: Option<String> = None;
    let mut failure: Option<String> = None;
    for line in output.lines() {
        let line = plain(line);
        let line = line.trim();
        if let Some((_, rest)) = line.split_once("Checking harness ") {
            let found = rest.trim_end_matches("...").to_owned();
            // Until a verdict follows there is none.
            verdicts.insert(found.clone(), Checked::only(Verdict::Missing));
            name = Some(found);
            failure = None;
            continue;
        }
        let Some(checked) = name.as_ref().and_then(|n| verdicts.get_mut(n)) else {
            continue;
        };
        if let Some(what) = line.strip_prefix("Failed Checks: ") {
            failure.get_or_insert_with(|| what.to_owned());
            if let Verdict::Failed(said) = &mut checked.verdict
                && said.is_empty()
            {
                *said = what.to_owned();
            }
        } else if let Some(rest) = line.strip_prefix("** ") {
            if rest.contains("cover properties satisfied") {
                let mut words = rest.split(' ');
                let n = words.next().and_then(|w| w.parse().ok());
                let of = words.nth(1).and_then(|w| w.parse().ok());
                checked.covers = n.zip(of);
            }
        } else if line.starts_with("CBMC failed") {
            checked.verdict = Verdict::Broken;
        } else if line.starts_with("CBMC timed out") {
            checked.verdict = Verdict::Timeout;
        } else if let Some(said) = line.strip_prefix("VERIFICATION:- ") {
            if said.starts_with("SUCCESSFUL") {
                let all = checked.covers.is_none_or(|(n, of)| n == of);
                checked.verdict = if all {
                    Verdict::Proved
                } else {
                    Verdict::Uncovered
                };
            } else if checked.verdict != Verdict::Broken {
                // What Kani adds in brackets explains a failure without a failed check.
                let brackets = said
                    .split_once('(')
                    .map(|(_, rest)| rest.trim_end_matches(')'));
                let what = failure.clone().or(brackets.map(str::to_owned));
                checked.verdict = Verdict::Failed(what.unwrap_or_default());
            }
        } else if let Some(time) = line.strip_prefix("Verification Time: ") {
            checked.seconds = time.trim_end_matches('s').parse().ok();
        }
    }
    verdicts
}

/// The line without the escape sequences of colours.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' {
            // A sequence ends with its first letter.
            let _ = characters.find(char::is_ascii_alphabetic);
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests;
