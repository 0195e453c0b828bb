//! What Kani's output says of each harness.

use std::collections::BTreeMap;

use super::{Checked, Verdict, Verdicts};

/// Reads Kani's output, harness by harness.
pub fn parse(output: &str) -> Verdicts {
    let mut verdicts = Verdicts::new();
    let mut current: Option<(String, Reading)> = None;
    for line in output.lines() {
        let line = plain(line);
        let line = line.trim();
        if let Some((_, rest)) = line.split_once("Checking harness ") {
            if let Some((name, reading)) = current.take() {
                verdicts.insert(name, reading.checked());
            }
            let name = rest.trim_end_matches("...").to_owned();
            current = Some((name, Reading::default()));
        } else if let Some((_, reading)) = &mut current {
            reading.line(line);
        }
    }
    if let Some((name, reading)) = current {
        verdicts.insert(name, reading.checked());
    }
    verdicts
}

/// The versions that the output names: CBMC's, and that of the solver it hands the formula to.
/// In an official installation CBMC is not on the search path and cannot be asked.
pub fn versions(output: &str) -> BTreeMap<String, String> {
    let mut versions = BTreeMap::new();
    for line in output.lines() {
        let line = plain(line);
        let line = line.trim();
        let (name, rest) = if let Some(rest) = line.strip_prefix("CBMC version ") {
            ("cbmc".to_owned(), rest)
        } else if let Some((solver, rest)) = line
            .strip_prefix("Solving with ")
            .and_then(|rest| rest.split_once(' '))
        {
            (solver.to_lowercase(), rest)
        } else {
            continue;
        };
        let version = rest.split(' ').next().unwrap_or(rest);
        versions.insert(name, version.to_owned());
    }
    versions
}

/// What has been read of one harness.
#[derive(Default)]
struct Reading {
    /// Of the check that is being read: whether it is a cover, its status and its text.
    is_cover: bool,
    status: String,
    description: String,
    /// Whether the cover with this place and text is satisfied. An optimized program can have one
    /// cover several times; it is enough that one of them is reached.
    covers: BTreeMap<(String, String), bool>,
    /// The sentence that counts the covers, where the single ones are not listed.
    counted: Option<(u64, u64)>,
    failure: Option<String>,
    errors: u64,
    end: Option<End>,
    seconds: Option<f64>,
}

/// How the run of one harness ended.
enum End {
    Successful,
    /// With what Kani adds in brackets, which explains a failure without a failed check.
    Failed(Option<String>),
    Timeout,
    Broken,
}

impl Reading {
    fn line(&mut self, line: &str) {
        if let Some(name) = line
            .strip_prefix("Check ")
            .and_then(|rest| rest.split_once(": "))
        {
            let class = name.1.rsplit('.').nth(1);
            self.is_cover = class == Some("cover");
        } else if let Some(status) = line.strip_prefix("- Status: ") {
            status.clone_into(&mut self.status);
            self.errors += u64::from(status == "ERROR");
        } else if let Some(text) = line.strip_prefix("- Description: ") {
            text.trim_matches('"').clone_into(&mut self.description);
        } else if let Some(place) = line.strip_prefix("- Location: ") {
            if self.is_cover {
                let place = place.split(" in function ").next().unwrap_or(place);
                let key = (place.to_owned(), self.description.clone());
                *self.covers.entry(key).or_insert(false) |= self.status == "SATISFIED";
            }
        } else if let Some(what) = line.strip_prefix("Failed Checks: ") {
            self.failure.get_or_insert_with(|| what.to_owned());
        } else if let Some(rest) = line.strip_prefix("** ") {
            if rest.contains("cover properties satisfied") {
                let mut words = rest.split(' ');
                let n = words.next().and_then(|w| w.parse().ok());
                let of = words.nth(1).and_then(|w| w.parse().ok());
                self.counted = n.zip(of);
            }
        } else if line.starts_with("CBMC failed") {
            self.end = Some(End::Broken);
        } else if line.starts_with("CBMC timed out") {
            self.end = Some(End::Timeout);
        } else if let Some(said) = line.strip_prefix("VERIFICATION:- ") {
            // "CBMC failed" stands before it and says more.
            self.end.get_or_insert_with(|| {
                if said.starts_with("SUCCESSFUL") {
                    End::Successful
                } else {
                    let brackets = said.split_once('(').map(|(_, rest)| rest);
                    End::Failed(brackets.map(|rest| rest.trim_end_matches(')').to_owned()))
                }
            });
        } else if let Some(time) = line.strip_prefix("Verification Time: ") {
            self.seconds = time.trim_end_matches('s').parse().ok();
        }
    }

    fn checked(self) -> Checked {
        let covers = if self.covers.is_empty() {
            self.counted
        } else {
            let satisfied = self.covers.values().filter(|&&s| s).count() as u64;
            Some((satisfied, self.covers.len() as u64))
        };
        let verdict = match self.end {
            // Until a verdict follows there is none.
            None => Verdict::Missing,
            Some(End::Timeout) => Verdict::Timeout,
            Some(End::Broken) => Verdict::Broken,
            Some(End::Failed(_)) if self.errors > 0 => Verdict::Error(format!(
                "{} checks without an answer from the solver",
                self.errors
            )),
            Some(End::Failed(brackets)) => match self.failure.or(brackets) {
                Some(what) => Verdict::Failed(what),
                // A refutation names what is refuted.
                None => Verdict::Error("failed without a failed check".into()),
            },
            Some(End::Successful) if covers.is_some_and(|(n, of)| n < of) => Verdict::Uncovered,
            Some(End::Successful) => Verdict::Proved,
        };
        Checked {
            verdict,
            seconds: self.seconds,
            covers,
        }
    }
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
