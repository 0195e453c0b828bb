//! The parts that pages are made of; `page/style.css` gives them their look.

use std::fmt::{Display, Write};

use super::{escape_html, svg};
use crate::exhibit::{Figure, Panel};

/// What a colour says besides the word: nothing that the word does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Mixed,
    Bad,
    Open,
}

impl Tone {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Mixed => "mixed",
            Tone::Bad => "bad",
            Tone::Open => "open",
        }
    }
}

/// A word in its colour.
pub(super) fn badge(tone: Tone, words: impl Display) -> String {
    let words = escape_html(&words.to_string());
    format!("<span class=\"badge {}\">{words}</span>", tone.name())
}

/// Names with what there is to say of each; what is empty is left out.
#[derive(Debug, Default)]
pub(super) struct Facts(String);

impl Facts {
    /// A fact that is HTML already.
    pub(super) fn html(&mut self, name: &str, html: &str) {
        if !html.is_empty() {
            let _ = write!(self.0, "<dt>{}</dt><dd>{html}</dd>", escape_html(name));
        }
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.html(name, &escape_html(text));
    }

    pub(super) fn finish(self) -> String {
        match self.0.is_empty() {
            true => String::new(),
            false => format!("<dl class=\"facts\">{}</dl>\n", self.0),
        }
    }
}

/// A line that opens: a claim or a check. Its anchor is inside, so that a browser opens it for a
/// link even without script.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) id: &'a str,
    /// The verdict's colour and its words.
    pub(super) verdict: (Tone, &'a str),
    pub(super) name: &'a str,
    /// What the line says, as HTML.
    pub(super) what: &'a str,
    /// What can be filtered by: names and words.
    pub(super) data: &'a [(&'a str, &'a str)],
    pub(super) open: bool,
    /// Whether a print shows what is inside, even closed.
    pub(super) printed: bool,
    /// What is inside, as HTML.
    pub(super) body: &'a str,
}

impl Entry<'_> {
    pub(super) fn html(&self) -> String {
        let (tone, words) = self.verdict;
        let data: String = self
            .data
            .iter()
            .map(|(name, value)| format!(" data-{name}=\"{}\"", escape_html(value)))
            .collect();
        format!(
            "<details class=\"entry{printed}\"{data}{open}><summary>{badge}\
             <span class=\"name\">{name}</span><span class=\"what\">{what}</span></summary>\
             <div id=\"{id}\">{body}</div></details>\n",
            printed = if self.printed { " printed" } else { "" },
            open = if self.open { " open=\"\"" } else { "" },
            badge = badge(tone, words),
            name = escape_html(self.name),
            what = self.what,
            id = escape_html(self.id),
            body = self.body,
        )
    }
}

/// One choice of a [`filter`]: the attribute, its label, and values with their words.
pub(super) type Choice<'a> = (&'a str, &'a str, Vec<(String, String)>);

/// A form to filter entries with, hidden until the script shows it.
pub(super) fn filter(what: &str, choices: &[Choice<'_>]) -> String {
    let mut out = format!(
        "<form id=\"filter\" role=\"search\" hidden=\"\"><label>Search {what}\
         <input type=\"search\" name=\"text\" autocomplete=\"off\"/></label>"
    );
    for (name, label, values) in choices {
        let _ = write!(
            out,
            "<label>{label}<select name=\"{name}\"><option value=\"\">any</option>"
        );
        for (value, words) in values {
            let (value, words) = (escape_html(value), escape_html(words));
            let _ = write!(out, "<option value=\"{value}\">{words}</option>");
        }
        out.push_str("</select></label>");
    }
    out.push_str(
        "<button type=\"button\">Show all</button><output aria-live=\"polite\"></output></form>\n",
    );
    out
}

/// From so many panels on, each is drawn smaller.
const MANY: usize = 5;

/// A figure with its caption. Each panel is a picture of its own, so that as many stand side by side as
/// there is room for.
pub(super) fn figure(figure: &Figure, safe: fn(&str) -> String) -> String {
    let caption = safe(&figure.caption);
    let alone = |panel: &Panel| svg(&Figure::new(&figure.id, &*panel.title, vec![panel.clone()]));
    let images: String = match figure.panels.len() {
        0 | 1 => svg(figure),
        _ => figure.panels.iter().map(alone).collect(),
    };
    let many = if figure.panels.len() < MANY {
        ""
    } else {
        " many"
    };
    format!(
        "<figure><div class=\"panels{many}\">{images}</div><figcaption>{caption}</figcaption></figure>\n"
    )
}

/// Something that is closed until it is opened.
pub(super) fn more(summary: &str, body: &str) -> String {
    format!(
        "<details class=\"more\"><summary>{}</summary>{body}</details>\n",
        escape_html(summary)
    )
}
