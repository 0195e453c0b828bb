//! The numbers of theorems 1 to 7 that follow from a formula.

use super::{Recomputation, derived};
use crate::ledger::expr::{Expr, call, cell, int, ln, max, sqrt};
use crate::ledger::fit;
use crate::math::Enclosure;

/// The rows of Table 2.
pub(in crate::ledger) const SAMPLE_SIZES: [u32; 5] = [4, 8, 16, 32, 64];
/// The rows of Table 3.
pub(in crate::ledger) const TRAINING_SIZES: [u32; 3] = [2002, 3003, 4200];
/// The rows of Table 5.
pub(in crate::ledger) const CORRUPTION: [&str; 6] = ["0.0", "0.05", "0.1", "0.2", "0.3", "0.5"];
/// The rows of Table 6.
pub(in crate::ledger) const ITEM_COUNTS: [u32; 8] = [1, 2, 3, 5, 7, 10, 15, 20];
/// The rows of Table 7.
pub(in crate::ledger) const VARIANCE_COUNTS: [u32; 4] = [1, 2, 3, 5];

/// Dimension of the latent space in the published reference implementation; the paper does not
/// print it.
pub(in crate::ledger) const REFERENCE_LATENT: u64 = 64;

/// `√(2·ln(2|Y|/δ))`, theorem 1's constant.
pub(in crate::ledger) fn concentration_constant() -> Expr {
    sqrt(int(2) * ln(int(2) * cell("sec:thm1/classes") / cell("sec:thm1/delta")))
}

/// Theorem 3's bound on the gap at `N` samples with training loss `loss`.
pub(in crate::ledger) fn gap_bound(n: Expr, loss: Expr, dimension: Expr) -> Expr {
    let delta = cell("sec:thm1/delta");
    let complexity = dimension.clone() * (int(1) + ln(n.clone() / dimension)) + ln(int(2) / delta);
    sqrt(int(2) * (loss + int(1) / n.clone()) * complexity / n)
}

/// Weights and biases of the reference implementation's aggregator with `h` hidden units and
/// latent dimension `d`: two networks `2d → h → h/2 → 1` and one `2 → h/2 → 1`.
pub(in crate::ledger) fn aggregator_parameters(d: u64, h: u64) -> u64 {
    let layer = |inputs: u64, outputs: u64| inputs * outputs + outputs;
    let half = h / 2;
    2 * (layer(2 * d, h) + layer(h, half) + layer(half, 1)) + layer(2, half) + layer(half, 1)
}

fn reference_parameters(arguments: &[Enclosure]) -> Option<Enclosure> {
    use num_traits::ToPrimitive;
    let hidden = arguments.first()?.low().to_integer().to_u64()?;
    Some(Enclosure::integer(aggregator_parameters(
        REFERENCE_LATENT,
        hidden,
    )))
}

/// `1/√K` and the ECE of Table 6.
fn sample_complexity() -> Vec<Expr> {
    let xs = ITEM_COUNTS.map(|k| int(1) / sqrt(cell(format!("tab:thm6/K={k}/K"))));
    let ys = ITEM_COUNTS.map(|k| cell(format!("tab:thm6/K={k}/ece")));
    xs.into_iter().chain(ys).collect()
}

/// `1/√M` and the mean error of Table 2.
fn monte_carlo() -> Vec<Expr> {
    let xs = SAMPLE_SIZES.map(|m| int(1) / sqrt(cell(format!("tab:thm2/M={m}/M"))));
    let ys = SAMPLE_SIZES.map(|m| cell(format!("tab:thm2/M={m}/mean")));
    xs.into_iter().chain(ys).collect()
}

pub(super) fn add(list: &mut Vec<Recomputation>) {
    calibration(list);
    sampling(list);
    generalization(list);
    information(list);
    robustness(list);
    items(list);
    variance(list);
}

fn calibration(list: &mut Vec<Recomputation>) {
    derived(list, "T1.constant", "sec:thm1/C", concentration_constant());
    derived(
        list,
        "T1.constant",
        "app:proof-thm1/C",
        concentration_constant(),
    );
    for at in ["sec:thm1", "sec:exp-thm1"] {
        let bound = cell(format!("{at}/bound/epsilon"))
            + cell(format!("{at}/bound/C")) / sqrt(cell(format!("{at}/bound/K_eff")));
        derived(list, "T1.bound", format!("{at}/bound"), bound);
        let margin = int(1) - cell(format!("{at}/ece")) / cell(format!("{at}/bound"));
        derived(list, "T1.margin", format!("{at}/margin"), margin);
    }
    let slack = cell("sec:exp-thm1/bound") - cell("sec:exp-thm1/ece");
    derived(list, "T1.margin", "sec:exp-thm1/slack", slack);
    let row = "tab:theory-vs-empirical/T1";
    let margin = int(1) - cell(format!("{row}/ece")) / cell(format!("{row}/bound"));
    derived(list, "T1.margin", format!("{row}/margin"), margin);
    derived(
        list,
        "T1.half",
        "sec:exp-thm1/bound/K_eff",
        cell("sec:exp-thm1/K_avg") / int(2),
    );
    derived(
        list,
        "T1.figure",
        "fig:calibration/hoeffding",
        cell("fig:calibration/epsilon")
            + cell("sec:exp-thm1/bound/C") / sqrt(cell("sec:exp-thm1/K_avg")),
    );
    derived(
        list,
        "T1.figure-text",
        "fig:calibration/hoeffding",
        cell("sec:exp-thm1/bound"),
    );
    derived(
        list,
        "T1.conservative",
        "sec:limitations-ack/conservative/margin",
        int(1)
            - cell("sec:limitations-ack/conservative/ece")
                / cell("sec:limitations-ack/conservative/bound"),
    );
}

fn sampling(list: &mut Vec<Recomputation>) {
    for m in SAMPLE_SIZES {
        let row = format!("tab:thm2/M={m}");
        let count = cell(format!("{row}/M"));
        let bound =
            sqrt(ln(int(2) * cell("sec:thm1/classes") / cell("sec:thm1/delta")) / (int(2) * count));
        derived(list, "T2.bounds", format!("{row}/bound"), bound);
    }
    let ratio =
        |m: u32| cell(format!("tab:thm2/M={m}/bound")) / cell(format!("tab:thm2/M={m}/mean"));
    let least = SAMPLE_SIZES.map(ratio).to_vec();
    derived(
        list,
        "T2.below",
        "sec:exp-thm2/below/least",
        call("least of", least_of, least.clone()),
    );
    derived(
        list,
        "T2.below",
        "sec:exp-thm2/below/most",
        call("most of", most_of, least),
    );
    derived(
        list,
        "T2.R2",
        "tab:theory-vs-empirical/T2/R2",
        call("R² of mean error on 1/√M", fit::r_squared, monte_carlo()),
    );
    derived(
        list,
        "T2.production",
        "sec:exp-thm2/production/error",
        cell("tab:thm2/M=16/mean"),
    );
    derived(
        list,
        "T2.production",
        "sec:conclusion/T2/error",
        cell("tab:thm2/M=16/mean"),
    );
}

pub(in crate::ledger) fn least_of(values: &[Enclosure]) -> Option<Enclosure> {
    let low = values.iter().map(Enclosure::low).min()?;
    let high = values.iter().map(Enclosure::high).min()?;
    Some(Enclosure::between(low.clone(), high.clone()))
}

pub(in crate::ledger) fn most_of(values: &[Enclosure]) -> Option<Enclosure> {
    let low = values.iter().map(Enclosure::low).max()?;
    let high = values.iter().map(Enclosure::high).max()?;
    Some(Enclosure::between(low.clone(), high.clone()))
}

fn generalization(list: &mut Vec<Recomputation>) {
    for n in TRAINING_SIZES {
        let row = format!("tab:thm3/N={n}");
        let of = |column: &str| cell(format!("{row}/{column}"));
        derived(
            list,
            "T3.gaps",
            format!("{row}/gap"),
            of("test") - of("train"),
        );
        let bound = gap_bound(of("N"), of("train"), cell("sec:exp-thm3/d_eff"));
        derived(list, "T3.bounds", format!("{row}/bound"), bound);
    }
    derived(
        list,
        "T3.gaps",
        "sec:exp-thm3/gap",
        cell("sec:exp-thm3/test") - cell("sec:exp-thm3/train"),
    );
    for (gap, bound, margin) in [
        ("sec:thm3/gap", "sec:thm3/bound", "sec:thm3/margin"),
        (
            "sec:exp-thm3/gap",
            "sec:exp-thm3/bound",
            "sec:exp-thm3/margin",
        ),
        (
            "tab:theory-vs-empirical/T3/gap",
            "tab:theory-vs-empirical/T3/bound",
            "tab:theory-vs-empirical/T3/margin",
        ),
        (
            "tab:empirical-comparison/gap/learned",
            "tab:thm3/N=4200/bound",
            "tab:empirical-comparison/gap-margin/learned",
        ),
        (
            "sec:conclusion/T3/gap",
            "sec:conclusion/T3/bound",
            "sec:conclusion/T3/margin",
        ),
    ] {
        derived(list, "T3.margin", margin, int(1) - cell(gap) / cell(bound));
    }
    derived(
        list,
        "T3.active",
        "sec:thm3/active",
        cell("sec:thm3/d_eff") / cell("sec:thm3/parameters"),
    );
    derived(
        list,
        "T3.samples",
        "sec:thm3/samples-per-dimension",
        cell("sec:thm3/N") / cell("sec:thm3/d_eff"),
    );
    derived(
        list,
        "T3.samples",
        "sec:exp-thm3/samples-per-dimension",
        cell("sec:exp-thm3/ratio/N") / cell("sec:exp-thm3/ratio/d_eff"),
    );
    for (at, hidden) in [
        ("sec:thm3/parameters", "sec:thm3/hidden"),
        ("sec:exp-thm3/parameters", "sec:exp-thm3/hidden"),
    ] {
        derived(
            list,
            "T3.parameters",
            at,
            call(
                "parameters at hidden",
                reference_parameters,
                vec![cell(hidden)],
            ),
        );
    }
    derived(
        list,
        "T3.needed",
        "app:proof-thm3/needed",
        cell("app:proof-thm3/product/factor") * cell("app:proof-thm3/product/d_eff"),
    );
    derived(
        list,
        "T3.needed",
        "sec:limitations-assumptions/needed/N",
        cell("sec:limitations-assumptions/needed/factor") * cell("sec:exp-thm3/d_eff"),
    );
}

fn information(list: &mut Vec<Recomputation>) {
    let (h, residual) = (|| cell("sec:exp-thm4/H(Y)"), || cell("sec:exp-thm4/H(Y|E)"));
    derived(
        list,
        "T4.components",
        "sec:exp-thm4/information-ratio",
        residual() / h(),
    );
    derived(
        list,
        "T4.components",
        "sec:thm4/reduction",
        (cell("sec:thm4/reduction/H(Y)") - cell("sec:thm4/reduction/H(Y|E)"))
            / cell("sec:thm4/reduction/denominator"),
    );
    derived(
        list,
        "T4.components",
        "tab:thm4/reduction/value",
        int(1) - cell("tab:thm4/H(Y|E)/value") / cell("tab:thm4/H(Y)/value"),
    );
    let entities = || cell("sec:exp-thm4/entities");
    derived(
        list,
        "T4.pairs",
        "sec:exp-thm4/pairs",
        entities() * (entities() - int(1)) / int(2),
    );
    derived(
        list,
        "T4.computation",
        "sec:exp-thm4/lower",
        max(
            cell("sec:exp-thm4/max/H(Y|E)"),
            cell("sec:exp-thm4/max/noise") * cell("sec:exp-thm4/max/c2"),
        ),
    );
    derived(
        list,
        "T4.computation",
        "sec:exp-thm4/mc",
        cell("sec:exp-thm4/mc/c") / sqrt(cell("sec:exp-thm4/mc/count")),
    );
    derived(
        list,
        "T4.computation",
        "sec:exp-thm4/achievable",
        cell("sec:exp-thm4/lower")
            + cell("sec:exp-thm4/mc/c") / sqrt(cell("sec:exp-thm4/mc/count")),
    );
    derived(
        list,
        "T4.computation",
        "sec:exp-thm4/gap",
        cell("sec:exp-thm4/ece") - cell("sec:exp-thm4/lower"),
    );
    derived(
        list,
        "T4.mc-count",
        "sec:exp-thm4/mc",
        cell("sec:exp-thm4/mc/c") / sqrt(cell("sec:exp-thm2/production/M")),
    );
    let (ece, lower) = (|| cell("sec:exp-thm4/ece"), || cell("sec:exp-thm4/lower"));
    for at in [
        "abstract/ratio-to-lower",
        "tab:theoretical-comparison/caption/ratio-to-lower",
        "sec:conclusion/T4/ratio-to-lower",
    ] {
        derived(list, "T4.ratio-lower", at, ece() / lower());
    }
    for at in [
        "sec:thm4/ratio-to-achievable",
        "sec:exp-thm4/ratio-to-achievable",
        "tab:theoretical-comparison/information/spn",
    ] {
        derived(
            list,
            "T4.ratio-achievable",
            at,
            ece() / cell("sec:exp-thm4/achievable"),
        );
    }
    let row = "tab:theory-vs-empirical/T4";
    derived(
        list,
        "T4.ratio-achievable",
        format!("{row}/ratio"),
        cell(format!("{row}/ece")) / cell(format!("{row}/achievable")),
    );
    derived(
        list,
        "T4.figure",
        "fig:information/I(E;Y)",
        cell("fig:information/H(Y)") - residual(),
    );
    derived(
        list,
        "T4.components",
        "fig:information/H(Y|E)",
        cell("fig:information/H(Y)") - cell("fig:information/I(E;Y)"),
    );
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
