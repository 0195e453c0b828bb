//! The tables of the assumptions.

use super::{AT, Measured};
use crate::assumptions::Share;
use crate::exhibit::{Cell, Table};
use crate::experiments::Quantity;

fn number(x: Option<f64>) -> Cell {
    x.map_or(Cell::Empty, |x| Cell::number(x, 4))
}

/// Digits that show a probability far below the floor.
const SMALL: u8 = 8;

fn rate(share: &Share) -> f64 {
    share.count as f64 / share.of as f64
}

/// What was measured of each assumption.
pub(super) fn quantities(runs: &[Measured]) -> Vec<Quantity> {
    let over =
        |what: &str, digits, value: fn(&Measured) -> f64| Quantity::over(what, runs, digits, value);
    let printed =
        |what: &str, digits, value, id: &str| over(what, digits, value).as_in(format!("{AT}/{id}"));
    vec![
        printed(
            "A1: correlation of an entity's items, given the class",
            4,
            |m| m.independence.correlation.unwrap_or(f64::NAN),
            "A1/correlation",
        ),
        over("A1: smallest p of the classes, Holm", 4, |m| {
            m.independence.smallest_p().unwrap_or(f64::NAN)
        }),
        over("A1: correlation with classes ignored", 4, |m| {
            m.independence.unconditional.unwrap_or(f64::NAN)
        }),
        over(
            "A1: p of the control, one item in ten repeats the first",
            4,
            |m| m.copies.smallest_p().unwrap_or(f64::NAN),
        ),
        printed(
            "A2: mean norm of the covariances",
            4,
            |m| m.variance.mean,
            "A2/mean",
        ),
        printed("A2: largest norm", 4, |m| m.variance.most, "A2/max"),
        over(
            "A2: share of entities with a norm above the limit",
            4,
            |m| rate(&m.variance.above),
        ),
        printed(
            "A3: calibration error of single items",
            4,
            |m| m.calibration.ece,
            "A3/epsilon",
        ),
        over("A3: that is at least", 4, |m| m.calibration.low),
        over("A3: and at most", 4, |m| m.calibration.high),
        over("A4: complete and decomposable networks", 0, |m| {
            m.marginalization.networks as f64
        }),
        printed(
            "A5: most items of an entity",
            0,
            |m| m.count.most as f64,
            "A5/K_max",
        ),
        over("A6: smallest probability of a factor", SMALL, |m| {
            m.factors.smallest
        }),
        over(
            "A6: share of entities with a factor below the floor",
            4,
            |m| rate(&m.factors.below),
        ),
        printed(
            "A6: smallest probability at random latent codes",
            SMALL,
            |m| m.codes.smallest,
            "A6/floor",
        ),
        over("A6: largest probability of a factor", 4, |m| {
            m.factors.largest
        }),
        over("A6: what the floor allows at most", 4, |m| {
            m.factors.confidence_limit
        }),
        over("A6: mean entropy of a factor in bits", 4, |m| {
            m.factors.mean_entropy
        })
        .as_in("sec:exp-thm4/H(Y|E)"),
        over("A6: what the floor asks for at least", 4, |m| {
            m.factors.entropy_limit
        }),
    ]
}

/// The test of A1 class by class.
pub(super) fn independence_table(m: &Measured) -> Table {
    let title = "A1: correlation of the items of one entity and its permutation test, first model on \
                 the author's data";
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
