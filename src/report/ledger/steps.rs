//! The lines of a finding, sorted by what they are, so that numbers can be aligned.
//!
//! A line whose form is not known is words; nothing is ever dropped but what is shown elsewhere.

/// One line of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A hypothesis that the counterexample meets.
    Meets(&'a str),
    /// The heading of a reading, and whether it is the one taken.
    Reading(bool, &'a str),
    /// A printed number beside what follows from others.
    Printed {
        cell: &'a str,
        printed: &'a str,
        formula: &'a str,
        value: &'a str,
        agrees: bool,
    },
    /// Something, a colon or the sign of equality, and its number.
    Pair(&'a str, char, &'a str),
    /// A sentence.
    Words(&'a str),
}

/// What theorems and runs say stands in the evidence, which is shown with its files.
const ELSEWHERE: [&str; 5] = [
    "theorem ",
    "caveat ",
    "machine-checked by ",
    "proof harnesses: ",
    "properties: ",
];

/// The steps among the lines of a finding.
pub(super) fn steps(lines: &[String]) -> Vec<Step<'_>> {
    lines
        .iter()
        .filter(|line| !ELSEWHERE.iter().any(|start| line.starts_with(start)))
        .map(|line| step(line))
        .collect()
}

/// What runs of harnesses and properties reported.
pub(super) fn reported(lines: &[String]) -> impl Iterator<Item = &str> {
    let runs = &ELSEWHERE[3..];
    let of = move |line: &&String| runs.iter().any(|start| line.starts_with(start));
    lines.iter().filter(of).map(String::as_str)
}

fn step(line: &str) -> Step<'_> {
    if let Some(rest) = line.strip_prefix("holds: ") {
        return Step::Meets(rest);
    }
    if let Some(rest) = line.strip_prefix("taken: ") {
        return Step::Reading(true, rest);
    }
    if let Some(rest) = line.strip_prefix("otherwise: ") {
        return Step::Reading(false, rest);
    }
    printed(line)
        .or_else(|| pair(line))
        .unwrap_or(Step::Words(line))
}

/// `CELL: printed X; FORMULA = VALUE; agrees`.
fn printed(line: &str) -> Option<Step<'_>> {
    let (cell, rest) = line.split_once(": printed ")?;
    let (printed, rest) = rest.split_once("; ")?;
    let (equation, sign) = rest.rsplit_once("; ")?;
    let (formula, value) = equation.rsplit_once(" = ")?;
    let agrees = match sign {
        "agrees" => true,
        "differs" => false,
        _ => return None,
    };
    Some(Step::Printed {
        cell,
        printed,
        formula,
        value,
        agrees,
    })
}

/// `WHAT: NUMBERS` or `FORMULA = NUMBER`, where the right side begins with a number and is short.
fn pair(line: &str) -> Option<Step<'_>> {
    const SHORT: usize = 48;
    let number = |text: &str| {
        let digits = text.trim_start_matches(['-', '−', '≈']);
        let begins = digits.starts_with(|c: char| c.is_ascii_digit());
        begins && !text.ends_with('.') && text.chars().count() <= SHORT
    };
    if let Some((left, right)) = line.split_once(": ")
        && number(right)
    {
        return Some(Step::Pair(left, ':', right));
    }
    let (left, right) = line.rsplit_once(" = ")?;
    (number(right) && !left.contains(". ")).then_some(Step::Pair(left, '=', right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_form() {
        assert_eq!(step("holds: A1: items"), Step::Meets("A1: items"));
        assert_eq!(step("otherwise: x"), Step::Reading(false, "x"));
        assert_eq!(
            step(
                "Section 6.6, Table 6, K = 1, bound: printed 24.28; 24.28/√1 = 24.2750 to 24.2850; agrees"
            ),
            Step::Printed {
                cell: "Section 6.6, Table 6, K = 1, bound",
                printed: "24.28",
                formula: "24.28/√1",
                value: "24.2750 to 24.2850",
                agrees: true
            }
        );
        assert_eq!(
            step("with C = 2: 0.763793 where 0.707107 is claimed"),
            Step::Pair("with C = 2", ':', "0.763793 where 0.707107 is claimed")
        );
        assert_eq!(
            step("ln(2·3) = 1.7918"),
            Step::Pair("ln(2·3)", '=', "1.7918")
        );
        let sentence = "The claim allows 2·1/2·1/10·√6 = 0.244949.";
        assert_eq!(step(sentence), Step::Words(sentence));
    }

    /// The forms are those that the ledger writes: a line of a theorem or a run is no step.
    #[test]
    fn what_is_shown_elsewhere_is_no_step() {
        use crate::ledger::claims::judged_without_records;
        let judged = judged_without_records();
        let mut aligned = 0;
        for entry in &judged {
            for step in steps(&entry.finding.evidence) {
                if let Step::Words(words) = step {
                    for sign in ["machine-checked", ".v:", "not run", ": printed "] {
                        assert!(!words.contains(sign), "{}: {words}", entry.claim.id);
                    }
                }
                aligned += usize::from(matches!(step, Step::Pair(..) | Step::Printed { .. }));
            }
        }
        assert!(aligned > 200, "{aligned}");
    }
}
