//! The tables of the assumptions.

use super::{AT, LEVEL, Measured};
use crate::assumptions::{Independence, Share, Support};
use crate::exhibit::{Cell, Table};
use crate::experiments::{ExperimentError, Lab};
struct Line {
    assumption: &'static str,
    what: &'static str,
    paper: Cell,
    here: Cell,
    interval: Option<(f64, f64)>,
    p: Option<f64>,
    n: usize,
    contradicted: bool,
}

impl Line {
    fn new(assumption: &'static str, what: &'static str, here: Cell, n: usize) -> Self {
        Line {
            assumption,
            what,
            paper: Cell::Empty,
            here,
            interval: None,
            p: None,
            n,
            contradicted: false,
        }
    }

    /// Entities that do something the assumption excludes.
    fn share(assumption: &'static str, what: &'static str, share: &Share) -> Self {
        let rate = share.count as f64 / share.of as f64;
        Line {
            interval: Some((share.low, share.high)),
            contradicted: share.count > 0,
            ..Line::new(assumption, what, Cell::number(rate, 4), share.of)
        }
    }

    fn cells(self) -> [(&'static str, Cell); 9] {
        let verdict = if self.contradicted { "fails" } else { "stands" };
        [
            ("assumption", Cell::text(self.assumption)),
            ("measured", Cell::text(self.what)),
            ("paper", self.paper),
            ("here", self.here),
            ("at least", number(self.interval.map(|i| i.0))),
            ("at most", number(self.interval.map(|i| i.1))),
            ("p", number(self.p)),
            ("n", Cell::count(self.n)),
            ("verdict", Cell::text(verdict)),
        ]
    }
}

fn number(x: Option<f64>) -> Cell {
    x.map_or(Cell::Empty, |x| Cell::number(x, 4))
}

/// Digits that show a probability far below the floor.
const SMALL: u8 = 8;

pub(super) fn summary_table(lab: &Lab, m: &Measured) -> Result<Table, ExperimentError> {
    let paper = |id: &str| lab.paper.cell(&format!("{AT}/{id}"));
    let (items, entities) = (m.variance.items, m.variance.entities);
    let dependence = |what, found: &Independence| Line {
        p: found.smallest_p(),
        contradicted: found.contradicted(),
        ..Line::new("A1", what, number(found.correlation), items)
    };
    let networks = Cell::count(m.marginalization.networks);
    let smallest = |s: &Support| Cell::number(s.smallest, SMALL);
    let lines = vec![
        Line {
            paper: paper("A1/correlation")?,
            ..dependence(
                "correlation of an entity's items, given the class",
                &m.independence,
            )
        },
        dependence("control: one item in ten repeats the first", &m.copies),
        Line {
            paper: paper("A2/mean")?,
            interval: m.variance.interval(),
            contradicted: m.variance.contradicted(),
            ..Line::new(
                "A2",
                "mean norm of the covariances",
                number(Some(m.variance.mean)),
                items,
            )
        },
        Line {
            paper: paper("A2/max")?,
            contradicted: m.variance.most > m.variance.limit,
            ..Line::new("A2", "largest norm", number(Some(m.variance.most)), items)
        },
        Line::share(
            "A2",
            "share of entities with a norm above the limit",
            &m.variance.above,
        ),
        Line {
            paper: paper("A3/epsilon")?,
            interval: Some((m.calibration.low, m.calibration.high)),
            contradicted: m.calibration.contradicted(),
            ..Line::new(
                "A3",
                "calibration error of single items",
                number(Some(m.calibration.ece)),
                items,
            )
        },
        Line {
            contradicted: m.marginalization.contradicted(),
            ..Line::new(
                "A4",
                "complete and decomposable networks",
                networks,
                entities,
            )
        },
        Line {
            paper: paper("A5/K_max")?,
            contradicted: m.count.contradicted(),
            ..Line::new(
                "A5",
                "most items of an entity",
                Cell::count(m.count.most),
                entities,
            )
        },
        Line::share("A5", "share of entities with more", &m.count.above),
        Line {
            contradicted: m.factors.contradicted(),
            ..Line::new(
                "A6",
                "smallest probability of a factor",
                smallest(&m.factors),
                items,
            )
        },
        Line::share(
            "A6",
            "share of entities with a factor below the floor",
            &m.factors.below,
        ),
        Line {
            paper: paper("A6/floor")?,
            contradicted: m.codes.contradicted(),
            ..Line::new(
                "A6",
                "smallest probability at random latent codes",
                smallest(&m.codes),
                m.codes.items,
            )
        },
    ];
    let mut table = Table::new(
        "assumptions.summary",
        format!(
            "The assumptions on {entities} fresh entities, each test and interval at level {LEVEL}"
        ),
    );
    lines.into_iter().for_each(|line| table.row(line.cells()));
    Ok(table)
}

pub(super) fn independence_table(m: &Measured) -> Table {
    let title = "A1: correlation of the items of one entity, and its permutation test";
    let mut table = Table::new("assumptions.A1", title);
    for (name, found) in [("as they are", &m.independence), ("control", &m.copies)] {
        for class in &found.classes {
            table.row([
                ("items", Cell::text(name)),
                ("class", Cell::count(class.class)),
                ("entities", Cell::count(class.entities)),
                ("pairs", Cell::number(class.pairs as f64, 0)),
                ("correlation", number(class.correlation)),
                ("p", number(class.p_value)),
                ("p, Holm", number(class.adjusted)),
            ]);
        }
        let ignored = number(found.unconditional);
        let mut row = vec![Cell::text(name), Cell::text("classes ignored")];
        row.extend([Cell::Empty, Cell::Empty, ignored, Cell::Empty, Cell::Empty]);
        table.rows.push(row);
    }
    table
}

pub(super) fn support_table(lab: &Lab, m: &Measured) -> Result<Table, ExperimentError> {
    let entropy = lab.paper.cell("sec:exp-thm4/H(Y|E)")?;
    let required = lab.paper.cell(&format!("{AT}/A6/required"))?;
    let title = "A6: what a floor of 1/(2|Y|) implies, against the data";
    let mut table = Table::new("assumptions.A6", title);
    let floor = "smallest probability, at least";
    let cap = "largest probability, at most";
    let bits = "mean entropy in bits, at least (paper: its own measurement)";
    let number = |x: f64| Cell::number(x, 4);
    for (name, s, [required, entropy]) in [
        ("factors", &m.factors, [required, entropy]),
        ("random latent codes", &m.codes, [Cell::Empty, Cell::Empty]),
    ] {
        let smallest = Cell::number(s.smallest, SMALL);
        for (what, paper, limit, here) in [
            (floor, required, s.floor, smallest),
            (cap, Cell::Empty, s.confidence_limit, number(s.largest)),
            (bits, entropy, s.entropy_limit, number(s.mean_entropy)),
        ] {
            table.row([
                ("of", Cell::text(name)),
                ("what A6 implies", Cell::text(what)),
                ("paper", paper),
                ("limit", number(limit)),
                ("here", here),
            ]);
        }
    }
    Ok(table)
}
