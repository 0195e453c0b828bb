//! The numbers of theorems 1 to 4 that follow from a formula.

use super::{Recomputation, derived};
use crate::ledger::expr::{Expr, call, cell, int, ln, max, sqrt};
use crate::ledger::fit;
use crate::math::Enclosure;

/// The rows of Table 2.
pub(in crate::ledger) const SAMPLE_SIZES: [u32; 5] = [4, 8, 16, 32, 64];
/// The rows of Table 3.
pub(in crate::ledger) const TRAINING_SIZES: [u32; 3] = [2002, 3003, 4200];

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
