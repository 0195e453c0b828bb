//! Claims for a terminal, and as Markdown.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::steps::{Step, reported, steps};
use super::{command, grouped, in_place_of, pieces, position, reason, theorems, tone};
use super::{refuted_premises, replacements, words};
use crate::ledger::claims::{Judged, counts};
use crate::ledger::{Evidence, Theory, Verdict, VerdictKind};
use crate::report::component::Tone;
use crate::report::table::width;
use crate::report::{escape_markdown, escape_terminal};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Its columns; lines are wrapped where they are known.
    pub columns: Option<usize>,
    /// Whether it shows colours.
    pub colour: bool,
}

impl Look {
    /// Text in the colour of a verdict.
    fn toned(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Mixed => "33",
            Tone::Bad => "31",
            Tone::Open => "2",
        };
        self.with(code, text)
    }

    fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self.colour {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }

    /// Words behind a `head` that takes `indent` columns; further lines begin under the words.
    fn hanging(self, out: &mut String, head: &str, indent: usize, text: &str) {
        // A terminal too narrow for that is left to wrap as it likes.
        let room = self.columns.map(|columns| columns.saturating_sub(indent));
        let room = room.filter(|room| *room >= 20).unwrap_or(usize::MAX);
        let text = escape_terminal(text);
        let (mut line, mut first) = (String::new(), true);
        let mut flush = |line: &mut String| {
            let gap = if first { "" } else { &" ".repeat(indent) };
            let start = if first { head } else { "" };
            let _ = writeln!(out, "{}", format!("{start}{gap}{line}").trim_end());
            first = false;
            line.clear();
        };
        for word in text.split(' ') {
            if !line.is_empty() && width(&line) + 1 + width(word) > room {
                flush(&mut line);
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        flush(&mut line);
    }
}

/// Text filled up with spaces.
fn padded(text: &str, columns: usize) -> String {
    let gap = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(gap))
}

/// Claims by theorem, each with its verdict and what it says.
pub fn claims_text(chosen: &[&Judged], look: Look) -> String {
    let longest = |of: fn(&Judged) -> usize| chosen.iter().map(|e| of(e)).max().unwrap_or(0);
    let ids = longest(|entry| width(&entry.claim.id));
    let verdicts = longest(|entry| width(&words(entry.kind())));
    let mut out = String::new();
    for (group, claims) in grouped(chosen) {
        let _ = writeln!(out, "{}", look.bold(group.title));
        for entry in claims {
            let head = format!(
                "  {}  {}  ",
                padded(&entry.claim.id, ids),
                look.toned(tone(entry.kind()), &padded(&words(entry.kind()), verdicts))
            );
            look.hanging(&mut out, &head, ids + verdicts + 6, &entry.claim.statement);
        }
        out.push('\n');
    }
    let owned: Vec<Judged> = chosen.iter().map(|&entry| entry.clone()).collect();
    let parts: Vec<String> = counts(&owned)
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let all = match chosen.len() {
        0 => "No claim fits.".to_owned(),
        1 => format!("1 claim: {}.", parts.join(", ")),
        n => format!("{n} claims: {}.", parts.join(", ")),
    };
    look.hanging(&mut out, "", 0, &all);
    out
}

/// The seven theorems: verdict, why, and what holds instead.
pub fn theorems_text(judged: &[Judged], look: Look) -> String {
    let mut out = String::new();
    for entry in theorems(judged) {
        let head = format!(
            "{}  {}  ",
            look.bold(&entry.claim.id),
            look.toned(tone(entry.kind()), &padded(&words(entry.kind()), 18))
        );
        look.hanging(&mut out, &head, 24, &entry.claim.statement);
        if let Some(why) = reason(entry) {
            look.hanging(&mut out, &" ".repeat(24), 24, why);
        }
        let instead: Vec<String> = in_place_of(entry, judged)
            .map(|other| format!("{} ({})", other.claim.id, words(other.kind())))
            .collect();
        if !instead.is_empty() {
            let lead = match entry.kind() {
                VerdictKind::Proved => "Also holds",
                _ => "Holds instead",
            };
            let line = format!("{lead}: {}", instead.join(", "));
            look.hanging(&mut out, &" ".repeat(24), 24, &line);
        }
    }
    out
}

/// One claim in full, for a terminal.
pub fn claim_text(entry: &Judged, evidence: &[Evidence], look: Look) -> String {
    let (claim, finding) = (entry.claim, &entry.finding);
    let verdict = look.toned(tone(entry.kind()), &words(entry.kind()));
    let mut out = format!("{}  {verdict}\n{}\n\n", look.bold(&claim.id), claim.place);
    let mut item = |name: &str, text: &str| {
        if !text.is_empty() {
            look.hanging(&mut out, &format!("{name:12} "), 13, text);
        }
    };
    item("claimed", &claim.statement);
    item("provided", &claim.hypotheses);
    item("why", reason(entry).unwrap_or_default());
    match &finding.verdict {
        Verdict::DependsOnReading { readings } => {
            for (i, reading) in readings.iter().enumerate() {
                item(
                    if i == 0 { "taken" } else { "otherwise" },
                    &reading.to_string(),
                );
            }
        }
        other => item("found", &other.to_string()),
    }
    item("premises", &refuted_premises(entry));
    item("defence", &claim.defence);
    item("what to do", &claim.advice);
    item("instead", &replacements(entry).join(", "));
    let steps = steps(&finding.evidence);
    if !steps.is_empty() {
        let _ = writeln!(out, "\n{}", look.bold("step by step"));
        witness(&mut out, &steps, look);
    }
    let theory = Theory::committed();
    let mut caveats = BTreeSet::new();
    for theorem in theory.about(&claim.id) {
        let (name, says, words) = (&theorem.name, theorem.says.name(), &theorem.words);
        out.push('\n');
        look.hanging(&mut out, "", 2, &format!("{name} {says}: {words}"));
        caveats.extend(&theorem.caveats);
    }
    for name in caveats {
        let meaning = theory.caveats.get(name).map_or("", String::as_str);
        look.hanging(&mut out, "", 2, &format!("caveat {name}: {meaning}"));
    }
    for line in reported(&finding.evidence) {
        look.hanging(&mut out, "", 2, line);
    }
    let places: Vec<&Evidence> = pieces(evidence, &claim.id).collect();
    if !places.is_empty() {
        let _ = writeln!(out, "\n{}", look.bold("in this repository"));
        let longest = places.iter().map(|p| width(&position(p))).max();
        for piece in places {
            let place = padded(&position(piece), longest.unwrap_or(0));
            let (kind, name) = (piece.kind.name(), &piece.name);
            let _ = writeln!(out, "  {place}  {kind} {name}; `{}`", command(piece));
        }
    }
    out
}

/// Steps, numbered, with the numbers under each other.
fn witness(out: &mut String, steps: &[Step<'_>], look: Look) {
    let pairs = steps.iter().filter_map(|step| match step {
        Step::Pair(left, _, _) => Some(width(left)),
        Step::Printed { cell, .. } => Some(width(cell)),
        _ => None,
    });
    // Beyond this width a name is a formula, which has no neighbours to be aligned with.
    let column = pairs.filter(|width| *width <= 40).max().unwrap_or(0);
    for (i, step) in steps.iter().enumerate() {
        let head = format!("  {:2}. ", i + 1);
        let line = match step {
            Step::Meets(what) => format!("holds: {what}"),
            Step::Reading(true, what) => format!("taken: {what}"),
            Step::Reading(false, what) => format!("otherwise: {what}"),
            // Both end at the same column.
            Step::Pair(left, ':', right) => {
                format!("{} {right}", padded(&format!("{left}:"), column + 2))
            }
            Step::Pair(left, sign, right) => format!("{} {sign} {right}", padded(left, column)),
            Step::Printed {
                cell,
                printed,
                formula,
                value,
                agrees,
            } => {
                let sign = if *agrees { "agrees" } else { "DIFFERS" };
                let cell = padded(cell, column);
                format!("{cell}  printed {printed}; {formula} = {value}; {sign}")
            }
            Step::Words(words) => (*words).to_owned(),
        };
        look.hanging(out, &head, 6, &line);
    }
}

/// One claim in full, as Markdown.
pub fn claim_markdown(entry: &Judged) -> String {
    let (claim, finding) = (entry.claim, &entry.finding);
    let mut out = format!(
        "### {}: {}\n\n{}\n\n",
        claim.id,
        words(entry.kind()),
        escape_markdown(&claim.statement)
    );
    let mut item = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "- **{name}**: {}", escape_markdown(text));
        }
    };
    item("where", &claim.place);
    item("provided", &claim.hypotheses);
    item("why", reason(entry).unwrap_or_default());
    item("found", &finding.verdict.to_string());
    item("premises", &refuted_premises(entry));
    item("defence", &claim.defence);
    item("what to do", &claim.advice);
    item("instead", &replacements(entry).join(", "));
    if !finding.evidence.is_empty() {
        out.push('\n');
        for (i, line) in finding.evidence.iter().enumerate() {
            let _ = writeln!(out, "{}. {}", i + 1, escape_markdown(line));
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::claims::judged_without_records;

    /// On a terminal every line fits it, colours or not, and nothing is lost.
    #[test]
    fn lines_fit_the_terminal() {
        let judged = judged_without_records();
        let chosen: Vec<&Judged> = judged.iter().collect();
        let plain = claims_text(&chosen, Look::default());
        let coloured = |columns| Look {
            columns: Some(columns),
            colour: true,
        };
        for columns in [70, 100, 160] {
            let text = claims_text(&chosen, coloured(columns))
                + &theorems_text(&judged, coloured(columns));
            for line in text.lines() {
                let bare = [
                    "\u{1b}[1m",
                    "\u{1b}[0m",
                    "\u{1b}[2m",
                    "\u{1b}[31m",
                    "\u{1b}[32m",
                    "\u{1b}[33m",
                ]
                .iter()
                .fold(line.to_owned(), |line, code| line.replace(code, ""));
                assert!(width(&bare) <= columns, "{columns}: {bare}");
            }
        }
        let all = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let wrapped = claims_text(
            &chosen,
            Look {
                columns: Some(70),
                colour: false,
            },
        );
        assert_eq!(all(&plain), all(&wrapped));
        assert!(plain.lines().count() < wrapped.lines().count());
    }

    #[test]
    fn a_claim_is_shown_with_its_numbers_aligned() {
        let judged = judged_without_records();
        let entry = judged.iter().find(|e| e.claim.id == "T2.within").unwrap();
        let text = claim_text(entry, &[], Look::default());
        let at = |row: &str, number: &str| {
            let line = text.lines().find(|line| line.contains(row)).unwrap();
            line.find(number)
        };
        assert_eq!(at("M = 4:", "0.080"), at("M = 64:", "0.025"), "{text}");
        // The sign of equality stays.
        let entry = judged.iter().find(|e| e.claim.id == "A6").unwrap();
        let text = claim_text(entry, &[], Look::default());
        assert!(text.contains("1/(2·3) = 0.1667"), "{text}");
    }
}
