//! What a monitor has seen, in words and as a page.

use std::fmt::Write;

use super::{escape_html, escape_terminal, page, svg, table_html, table_text};
use crate::audit::{Alarm, Direction, Monitor, Part, Watch};
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Table};
use crate::math::exp;

/// Parts whose evidence is plotted: all predictions, and those with the most evidence.
const PANELS: usize = 8;

/// The part in words.
fn part(part: &Part) -> String {
    match part {
        Part::All => "all predictions".to_string(),
        Part::Class(name) => format!("predictions of class {}", escape_terminal(name)),
        Part::Group(name) => format!("group {}", escape_terminal(name)),
    }
}

/// Evidence from its logarithm, in three digits at any size.
fn evidence(log: f64) -> String {
    if log.is_infinite() && log > 0.0 {
        return "infinite".to_string();
    }
    if (-7.0..=13.0).contains(&log) {
        let value = exp(log);
        return match value {
            v if v >= 100.0 => format!("{v:.0}"),
            v => format!("{v:.3}"),
        };
    }
    let tens = log / std::f64::consts::LN_10;
    format!("10^{tens:.1}")
}

/// One alarm as a line.
pub fn alarm_text(alarm: &Alarm, margin: f64) -> String {
    let (rows, right) = alarm.of_part;
    format!(
        "ALARM after {} rows: {} are {} by more than {margin}: mean confidence {:.4}, {right} of {rows} \
         right ({:.4}); evidence {}, alarm from {} on\n",
        alarm.row,
        part(&alarm.part),
        alarm.direction.words(),
        alarm.mean_confidence,
        right as f64 / rows as f64,
        evidence(alarm.log_evidence),
        evidence(alarm.log_threshold),
    )
}

fn table(monitor: &Monitor) -> Table {
    let margin = monitor.settings().margin;
    let title = format!("Evidence that the hit rate is off the confidence by more than {margin}");
    let mut table = Table::new("monitor", title);
    for watch in monitor.watches() {
        let mean = watch.confidence / watch.rows as f64;
        let rate = watch.right as f64 / watch.rows as f64;
        let number = |x: f64| {
            if watch.rows > 0 {
                Cell::number(x, 4)
            } else {
                Cell::Empty
            }
        };
        let shown = |direction| {
            let log = watch.evidence(direction).certain_log_capital();
            match watch.alarm(direction) {
                Some(row) => Cell::text(format!("{} (alarm at row {row})", evidence(log))),
                None => Cell::text(evidence(log)),
            }
        };
        table.row([
            ("predictions", Cell::text(part(&watch.part))),
            ("rows", Cell::count(watch.rows as usize)),
            ("confidence", number(mean)),
            ("right", number(rate)),
            ("over-confident", shown(Direction::OverConfident)),
            ("under-confident", shown(Direction::UnderConfident)),
            (
                "alarm from",
                Cell::text(evidence(monitor.log_threshold(&watch.part))),
            ),
        ]);
    }
    table
}

/// What the numbers mean.
fn meaning(monitor: &Monitor) -> String {
    let settings = monitor.settings();
    format!(
        "If every hit rate, given all that went before, is within {} of the stated confidence, any alarm \
         at all is raised with probability at most {}, however long predictions are watched and whenever \
         one stops.",
        settings.margin, settings.alpha
    )
}

fn headline(monitor: &Monitor) -> String {
    let rows = monitor.rows();
    match monitor.has_alarm() {
        true => format!("Alarm: {rows} rows were watched."),
        false => format!("No alarm after {rows} rows."),
    }
}

/// Everything that is watched, as text.
pub fn monitor_text(monitor: &Monitor) -> String {
    format!(
        "{}\n\n{}{}\n",
        headline(monitor),
        table_text(&table(monitor)),
        meaning(monitor)
    )
}

/// Everything that is watched, as a page with the evidence over time.
pub fn monitor_html(monitor: &Monitor) -> String {
    let mut out = format!(
        "<p class=\"loud\">{}</p>\n",
        escape_html(&headline(monitor))
    );
    let _ = writeln!(out, "<p>{}</p>", escape_html(&meaning(monitor)));
    let figure = figure(monitor);
    let _ = writeln!(
        out,
        "<figure>{}<figcaption>{}</figcaption></figure>",
        svg(&figure),
        escape_html(&figure.caption)
    );
    out.push_str(&table_html(&table(monitor)));
    page("Predictions, watched", &out)
}

fn figure(monitor: &Monitor) -> Figure {
    let strongest = |watch: &Watch| {
        let of = |direction| watch.evidence(direction).certain_log_capital();
        Direction::BOTH
            .map(of)
            .into_iter()
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let mut parts: Vec<&Watch> = monitor.watches().filter(|watch| watch.rows > 0).collect();
    // All predictions first, then by evidence; equals stay in order.
    parts.sort_by(|a, b| {
        let all = |watch: &Watch| watch.part != Part::All;
        all(a)
            .cmp(&all(b))
            .then(strongest(b).total_cmp(&strongest(a)))
    });
    let panels = parts.iter().take(PANELS).map(|watch| {
        let path = |direction| {
            let tens = |log: f64| log / std::f64::consts::LN_10;
            let points = watch.path(direction).filter(|(_, log)| log.is_finite());
            points.map(move |(row, log)| (row as f64, tens(log)))
        };
        let threshold = monitor.log_threshold(&watch.part) / std::f64::consts::LN_10;
        let ends = [0.0, monitor.rows() as f64].map(|row| (row, threshold));
        Panel::new(
            part(&watch.part),
            Axis::linear("rows"),
            Axis::linear("evidence, as a power of ten"),
            vec![
                Series::dashed("alarm", Role::Claimed, ends),
                Series::line("over-confident", Role::Ours, path(Direction::OverConfident)),
                Series::line(
                    "under-confident",
                    Role::OursToo,
                    path(Direction::UnderConfident),
                ),
            ],
        )
    });
    let panels: Vec<Panel> = panels.collect();
    Figure::new(
        "monitor",
        "Evidence that predictions are right less or more often than they say, beyond the margin, as rows \
         arrived; where a line reaches the dashed one, an alarm is raised.",
        panels,
    )
}
