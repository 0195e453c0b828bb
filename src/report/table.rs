//! Tables and experiment outcomes as text, Markdown and HTML.

use std::fmt::Write;

use super::component::{self, Facts};
use super::{escape_html, escape_markdown, escape_terminal};
use crate::exhibit::{Cell, Table};
use crate::experiments::Outcome;

/// How many columns of a terminal `text` takes: one for each character that is not a combining
/// mark or of zero width. Enough for the letters, digits and symbols that tables hold.
pub(super) fn width(text: &str) -> usize {
    text.chars()
        .filter(|c| !matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe0f}'))
        .count()
}

/// Numbers stand at the right, words at the left.
fn is_numeric(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.get(column));
    cells.all(|cell| !matches!(cell, Cell::Text(_)))
}

/// The table with aligned columns, a heading and a rule, for a terminal or a text file.
pub fn table_text(table: &Table) -> String {
    let heads: Vec<String> = table.columns.iter().map(|c| escape_terminal(c)).collect();
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|c| escape_terminal(&c.shown())).collect())
        .collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(i, head)| {
            let cells = rows.iter().filter_map(|row| row.get(i));
            cells.map(|c| width(c)).fold(width(head), usize::max)
        })
        .collect();
    let mut out = format!("{}\n", escape_terminal(&table.title));
    let mut line = |cells: &[String]| {
        let mut text = String::from(" ");
        for (i, (cell, &w)) in cells.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(w - width(cell));
            if is_numeric(table, i) {
                let _ = write!(text, " {gap}{cell} ");
            } else {
                let _ = write!(text, " {cell}{gap} ");
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&heads);
    line(&widths.iter().map(|&w| "─".repeat(w)).collect::<Vec<_>>());
    for row in &rows {
        line(row);
    }
    out
}

/// The table as GitHub-flavoured Markdown.
pub fn table_markdown(table: &Table) -> String {
    let mut out = format!("**{}**\n\n", escape_markdown(&table.title));
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    };
    line(&mut table.columns.iter().map(|c| escape_markdown(c)));
    line(&mut (0..table.columns.len()).map(|i| {
        let rule = if is_numeric(table, i) { "---:" } else { "---" };
        rule.to_owned()
    }));
    for row in &table.rows {
        line(&mut row.iter().map(|c| escape_markdown(&c.shown())));
    }
    out
}

/// The table as an HTML `<table>` with a caption.
///
/// Its anchor is `table-ID`: a claim may have the table's id.
pub fn table_html(table: &Table) -> String {
    table_with(table, |cell| escape_html(&cell.shown()))
}

/// The same with another way to show a cell as HTML.
pub(super) fn table_with(table: &Table, shown: impl Fn(&Cell) -> String) -> String {
    let e = escape_html;
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"stack\" id=\"table-{}\"><caption>{}</caption><thead><tr>",
        e(&table.id),
        e(&table.title)
    );
    let numeric = |i| is_numeric(table, i);
    let class = |i| if numeric(i) { " class=\"n\"" } else { "" };
    for (i, column) in table.columns.iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(i), e(column));
    }
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            // The heading again, for a screen that is too narrow for columns.
            let label = table.columns.get(i).map_or("", String::as_str);
            let (class, label, shown) = (class(i), e(label), shown(cell));
            let _ = write!(out, "<td{class} data-label=\"{label}\">{shown}</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// An experiment's settings, tables and sentence, for a terminal.
pub fn outcome_text(outcome: &Outcome) -> String {
    let heading = format!("{}: {}\n", outcome.id, outcome.title);
    with_parts(heading, "  ", outcome, escape_terminal, table_text)
}

/// An experiment as Markdown.
pub fn outcome_markdown(outcome: &Outcome) -> String {
    let e = escape_markdown;
    let heading = format!("## {}: {}\n\n", e(&outcome.id), e(&outcome.title));
    with_parts(heading, "- ", outcome, e, table_markdown)
}

/// The heading, then settings behind a `mark`, tables and the sentence.
fn with_parts(
    mut out: String,
    mark: &str,
    outcome: &Outcome,
    e: fn(&str) -> String,
    shown: fn(&Table) -> String,
) -> String {
    for (name, value) in &outcome.settings {
        let _ = writeln!(out, "{mark}{}: {}", e(name), e(value));
    }
    for table in &outcome.tables {
        let _ = write!(out, "\n{}", shown(table));
    }
    let _ = writeln!(out, "\n{}", e(&outcome.sentence));
    out
}

/// An experiment as an HTML section: the first table, which is the one that compares, the sentence
/// under it, and the figures; settings and further tables are closed until they are opened.
pub fn outcome_html(outcome: &Outcome) -> String {
    let e = escape_html;
    let mut out = format!(
        "<section id=\"experiment-{0}\"><h3>{0}: {1}</h3>\n",
        e(&outcome.id),
        e(&outcome.title),
    );
    let (first, others) = outcome.tables.split_at(outcome.tables.len().min(1));
    out.extend(first.iter().map(table_html));
    let (sentence, lists) = folded(&outcome.sentence);
    let _ = writeln!(out, "<p>{}</p>", e(&sentence));
    for (name, items) in lists {
        let items = items.iter().map(|item| format!("<li>{}</li>", e(item)));
        let items = format!("<ul>{}</ul>", items.collect::<String>());
        out.push_str(&component::more(&name, &items));
    }
    out.extend(outcome.figures.iter().map(|f| component::figure(f, e)));
    let mut settings = Facts::default();
    for (name, value) in &outcome.settings {
        settings.text(name, value);
    }
    let inside = settings.finish() + &others.iter().map(table_html).collect::<String>();
    if !inside.is_empty() {
        out.push_str(&component::more("Settings and all tables", &inside));
    }
    out.push_str("</section>\n");
    out
}

/// A sentence without the lists in its parentheses, and each list under the words that lead to it:
/// what is read at a glance, and what is read when it is wanted.
fn folded(sentence: &str) -> (String, Vec<(String, Vec<String>)>) {
    let (mut short, mut lists) = (String::new(), Vec::new());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once(" (") {
        let mut depth = 1;
        let end = after.char_indices().find(|(_, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((end, _)) = end else { break };
        let (inside, behind) = (&after[..end], &after[end + 1..]);
        short.push_str(before);
        if inside.contains("; ") {
            let lead = before.rsplit([';', ',']).next().unwrap_or(before).trim();
            let items = inside.split("; ").map(str::to_owned).collect();
            lists.push((lead.to_owned(), items));
        } else {
            let _ = write!(short, " ({inside})");
        }
        rest = behind;
    }
    short.push_str(rest);
    (short, lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            id: "t".into(),
            title: "A title".into(),
            columns: vec!["name".into(), "ECE".into()],
            rows: vec![
                vec![Cell::text("a|<b>"), Cell::spread(0.125, 0.5, 2)],
                vec![Cell::text("longer"), Cell::Empty],
                vec![Cell::text("c"), Cell::number(10.0, 3)],
            ],
        }
    }

    #[test]
    fn text_is_aligned() {
        let want = "A title\n  name            ECE\n  ──────  ───────────\n  a|<b>   0.12 ± 0.50\n  \
                    longer            —\n  c            10.000\n";
        assert_eq!(table_text(&table()), want);
    }

    #[test]
    fn a_long_sentence_is_folded() {
        let (short, lists) = folded(
            "Of 4 statements, in agreement with our run: 3 (a (0.5); b; c); not in agreement: 1 (d: 0.1 \
             here). T5′ holds.",
        );
        let want = "Of 4 statements, in agreement with our run: 3; not in agreement: 1 (d: 0.1 here). \
                    T5′ holds.";
        assert_eq!(short, want);
        let [(lead, items)] = &lists[..] else {
            panic!("{lists:?}")
        };
        assert_eq!(lead, "in agreement with our run: 3");
        assert_eq!(items[..], ["a (0.5)", "b", "c"]);
        assert_eq!(folded("no (end").0, "no (end");
    }

    #[test]
    fn markup_in_cells_is_escaped() {
        assert!(table_markdown(&table()).contains("| a\\|&lt;b&gt; | 0.12 ± 0.50 |"));
        let html = table_html(&table());
        assert!(html.contains("data-label=\"name\">a|&lt;b&gt;</td><td class=\"n\" data-label=\"ECE\">0.12 ± 0.50</td>"));
    }
}
