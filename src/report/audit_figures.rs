//! The plots and the table of classes of an audit's page.

use super::audit::digits;
use super::escape_terminal;
use crate::audit::{AuditReport, InfluencePoint, ReliabilityPoint};
use crate::exhibit::{Axis, Cell, Figure, Panel, Role, Series, Table};

/// How many small plots there are of one kind.
const MULTIPLES: usize = 12;

/// The reliability diagram of some bins.
fn reliability(title: &str, points: &[ReliabilityPoint]) -> Panel {
    let at = |p: &ReliabilityPoint| (p.confidence, p.accuracy);
    let low = |p: &ReliabilityPoint| (p.confidence, p.accuracy_low);
    let high = |p: &ReliabilityPoint| (p.confidence, p.accuracy_high);
    let of = || points.iter();
    let diagonal = vec![(0.0, 0.0), (1.0, 1.0)];
    Panel::new(
        title,
        Axis::linear("mean confidence of a bin"),
        Axis::linear("share that was right"),
        vec![
            Series::dashed("perfect calibration", Role::Guide, diagonal),
            Series::band(
                "range of the true share",
                Role::Proven,
                of().map(low),
                of().map(high),
            ),
            Series::line("this log", Role::Ours, of().map(at)),
        ],
    )
}

/// How many rows are in each bin.
fn counts(title: &str, points: &[ReliabilityPoint]) -> Panel {
    // All bins, so that the axis is that of the plot beside it.
    let bins = points
        .first()
        .map_or(0.0, |p| libm::round(1.0 / (p.upper - p.lower)));
    let count_at = |x: f64| {
        let inside = |p: &&ReliabilityPoint| p.lower < x && x < p.upper;
        points.iter().find(inside).map_or(0.0, |p| p.count as f64)
    };
    let bars = (0..bins as usize).map(|i| {
        let middle = (i as f64 + 0.5) / bins;
        (middle, count_at(middle))
    });
    Panel::new(
        title,
        Axis::linear("confidence"),
        Axis::linear("rows in a bin"),
        vec![Series::bars("rows", Role::OursToo, bars)],
    )
}

/// Small reliability diagrams of several things, and of how many rows each bin has.
pub(super) fn multiples<'a>(
    id: &str,
    caption: &str,
    of: impl Iterator<Item = (String, &'a [ReliabilityPoint])>,
) -> Option<Figure> {
    let mut panels = Vec::new();
    let mut left = 0;
    for (name, points) in of.filter(|(_, points)| !points.is_empty()) {
        if panels.len() == MULTIPLES {
            left += 1;
            continue;
        }
        let rows: u64 = points.iter().map(|p| p.count).sum();
        let title = format!("{}: {rows} rows", shortened(&escape_terminal(&name)));
        panels.push(reliability(&title, points));
    }
    let more = match left {
        0 => String::new(),
        left => format!(" {left} more are in the JSON report."),
    };
    let caption = format!(
        "{caption}: confidence against the share that was right, with the range that the true share \
         has.{more}"
    );
    (!panels.is_empty()).then(|| Figure::new(id, caption, panels))
}

fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    match name.chars().count() > MOST {
        true => name.chars().take(MOST - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// Curves of each class, and its reliability.
pub(super) fn class_figures(audit: &AuditReport) -> Vec<Figure> {
    let classes = &audit.curves.classes;
    let shown = match classes.len() {
        2 => &classes[1..],
        n => &classes[..n.min(MULTIPLES)],
    };
    let rows: u64 = classes.iter().map(|class| class.rows).sum();
    let (mut roc, mut precision) = (Vec::new(), Vec::new());
    let shares = || Axis::linear("precision").marked(&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    for class in shown {
        let name = shortened(&escape_terminal(&class.class));
        let area =
            |area: Option<f64>| area.map_or(String::new(), |a| format!(", area {}", digits(a)));
        let start = [(0.0, 0.0)].into_iter();
        roc.push(Panel::new(
            format!("ROC of {name}{}", area(class.auroc)),
            Axis::linear("false positive rate"),
            Axis::linear("true positive rate"),
            vec![
                Series::dashed("by chance", Role::Guide, [(0.0, 0.0), (1.0, 1.0)]),
                Series::area(
                    "this log",
                    Role::Ours,
                    start.chain(class.roc.iter().copied()),
                ),
            ],
        ));
        // The curve begins where nothing is found, with the precision among the surest rows.
        let first = class.precision_recall.first();
        let first = first.map(|(_, precision)| (0.0, *precision));
        let share = class.rows as f64 / rows.max(1) as f64;
        precision.push(Panel::new(
            format!("Precision of {name}{}", area(class.average_precision)),
            Axis::linear("recall"),
            shares(),
            vec![
                Series::dashed("by chance", Role::Guide, [(0.0, share), (1.0, share)]),
                Series::area(
                    "this log",
                    Role::OursToo,
                    first
                        .into_iter()
                        .chain(class.precision_recall.iter().copied()),
                ),
            ],
        ));
    }
    const ROC: &str = "How well each class is told from the others: true against false positives, as the \
                       probability from which on the class is named falls.";
    const PRECISION: &str = "Precision against recall, as the probability from which on the class is named \
                             falls.";
    let mut out = match (roc.len(), precision) {
        // Of two classes there is one curve of each kind, side by side.
        (1, more) => {
            roc.extend(more);
            vec![Figure::new("curves", format!("{ROC} {PRECISION}"), roc)]
        }
        (_, precision) => vec![
            Figure::new("roc", ROC, roc),
            Figure::new("precision", PRECISION, precision),
        ],
    };
    let of = classes
        .iter()
        .map(|class| (class.class.clone(), &class.reliability[..]));
    out.extend(multiples(
        "class-reliability",
        "Reliability of each class",
        of,
    ));
    out
}

/// Rows by true and by predicted class, with precision, recall and F1 of each class.
pub(super) fn confusion_table(audit: &AuditReport) -> Option<Table> {
    let curves = &audit.curves;
    if curves.confusion.len() > MULTIPLES || curves.confusion.is_empty() {
        return None;
    }
    let names: Vec<String> = curves
        .classes
        .iter()
        .map(|c| escape_terminal(&c.class))
        .collect();
    let predicted: Vec<String> = names.iter().map(|name| format!("said {name}")).collect();
    let title = "Rows by true class (lines) and predicted class (columns)".to_owned();
    let mut table = Table::new("confusion", title);
    for (i, class) in curves.classes.iter().enumerate() {
        let mut row = vec![("true class".to_owned(), Cell::text(names[i].clone()))];
        let counts = curves.confusion.get(i).into_iter().flatten();
        for (name, count) in predicted.iter().zip(counts) {
            row.push((name.clone(), Cell::count(*count as usize)));
        }
        for (name, share) in [
            ("precision", class.precision),
            ("recall", class.recall),
            ("F1", class.f1),
        ] {
            row.push((name.to_owned(), Cell::text(digits(share))));
        }
        table.row(row.iter().map(|(name, cell)| (name.as_str(), cell.clone())));
    }
    Some(table)
}

/// The plots of the log as a whole.
pub(super) fn figures(audit: &AuditReport) -> Vec<Figure> {
    let curves = &audit.curves;
    let mut panels = Vec::new();
    if !curves.reliability.is_empty() {
        panels.push(reliability("Reliability", &curves.reliability));
        panels.push(counts("Rows by confidence", &curves.reliability));
    }
    if !curves.risk_coverage.is_empty() {
        let points = curves.risk_coverage.iter();
        let points = points.map(|p| (p.coverage, p.risk));
        panels.push(Panel::new(
            "Risk and coverage",
            Axis::linear("share kept, the most confident first"),
            Axis::linear("error rate among them"),
            vec![Series::line("this log", Role::Ours, points)],
        ));
    }
    if !curves.influence.is_empty() {
        let of = |y: fn(&InfluencePoint) -> f64| {
            curves.influence.iter().map(move |p| (p.items as f64, y(p)))
        };
        panels.push(Panel::new(
            "Influence of single items",
            Axis::linear("items left out, the worst for each entity"),
            Axis::linear("share of entities; L1 distance"),
            vec![
                Series::line("prediction changes", Role::Ours, of(|p| p.changed)),
                Series::line("mean bound on L1", Role::OursToo, of(|p| p.mean_shift)),
            ],
        ));
    }
    if panels.is_empty() {
        return Vec::new();
    }
    vec![Figure::new(
        "audit",
        "How often predictions of each confidence are right, how many there are, the error rate \
         among the most confident ones, and what leaving out items can do, as far as the log tells.",
        panels,
    )]
}
