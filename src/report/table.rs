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

/// The heading, then settings behind a `mark`, tables, the sentence and the statements.
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
    for (name, words) in statements(outcome) {
        let _ = writeln!(out, "\n{name}");
        for words in words {
            let _ = writeln!(out, "{mark}{}", e(words));
        }
    }
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
    let _ = writeln!(out, "<p>{}</p>", e(&outcome.sentence));
    for (name, words) in statements(outcome) {
        let items = words.iter().map(|words| format!("<li>{}</li>", e(words)));
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

/// The statements of the paper that our runs disagree and agree with, each list under its name and
/// left out where it is empty.
fn statements(outcome: &Outcome) -> Vec<(String, Vec<&str>)> {
    let lists = [("Not in agreement", false), ("In agreement", true)];
    let lists = lists.map(|(name, agree)| {
        let words: Vec<&str> = outcome.statements_that(agree).collect();
        (format!("{name}: {}", words.len()), words)
    });
    let some = lists.into_iter().filter(|(_, words)| !words.is_empty());
    some.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Statement;

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
    fn statements_are_listed_by_agreement_in_every_format() {
        let statement = |words: &str, agrees| Statement {
            words: words.into(),
            agrees,
        };
        let mut outcome = Outcome {
            id: "T1".into(),
            title: "A title".into(),
            settings: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            sentence: "1 of 3 agree.".into(),
            statements: vec![
                statement("a: 0.5 here", false),
                statement("b", true),
                statement("c <", false),
            ],
        };
        let want = "T1: A title\n\n1 of 3 agree.\n\nNot in agreement: 2\n  a: 0.5 here\n  c <\n\nIn \
                    agreement: 1\n  b\n";
        assert_eq!(outcome_text(&outcome), want);
        let markdown = outcome_markdown(&outcome);
        assert!(
            markdown.contains("Not in agreement: 2\n- a: 0.5 here\n- c &lt;\n"),
            "{markdown}"
        );
        let html = outcome_html(&outcome);
        assert!(
            html.contains("Not in agreement: 2") && html.contains("<li>c &lt;</li>"),
            "{html}"
        );
        outcome.statements.clear();
        assert_eq!(outcome_text(&outcome), "T1: A title\n\n1 of 3 agree.\n");
    }

    #[test]
    fn markup_in_cells_is_escaped() {
        assert!(table_markdown(&table()).contains("| a\\|&lt;b&gt; | 0.12 ± 0.50 |"));
        let html = table_html(&table());
        assert!(html.contains("data-label=\"name\">a|&lt;b&gt;</td><td class=\"n\" data-label=\"ECE\">0.12 ± 0.50</td>"));
    }
}
