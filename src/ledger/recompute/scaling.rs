//! The numbers of theorems 5 to 7 that follow from a formula.

use super::{Recomputation, derived};
use crate::ledger::expr::{Expr, call, cell, int, sqrt};
use crate::ledger::fit;

/// The rows of Table 5.
pub(in crate::ledger) const CORRUPTION: [&str; 6] = ["0.0", "0.05", "0.1", "0.2", "0.3", "0.5"];
/// The rows of Table 6.
pub(in crate::ledger) const ITEM_COUNTS: [u32; 8] = [1, 2, 3, 5, 7, 10, 15, 20];
/// The rows of Table 7.
pub(in crate::ledger) const VARIANCE_COUNTS: [u32; 4] = [1, 2, 3, 5];

/// `1/√K` and the ECE of Table 6.
fn sample_complexity() -> Vec<Expr> {
    let xs = ITEM_COUNTS.map(|k| int(1) / sqrt(cell(format!("tab:thm6/K={k}/K"))));
    let ys = ITEM_COUNTS.map(|k| cell(format!("tab:thm6/K={k}/ece")));
    xs.into_iter().chain(ys).collect()
}

pub(super) fn add(list: &mut Vec<Recomputation>) {
    robustness(list);
    items(list);
    variance(list);
}

fn robustness(list: &mut Vec<Recomputation>) {
    let last = "tab:thm5/eps=0.5";
    for eps in CORRUPTION {
        let row = format!("tab:thm5/eps={eps}");
        let of = |column: &str| cell(format!("{row}/{column}"));
        derived(
            list,
            "T5.bounds",
            format!("{row}/bound"),
            cell("sec:thm1/bound/C")
                * of("eps")
                * cell("sec:exp-thm5/delta")
                * sqrt(cell("sec:exp-thm5/K")),
        );
        // The first row's constant carries its own rounding; the last row's digits give it better.
        derived(
            list,
            "T5.bounds",
            format!("{row}/bound"),
            of("eps") / cell(format!("{last}/eps")) * cell(format!("{last}/bound")),
        );
        if eps != "0.0" {
            derived(
                list,
                "T5.ratios",
                format!("{row}/ratio"),
                of("L1") / of("bound"),
            );
            derived(
                list,
                "T5.four-percent",
                "sec:thm5/ratio-at-all-levels",
                of("L1") / of("bound"),
            );
        }
    }
    let row = "tab:theory-vs-empirical/T5";
    derived(
        list,
        "T5.ratios",
        format!("{row}/ratio"),
        cell(format!("{row}/L1")) / cell(format!("{row}/bound")),
    );
    for at in ["abstract/performance", "sec:conclusion/T5/performance"] {
        derived(
            list,
            "T5.performance",
            at,
            int(1) - cell(format!("{last}/L1")),
        );
    }
    let (many, one) = (
        || cell("sec:exp-thm5/K"),
        || cell("sec:exp-thm5/growth-from"),
    );
    derived(
        list,
        "T5.growth",
        "sec:exp-thm5/growth-sqrt",
        sqrt(many() / one()),
    );
    derived(
        list,
        "T5.growth",
        "sec:exp-thm5/growth-linear",
        many() / one(),
    );
}

fn items(list: &mut Vec<Recomputation>) {
    for k in ITEM_COUNTS {
        derived(
            list,
            "T6.bounds",
            format!("tab:thm6/K={k}/bound"),
            cell("tab:thm6/K=1/bound") / sqrt(cell(format!("tab:thm6/K={k}/K"))),
        );
    }
    for (slope, floor, r2) in [
        ("sec:thm6/fit/slope", "sec:thm6/fit/floor", "sec:thm6/R2"),
        (
            "sec:exp-thm6/fit/slope",
            "sec:exp-thm6/fit/floor",
            "sec:exp-thm6/R2",
        ),
        (
            "fig:sample-complexity/fit/slope",
            "fig:sample-complexity/fit/floor",
            "fig:sample-complexity/R2",
        ),
    ] {
        derived(
            list,
            "T6.fit",
            slope,
            call("slope of ECE on 1/√K", fit::slope, sample_complexity()),
        );
        derived(
            list,
            "T6.fit",
            floor,
            call(
                "intercept of ECE on 1/√K",
                fit::intercept,
                sample_complexity(),
            ),
        );
        derived(
            list,
            "T6.fit",
            r2,
            call("R² of ECE on 1/√K", fit::r_squared, sample_complexity()),
        );
    }
}

fn variance(list: &mut Vec<Recomputation>) {
    for k in VARIANCE_COUNTS {
        let row = format!("tab:thm7/K={k}");
        let of = |column: &str| cell(format!("{row}/{column}"));
        derived(
            list,
            "T7.sums",
            format!("{row}/total"),
            of("epistemic") + of("aleatoric"),
        );
        for at in [
            "sec:thm7/aleatoric",
            "sec:exp-thm7/aleatoric",
            "fig:uncertainty/aleatoric",
        ] {
            derived(list, "T7.stable", at, of("aleatoric"));
        }
        for at in [
            "sec:thm7/decomposition-error",
            "sec:exp-thm7/decomposition-error",
            "fig:uncertainty/decomposition-error",
        ] {
            derived(list, "T7.error", at, of("error"));
        }
    }
    let (third, fifth) = (
        || cell("tab:thm7/K=3/epistemic"),
        || cell("tab:thm7/K=5/epistemic"),
    );
    derived(
        list,
        "T7.reduction",
        "sec:exp-thm7/phase3/reduction",
        (third() - fifth()) / third(),
    );
    derived(
        list,
        "T7.floor",
        "fig:uncertainty/aleatoric-floor",
        cell("fig:uncertainty/aleatoric"),
    );
}
