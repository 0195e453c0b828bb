//! What a log is cut into slices by: fields, periods of time in them, sources of evidence.

use std::fmt;
use std::str::FromStr;

use super::time::Period;

/// The name of the slices by source of evidence.
pub(super) const EVIDENCE: &str = "evidence.id";

/// One way to cut a log into slices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// By the value of a field, or by the period that it lies in.
    Field {
        period: Option<Period>,
        name: String,
    },
    /// By the id of the items of evidence, each of which counts as a prediction.
    Evidence,
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == EVIDENCE {
            return Ok(By::Evidence);
        }
        let field = |period, name: &str| By::Field {
            period,
            name: name.to_string(),
        };
        let names = || Period::ALL.map(|(name, _)| name).join(", ");
        match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            _ if text.is_empty() => Err("a field is missing".to_string()),
            Some((_, "")) => Err(format!("{text}: a field is missing in the brackets")),
            Some((function, name)) => {
                let mut known = Period::ALL.iter().filter(|(name, _)| *name == function);
                match known.next() {
                    Some((_, period)) => Ok(field(Some(*period), name)),
                    None => Err(format!("{text}: there is {}, but no {function}", names())),
                }
            }
            None => Ok(field(None, text)),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Evidence => f.write_str(EVIDENCE),
            By::Field { period: None, name } => f.write_str(name),
            By::Field {
                period: Some(period),
                name,
            } => write!(f, "{}({name})", period.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_shown() {
        for text in ["site", "month(at)", "evidence.id", "week(a b)", "day(x(y))"] {
            assert_eq!(text.parse::<By>().unwrap().to_string(), text);
        }
        for (text, what) in [
            ("", "a field is missing"),
            ("month()", "month(): a field is missing in the brackets"),
            (
                "minute(at)",
                "minute(at): there is year, month, week, day, hour, but no minute",
            ),
        ] {
            assert_eq!(text.parse::<By>().unwrap_err(), what);
        }
    }
}
