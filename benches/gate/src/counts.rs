//! Counts as they are committed, and what has become of them.

use std::fmt::{self, Write as _};

/// What a count may differ by: layout of memory and of the program shifts a few instructions in a
/// thousand, a kernel that has become slower more than this.
const PERCENT: u64 = 3;

/// Instructions by kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// The compiler that made the program, and the processor that it was for.
    pub build: String,
    /// Name and instructions of each, in the order of the kernels.
    pub kernels: Vec<(String, u64)>,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Instructions by kernel; written by `make bench-gate-record`."
        )?;
        writeln!(f, "build\t{}", self.build)?;
        for (name, count) in &self.kernels {
            writeln!(f, "{name}\t{count}")?;
        }
        Ok(())
    }
}

impl Counts {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut counts = Counts {
            build: String::new(),
            kernels: Vec::new(),
        };
        for (at, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let wrong = || format!("counts.txt:{}: no name and count: {line:?}", at + 1);
            let (name, value) = line.split_once('\t').ok_or_else(wrong)?;
            if name == "build" {
                value.clone_into(&mut counts.build);
            } else {
                let count = value.parse().ok().filter(|count| *count > 0);
                counts
                    .kernels
                    .push((name.to_owned(), count.ok_or_else(wrong)?));
            }
        }
        Ok(counts)
    }

    fn of(&self, name: &str) -> Option<u64> {
        let found = self.kernels.iter().find(|(own, _)| own == name);
        found.map(|(_, count)| *count)
    }
}

/// The instructions of one file of callgrind, which ends with their total; none where it counts nothing.
pub fn total(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals:"))?;
    line.trim().parse().ok().filter(|total| *total > 0)
}

/// A table of what was and what is, and whether all counts hold. A kernel that takes less has to be
/// recorded as well: the gate would let it become slow again.
pub fn compare(committed: &Counts, now: &Counts) -> (String, bool) {
    let comparable = committed.build == now.build;
    let mut table = String::new();
    let mut failed = Vec::new();
    let _ = writeln!(
        table,
        "{:<28}{:>14}{:>14}{:>9}",
        "instructions of", "committed", "now", "change"
    );
    for (name, count) in &now.kernels {
        let Some(before) = committed.of(name) else {
            failed.push(format!("{name} is new"));
            continue;
        };
        let change = *count as f64 / before as f64 - 1.0;
        let holds = count.abs_diff(before).saturating_mul(100) <= before.saturating_mul(PERCENT);
        let mark = if holds { "" } else { "  <--" };
        let _ = writeln!(
            table,
            "{name:<28}{before:>14}{count:>14}{:>8.1}%{mark}",
            100.0 * change
        );
        if !holds && comparable {
            let words = if change > 0.0 { "slower" } else { "faster" };
            failed.push(format!("{name} is {words}"));
        }
    }
    let gone = committed
        .kernels
        .iter()
        .filter(|(name, _)| now.of(name).is_none());
    failed.extend(gone.map(|(name, _)| format!("{name} is gone")));
    if !comparable {
        let _ = writeln!(
            table,
            "not compared: counted with {}, this is {}; make bench-gate-record counts anew",
            committed.build, now.build
        );
    }
    if failed.is_empty() {
        return (table, true);
    }
    let _ = writeln!(
        table,
        "bench-gate: {}. If that is meant: make bench-gate-record, and say in the commit why.",
        failed.join(", ")
    );
    (table, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(build: &str, kernels: &[(&str, u64)]) -> Counts {
        let kernels = kernels.iter().map(|(name, n)| ((*name).to_owned(), *n));
        Counts {
            build: build.to_owned(),
            kernels: kernels.collect(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = counts("rustc 1", &[("a b", 5), ("c", 7)]);
        assert_eq!(Counts::parse(&written.to_string()), Ok(written));
        for bad in ["a", "a\t", "a\t0", "a\t-1", "a\tb"] {
            assert!(Counts::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn only_three_percent_pass() {
        let before = counts("x", &[("a", 1000), ("b", 1000)]);
        for (now, holds) in [
            (1000, true),
            (1030, true),
            (1031, false),
            (970, true),
            (969, false),
        ] {
            let now = counts("x", &[("a", 1000), ("b", now)]);
            assert_eq!(compare(&before, &now).1, holds, "{now}");
        }
    }

    #[test]
    fn a_kernel_that_is_new_or_gone_fails() {
        let before = counts("x", &[("a", 1)]);
        let other = counts("x", &[("a", 1), ("b", 1)]);
        assert!(!compare(&before, &other).1);
        assert!(!compare(&other, &before).1);
        // Whatever it was built with.
        assert!(
            !compare(
                &before,
                &Counts {
                    build: "y".into(),
                    ..other
                }
            )
            .1
        );
    }

    #[test]
    fn another_build_is_shown_and_not_compared() {
        let (table, holds) = compare(&counts("x", &[("a", 10)]), &counts("y", &[("a", 20)]));
        assert!(holds && table.contains("not compared"), "{table}");
    }

    #[test]
    fn a_file_that_counts_nothing_is_none() {
        assert_eq!(total("events: Ir\n\ntotals: 12\n"), Some(12));
        assert_eq!(total("events: Ir\n\ntotals: 0\n"), None);
        assert_eq!(total(""), None);
    }
}
