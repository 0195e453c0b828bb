//! Answers as a table for people.
//!
//! Widths are fixed, not fitted to the data: the table streams, and its bytes depend on nothing
//! but the records.

use std::fmt::Write;

use super::super::display::{bar, escaped, fitted};
use crate::answer::Answer;

/// Cells of the columns.
const ENTITY: usize = 20;
const PREDICTION: usize = 12;
const BAR: usize = 10;
/// `100.0%`
const PERCENT: usize = 6;
/// More classes than this do not fit a line; the most probable ones are then shown by name.
const MOST_COLUMNS: usize = 5;
const MOST_NAMED: usize = 3;

/// A table under way.
#[derive(Debug)]
pub(crate) struct Table {
    /// Bars in Unicode, headings in bold: on a terminal only.
    rich: bool,
    /// The classes that the last heading named.
    heading: Option<Vec<String>>,
}

impl Table {
    /// A new table; plain characters unless a terminal shows it and `NO_COLOR` is not set.
    pub(crate) fn new(terminal: bool) -> Self {
        let plain = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Table {
            rich: terminal && !plain("NO_COLOR") && !dumb,
            heading: None,
        }
    }

    /// The lines for one answer, after a heading where the classes are new.
    pub(crate) fn rows(&mut self, answer: &Answer) -> String {
        let mut out = String::new();
        let classes = &answer.classes;
        let p = answer.distribution.probabilities();
        let names: Vec<String> = if p.len() <= MOST_COLUMNS {
            (0..p.len()).map(|i| classes.name(i).into_owned()).collect()
        } else {
            Vec::new()
        };
        if self.heading.as_ref() != Some(&names) {
            self.write_heading(&names, &mut out);
            self.heading = Some(names);
        }
        let top = answer.prediction.index();
        let name = fitted(&answer.entity, ENTITY, self.rich);
        let prediction = fitted(&classes.name(top), PREDICTION, self.rich);
        let k_eff = answer.k_eff.map_or("-".to_string(), |k| format!("{k:.2}"));
        let _ = write!(out, "{name}  {prediction}  {k_eff:>9}");
        if p.len() <= MOST_COLUMNS {
            for &x in p {
                let _ = write!(out, "  {} {}", percent(x), bar(x, BAR, self.rich));
            }
        } else {
            let _ = write!(
                out,
                "  {} {} ",
                percent(p[top]),
                bar(p[top], BAR, self.rich)
            );
            let mut order: Vec<usize> = (0..p.len()).collect();
            // Stable: equal probabilities stay in class order.
            order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
            for &i in order.iter().take(MOST_NAMED) {
                let _ = write!(
                    out,
                    " {} {}",
                    escaped(&classes.name(i)),
                    percent(p[i]).trim_start()
                );
            }
        }
        trim_end(&mut out);
        if let Some(set) = &answer.set {
            let names: Vec<String> = set
                .iter()
                .map(|class| escaped(&class.to_string()))
                .collect();
            let _ = writeln!(out, "  set: {{{}}}", names.join(", "));
        }
        self.write_items(answer, &mut out);
        out
    }

    fn write_heading(&self, names: &[String], out: &mut String) {
        if self.heading.is_some() {
            out.push('\n');
        }
        let (bold, normal) = if self.rich {
            ("\x1b[1m", "\x1b[0m")
        } else {
            ("", "")
        };
        out.push_str(bold);
        let start = out.len();
        let entity = fitted("entity", ENTITY, self.rich);
        let prediction = fitted("prediction", PREDICTION, self.rich);
        let _ = write!(out, "{entity}  {prediction}  {:>9}", "k_eff");
        for name in names {
            let _ = write!(out, "  {}", fitted(name, PERCENT + 1 + BAR, self.rich));
        }
        if names.is_empty() {
            out.push_str("  most probable");
        }
        let kept = out[start..].trim_end().len();
        out.truncate(start + kept);
        out.push_str(normal);
        out.push('\n');
    }

    fn write_items(&self, answer: &Answer, out: &mut String) {
        for (i, item) in answer.items.iter().flatten().enumerate() {
            let id = item.id.clone().unwrap_or_else(|| format!("[{i}]"));
            let id = fitted(&id, ENTITY - 2, self.rich);
            let _ = write!(out, "  {id}  weight {:<9}  influence ", short(item.weight));
            match item.influence {
                // L1 is at most 2.
                Some(l1) => {
                    let _ = write!(out, "{l1:.4} {}", bar(l1 / 2.0, BAR, self.rich));
                }
                None => {
                    let _ = write!(out, "{:6} {:BAR$}", "-", "");
                }
            }
            out.push_str("  factor");
            let shown = item.factor.probabilities();
            for p in shown.iter().take(MOST_COLUMNS) {
                let _ = write!(out, " {p:.4}");
            }
            if shown.len() > MOST_COLUMNS {
                out.push_str(" ...");
            }
            trim_end(out);
        }
    }
}

fn percent(x: f64) -> String {
    format!("{:>5.1}%", 100.0 * x)
}

/// A weight in at most nine characters, whatever its size.
fn short(weight: f64) -> String {
    if weight == 0.0 || (1e-3..1e4).contains(&weight) {
        format!("{weight:.4}")
    } else {
        format!("{weight:.2e}")
    }
}

/// Ends a line without trailing spaces.
fn trim_end(out: &mut String) {
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
    out.push('\n');
}
