//! An audit as text, for a terminal or a file.

use std::borrow::Cow;
use std::fmt::Write;

use super::audit::{
    SLICE_COLUMNS, SLICES_NEXT, digits, entities, finding, limit, ordered, outcome, place, promise,
    provenance, slice_verdict, slices_by, slices_promise, step, summary, unusable, value, verdict,
};
use super::audit_reading::{read_as, what_was_read};
use super::{escape_terminal, with_options};
use crate::audit::{AuditReport, Check, CheckVerdict, Input, SliceReport, SourceEffect};

/// How many of the worst rows are shown; the JSON report has all that are kept.
const SHOWN_OFFENDERS: usize = 5;
/// How many slices of a field are shown, unless all are asked for.
const SHOWN_SLICES: usize = 10;
/// Lines below a check stand under its title.
const INDENT: usize = 15;

/// How the text of a report looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Whether checks without a limit and checks that were not run are shown in full, and all slices.
    pub all: bool,
    /// Whether verdicts have a colour.
    pub colour: bool,
    /// Lines are broken at this width; not at all without.
    pub width: Option<usize>,
}

pub(super) fn audit_text(audit: &AuditReport, style: TextStyle) -> String {
    let mut out = Text {
        out: String::new(),
        style,
        step: None,
    };
    out.inputs("Audit of", &audit.inputs);
    if !audit.baseline.is_empty() {
        out.inputs("Compared with", &audit.baseline);
    }
    for words in what_was_read(audit) {
        out.line(0, &escape_terminal(&words));
    }
    for (words, sha256) in provenance(audit) {
        out.line(0, &words);
        out.line(2, &format!("sha256 {}", escape_terminal(sha256)));
    }
    out.rejected(audit);
    if let Some(entities) = entities(audit) {
        out.line(0, "");
        out.line(0, &entities);
    }
    out.headline(audit);
    let (mut information, mut not_run) = (0, 0);
    for check in ordered(&audit.checks) {
        match check.verdict {
            _ if check.stops || style.all => out.block(check),
            CheckVerdict::Fail | CheckVerdict::Undecided { .. } => out.block(check),
            CheckVerdict::Pass => out.title(check),
            CheckVerdict::Information => information += 1,
            CheckVerdict::NotRun { .. } => not_run += 1,
        }
    }
    if information + not_run > 0 {
        let words = format!(
            "{information} checks for information and {not_run} that the log has no data for are not \
             shown; --all shows them."
        );
        out.line(0, &words);
    }
    out.sources(audit);
    out.slices(audit);
    out.line(0, "");
    out.line(0, &summary(audit));
    out.line(0, &promise(audit));
    out.out
}

struct Text {
    out: String,
    style: TextStyle,
    /// What was said last of what to do.
    step: Option<String>,
}

impl Text {
    /// A paragraph, each of its lines indented, broken where there is a width.
    fn line(&mut self, indent: usize, text: &str) {
        let space = " ".repeat(indent);
        let Some(width) = self.style.width else {
            let _ = writeln!(self.out, "{}", format!("{space}{text}").trim_end());
            return;
        };
        self.broken(&space, &space, text, width);
    }

    /// The words of a text in lines of a width; a longer word has a line of its own.
    fn broken(&mut self, first: &str, further: &str, text: &str, width: usize) {
        let (mut line, mut empty) = (first.to_owned(), true);
        for word in words(text) {
            let word = &*word;
            let longer = visible(&line) + usize::from(!empty) + visible(word) > width;
            if longer && !empty {
                let _ = writeln!(self.out, "{}", line.trim_end());
                line = further.to_owned();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        let _ = writeln!(self.out, "{}", line.trim_end());
    }

    fn coloured(&self, verdict: &CheckVerdict, words: &str) -> String {
        let code = match verdict {
            CheckVerdict::Pass => "32",
            CheckVerdict::Fail => "1;31",
            CheckVerdict::Undecided { .. } => "33",
            CheckVerdict::NotRun { .. } | CheckVerdict::Information => "2",
        };
        match self.style.colour {
            true => format!("\u{1b}[{code}m{words}\u{1b}[0m"),
            false => words.to_owned(),
        }
    }

    fn inputs(&mut self, title: &str, inputs: &[Input]) {
        for input in inputs {
            let (name, rows, usable) = (escape_terminal(&input.name), input.rows, input.usable);
            self.line(0, &format!("{title} {name}: {rows} rows, {usable} scored"));
            self.line(2, &format!("sha256 {}", escape_terminal(&input.sha256)));
            self.line(2, &escape_terminal(&read_as(input)));
        }
    }

    fn rejected(&mut self, audit: &AuditReport) {
        let rejected = &audit.rejected;
        if rejected.count == 0 {
            return;
        }
        self.line(0, "");
        self.line(0, &format!("{}:", unusable(rejected.count)));
        for reason in &rejected.reasons {
            let _ = writeln!(self.out, "  {:>9}  {}", reason.count, reason.reason);
        }
        for row in &rejected.first {
            let (file, field) = (escape_terminal(&row.file), escape_terminal(&row.field));
            let what = escape_terminal(&with_options(&row.message));
            self.line(2, &format!("{file}:{}: {field}: {what}", row.line));
        }
        let more = rejected.count - rejected.first.len() as u64;
        if more > 0 {
            self.line(2, &format!("and {more} more"));
        }
    }

    fn headline(&mut self, audit: &AuditReport) {
        let s = &audit.summary;
        let verdict = match s.undecided {
            _ if !s.passed => CheckVerdict::Fail,
            0 => CheckVerdict::Pass,
            _ => CheckVerdict::Undecided { needed_n: None },
        };
        let shown = self.coloured(&verdict, &outcome(audit));
        let _ = write!(self.out, "\n{shown}\n\n");
    }

    /// The line of a check.
    fn title(&mut self, check: &Check) {
        let word = format!("{:<14}", verdict(&check.verdict));
        let mut line = format!("{} {}", self.coloured(&check.verdict, &word), check.title);
        if check.value.is_some() {
            let _ = write!(line, ": {}", value(check));
        }
        if check.threshold.is_some() {
            let _ = write!(line, ", limit {}", limit(check.threshold));
        }
        let rests_on = match check.verdict {
            CheckVerdict::NotRun { .. } => String::new(),
            _ => format!(", n = {}", check.n),
        };
        let _ = write!(line, "  ({}{rests_on})", check.id);
        match self.style.width {
            None => {
                let _ = writeln!(self.out, "{line}");
            }
            Some(width) => self.broken("", &" ".repeat(INDENT), &line, width),
        }
    }

    fn block(&mut self, check: &Check) {
        self.title(check);
        self.line(INDENT, &escape_terminal(&finding(check)));
        if check.threshold.is_some() && check.interval.is_some() {
            let words = format!("The interval is for {}.", check.estimand);
            self.line(INDENT, &words);
        }
        if let Some(power) = &check.power {
            let words = format!(
                "A model that is over-confident by {} points fails with probability {:.2}.",
                digits(100.0 * power.effect),
                power.probability
            );
            self.line(INDENT, &words);
        }
        for row in check.worst.iter().take(SHOWN_OFFENDERS) {
            self.line(INDENT, &format!("{}: {}", place(row), digits(row.value)));
        }
        match &check.next {
            Some(next) if self.step.as_ref() == Some(next) => self.line(INDENT, "→ The same step."),
            Some(next) => {
                let (words, command) = step(next);
                self.line(INDENT, &format!("→ {words}"));
                if let Some(command) = command {
                    // Never broken, so that it can be copied.
                    let _ = writeln!(self.out, "{}{command}", " ".repeat(INDENT + 2));
                }
                self.step = Some(next.clone());
            }
            None => {}
        }
    }

    fn sources(&mut self, audit: &AuditReport) {
        if audit.sources.is_empty() {
            return;
        }
        self.line(0, "");
        self.line(0, "Sources of evidence, the one that hurts most first");
        for source in &audit.sources {
            let sign = match source.effect {
                SourceEffect::Hurts => (CheckVerdict::Fail, "✗"),
                SourceEffect::Helps => (CheckVerdict::Pass, "✓"),
                _ => (CheckVerdict::Undecided { needed_n: None }, "?"),
            };
            let sign = self.coloured(&sign.0, sign.1);
            self.line(0, &format!("{sign} {}", escape_terminal(&source.sentence)));
            let words = format!(
                "{} items, mean weight {}, {:.1} % of all weight; accuracy {}",
                source.items,
                digits(source.weight),
                100.0 * source.share,
                source.check("accuracy").map_or("—".to_owned(), value)
            );
            self.line(2, &words);
        }
        if let Some(worst) = audit.sources.first()
            && worst.effect == SourceEffect::Hurts
        {
            let id = escape_terminal(&worst.id);
            self.line(0, &format!("→ Leave out source {id}, and answer again."));
        }
    }

    fn slices(&mut self, audit: &AuditReport) {
        if audit.slices.is_empty() {
            return;
        }
        for (by, slices) in slices_by(audit) {
            let failed = slices.iter().filter(|slice| slice.fails()).count();
            self.line(0, "");
            let words = format!(
                "By {}: {} slices, {failed} fail; the worst first",
                escape_terminal(&by),
                slices.len()
            );
            self.line(0, &words);
            let shown = match self.style.all {
                true => slices.len(),
                false => SHOWN_SLICES,
            };
            for slice in slices.iter().take(shown) {
                self.slice(slice);
            }
            if slices.len() > shown {
                let more = slices.len() - shown;
                self.line(2, &format!("and {more} more; --all shows them."));
            }
        }
        self.line(0, &slices_promise(audit));
        if audit.summary.failed_slices > 0 {
            self.line(0, &format!("→ {SLICES_NEXT}"));
        }
    }

    fn slice(&mut self, slice: &SliceReport) {
        let found = slice_verdict(slice);
        let word = match slice.too_small {
            true => "– too small",
            false => verdict(&found),
        };
        let word = self.coloured(&found, &format!("{word:<14}"));
        let values = escape_terminal(&slice.values.join(", "));
        let mut line = format!("{word} {values}: n = {}", slice.n);
        for (id, name) in SLICE_COLUMNS {
            if let Some(check) = slice.check(id) {
                let _ = write!(line, ", {name} {}", value(check));
            }
        }
        match self.style.width {
            None => {
                let _ = writeln!(self.out, "{line}");
            }
            Some(width) => self.broken("", &" ".repeat(INDENT), &line, width),
        }
    }
}

/// The words of a text; an interval in brackets is one.
fn words(text: &str) -> Vec<Cow<'_, str>> {
    let mut out: Vec<Cow<'_, str>> = Vec::new();
    let mut open = false;
    for word in text.split(' ') {
        match out.last_mut() {
            Some(last) if open && word.contains(']') => {
                *last = Cow::Owned(format!("{last} {word}"));
            }
            _ => out.push(Cow::Borrowed(word)),
        }
        open = word.starts_with('[') && word.ends_with(',');
    }
    out
}

/// The number of characters, without those that set a colour.
fn visible(text: &str) -> usize {
    let mut count = 0;
    let mut escape = false;
    for c in text.chars() {
        match (escape, c) {
            (true, 'm') => escape = false,
            (false, '\u{1b}') => escape = true,
            (false, _) => count += 1,
            _ => {}
        }
    }
    count
}
