//! Quantities that are printed in several places: the first of each group against the others.

use super::{Kind, Recomputation};
use crate::ledger::expr::cell;

/// A claim and one quantity: the cell that prints it most precisely, an equals sign, and the cells
/// that print it again.
const GROUPS: &[(&str, &str)] = &[
    (
        "T1.repeats",
        "sec:exp-thm1/epsilon = sec:thm1/epsilon sec:thm1/bound/epsilon \
         sec:exp-thm1/bound/epsilon sec:exp-thm1/prose/epsilon fig:calibration/epsilon \
         sec:exp-thm7/phase1/ece sec:assumption-validation/A3/epsilon \
         sec:limitations-assumptions/A3/epsilon",
    ),
    (
        "T1.repeats",
        "sec:exp-thm1/ece = sec:thm1/ece fig:calibration/ece tab:theory-vs-empirical/T1/ece \
         tab:theoretical-comparison/caption/ece",
    ),
    (
        "T1.repeats",
        "sec:exp-thm1/learned-ece = sec:exp-thm1/prose/learned-ece fig:calibration/learned-ece \
         tab:theoretical-comparison/caption/learned-ece \
         tab:theoretical-comparison/calibration/learned tab:empirical-comparison/ece/learned",
    ),
    (
        "T1.repeats",
        "sec:exp-thm1/bound = sec:thm1/bound tab:theory-vs-empirical/T1/bound \
         sec:limitations-ack/conservative/bound",
    ),
    (
        "T1.repeats",
        "sec:exp-thm1/margin = sec:thm1/margin tab:theory-vs-empirical/T1/margin \
         sec:conclusion/T1/margin sec:limitations-ack/conservative/margin",
    ),
    ("T1.repeats", "sec:thm1/C = app:proof-thm1/C"),
    (
        "T1.repeats",
        "sec:thm1/C-observed = sec:thm1/bound/C sec:exp-thm1/bound/C app:proof-thm1/C-observed",
    ),
    (
        "T1.repeats",
        "sec:thm1/classes = app:proof-thm1/classes sec:assumption-validation/A6/classes",
    ),
    ("T1.repeats", "sec:thm1/delta = app:proof-thm1/delta"),
    (
        "T1.repeats",
        "sec:exp-thm1/bound/K_eff = sec:thm1/bound/K_eff",
    ),
    (
        "T1.repeats",
        "sec:exp-thm1/bins = tab:implementation/T1/experiment",
    ),
    (
        "T2.repeats",
        "tab:thm2/M=16/mean = sec:thm2/M=16/mean tab:empirical-comparison/mc/spn \
         tab:empirical-comparison/mc/learned",
    ),
    ("T2.repeats", "tab:thm2/M=16/p95 = sec:thm2/M=16/p95"),
    ("T2.repeats", "tab:thm2/M=16/bound = sec:thm2/M=16/bound"),
    ("T2.repeats", "tab:thm2/M=64/mean = sec:thm2/M=64/mean"),
    ("T2.repeats", "tab:thm2/M=64/p95 = sec:thm2/M=64/p95"),
    ("T2.repeats", "tab:thm2/M=64/bound = sec:thm2/M=64/bound"),
    ("T2.repeats", "tab:thm2/M=4/sd = tab:thm2/M=4/mean.sd"),
    ("T2.repeats", "tab:thm2/M=8/sd = tab:thm2/M=8/mean.sd"),
    (
        "T2.repeats",
        "tab:thm2/M=16/sd = tab:thm2/M=16/mean.sd tab:empirical-comparison/mc/spn.sd \
         tab:empirical-comparison/mc/learned.sd",
    ),
    ("T2.repeats", "tab:thm2/M=32/sd = tab:thm2/M=32/mean.sd"),
    ("T2.repeats", "tab:thm2/M=64/sd = tab:thm2/M=64/mean.sd"),
    (
        "T2.settings",
        "tab:thm2/M=4/M = sec:exp-thm2/M/1 fig:mc-error/M/1",
    ),
    (
        "T2.settings",
        "tab:thm2/M=8/M = sec:exp-thm2/M/2 fig:mc-error/M/2",
    ),
    (
        "T2.settings",
        "tab:thm2/M=16/M = sec:exp-thm2/M/3 fig:mc-error/M/3 sec:exp-thm2/production/M \
         sec:conclusion/T2/M tab:empirical-comparison/mc-M/spn \
         tab:empirical-comparison/mc-M/learned",
    ),
    (
        "T2.settings",
        "tab:thm2/M=32/M = sec:exp-thm2/M/4 fig:mc-error/M/4",
    ),
    (
        "T2.settings",
        "tab:thm2/M=64/M = sec:exp-thm2/M/5 fig:mc-error/M/5",
    ),
    (
        "T2.settings",
        "sec:exp-thm2/posteriors = tab:implementation/T2/N",
    ),
    (
        "T3.repeats",
        "tab:thm3/N=4200/gap = abstract/gap sec:thm3/gap sec:exp-thm3/gap \
         tab:theory-vs-empirical/T3/gap tab:empirical-comparison/gap/learned \
         sec:conclusion/T3/gap",
    ),
    (
        "T3.repeats",
        "tab:thm3/N=4200/bound = abstract/bound sec:thm3/bound sec:exp-thm3/bound \
         fig:generalization/bound tab:theory-vs-empirical/T3/bound sec:conclusion/T3/bound",
    ),
    (
        "T3.repeats",
        "sec:exp-thm3/margin = sec:thm3/margin tab:theory-vs-empirical/T3/margin \
         tab:empirical-comparison/gap-margin/learned sec:conclusion/T3/margin",
    ),
    ("T3.repeats", "tab:thm3/N=4200/train = sec:exp-thm3/train"),
    ("T3.repeats", "tab:thm3/N=4200/test = sec:exp-thm3/test"),
    (
        "T3.repeats",
        "sec:exp-thm3/d_eff = sec:thm3/d_eff sec:exp-thm3/ratio/d_eff fig:generalization/d_eff \
         app:proof-thm3/product/d_eff",
    ),
    (
        "T3.repeats",
        "sec:exp-thm3/parameters = sec:thm3/parameters",
    ),
    (
        "T3.repeats",
        "sec:exp-thm3/samples-per-dimension = sec:thm3/samples-per-dimension",
    ),
    (
        "T3.repeats",
        "sec:exp-thm3/accuracy = tab:empirical-comparison/accuracy/learned",
    ),
    (
        "T3.settings",
        "sec:exp-thm3/hidden = sec:thm3/hidden sec:limitations-practical/hidden-best",
    ),
    (
        "T3.settings",
        "tab:thm3/N=4200/N = abstract/N abstract/largest-N sec:thm3/N sec:exp-thm3/N \
         sec:exp-thm3/ratio/N fig:generalization/N/3 fig:generalization/bound/N \
         tab:implementation/N tab:implementation/T3/N \
         tab:theoretical-comparison/generalization/learned sec:conclusion/T3/N app:proof-thm3/N",
    ),
    (
        "T3.settings",
        "tab:thm3/N=2002/N = fig:generalization/N/1 sec:limitations-assumptions/needed/N \
         app:proof-thm3/needed",
    ),
    ("T3.settings", "tab:thm3/N=3003/N = fig:generalization/N/2"),
    (
        "T3.settings",
        "app:proof-thm3/factor = app:proof-thm3/product/factor \
         sec:limitations-assumptions/needed/factor",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/H(Y) = sec:thm4/H(Y) sec:thm4/reduction/H(Y) \
         sec:thm4/reduction/denominator sec:thm4/check/H(Y) tab:thm4/H(Y)/value \
         fig:information/H(Y)",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/H(Y|E) = sec:thm4/H(Y|E) sec:thm4/reduction/H(Y|E) sec:thm4/check/H(Y|E) \
         tab:thm4/H(Y|E)/value sec:exp-thm4/max/H(Y|E)",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/noise = sec:thm4/noise tab:thm4/noise/value sec:exp-thm4/max/noise \
         sec:exp-thm7/phase2/noise",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/lower = sec:thm4/lower fig:information/lower",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/achievable = sec:thm4/achievable fig:information/achievable \
         tab:theory-vs-empirical/T4/achievable",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/ece = sec:thm4/ece fig:information/ece tab:theory-vs-empirical/T4/ece",
    ),
    (
        "T4.repeats",
        "sec:thm4/reduction = tab:thm4/reduction/value",
    ),
    (
        "T4.repeats",
        "sec:exp-thm4/ratio-to-achievable = abstract/ratio-to-lower \
         sec:thm4/ratio-to-achievable tab:theory-vs-empirical/T4/ratio \
         tab:theoretical-comparison/caption/ratio-to-lower \
         tab:theoretical-comparison/information/spn sec:conclusion/T4/ratio-to-lower",
    ),
    (
        "T4.figure-sum",
        "fig:information/H(Y) = fig:information/I(E;Y)",
    ),
    (
        "T4.settings",
        "sec:exp-thm4/entities = tab:implementation/T4/N sec:limitations-ack/companies-most",
    ),
    ("T4.settings", "sec:exp-thm4/mc/count = sec:thm4/top-k"),
    (
        "T5.repeats",
        "tab:thm5/eps=0.5/L1 = sec:thm5/L1 tab:theory-vs-empirical/T5/L1",
    ),
    (
        "T5.repeats",
        "tab:thm5/eps=0.5/bound = sec:thm5/bound tab:theory-vs-empirical/T5/bound",
    ),
    (
        "T5.repeats",
        "tab:thm5/eps=0.5/ratio = tab:theory-vs-empirical/T5/ratio sec:thm5/ratio-at-all-levels",
    ),
    ("T5.repeats", "tab:thm5/eps=0.2/sd = tab:thm5/eps=0.2/L1.sd"),
    ("T5.repeats", "tab:thm5/eps=0.3/sd = tab:thm5/eps=0.3/L1.sd"),
    ("T5.repeats", "tab:thm5/eps=0.5/sd = tab:thm5/eps=0.5/L1.sd"),
    ("T5.settings", "tab:thm5/eps=0.0/eps = sec:exp-thm5/eps/1"),
    ("T5.settings", "tab:thm5/eps=0.05/eps = sec:exp-thm5/eps/2"),
    (
        "T5.settings",
        "tab:thm5/eps=0.1/eps = sec:exp-thm5/eps/3 fig:robustness/at-eps",
    ),
    ("T5.settings", "tab:thm5/eps=0.2/eps = sec:exp-thm5/eps/4"),
    ("T5.settings", "tab:thm5/eps=0.3/eps = sec:exp-thm5/eps/5"),
    (
        "T5.settings",
        "tab:thm5/eps=0.5/eps = sec:exp-thm5/eps/6 sec:thm5/eps abstract/corrupted \
         sec:conclusion/T5/corrupted tab:empirical-comparison/robustness-eps/baseline \
         tab:empirical-comparison/robustness-eps/spn \
         tab:empirical-comparison/robustness-eps/learned",
    ),
    (
        "T5.settings",
        "sec:exp-thm5/entities = tab:implementation/T5/N",
    ),
    (
        "T6.repeats",
        "sec:exp-thm6/R2 = abstract/R2 sec:thm6/R2 fig:sample-complexity/R2 \
         sec:conclusion/T6/R2",
    ),
    (
        "T2.R2-source",
        "sec:exp-thm6/R2 = tab:theory-vs-empirical/T2/R2",
    ),
    (
        "T7.floor-source",
        "tab:thm7/K=1/aleatoric = fig:uncertainty/aleatoric-floor",
    ),
    (
        "T6.repeats",
        "sec:exp-thm6/fit/slope = sec:thm6/fit/slope fig:sample-complexity/fit/slope",
    ),
    (
        "T6.repeats",
        "sec:exp-thm6/fit/floor = sec:thm6/fit/floor fig:sample-complexity/fit/floor",
    ),
    (
        "T6.repeats",
        "sec:exp-thm6/plateau = sec:thm6/plateau fig:sample-complexity/plateau \
         tab:theory-vs-empirical/T6/plateau sec:limitations-ack/plateau \
         sec:conclusion/insight/plateau",
    ),
    (
        "T6.repeats",
        "tab:thm6/K=5/ece = sec:thm6/ece tab:empirical-comparison/ece/spn",
    ),
    (
        "T6.repeats",
        "sec:exp-thm6/uniform-ece = sec:thm6/uniform-ece \
         tab:theoretical-comparison/caption/uniform-ece tab:empirical-comparison/ece/baseline",
    ),
    (
        "T6.settings",
        "tab:thm6/K=1/K = sec:exp-thm6/K/1 fig:sample-complexity/K-first \
         fig:sample-complexity/compared/1",
    ),
    (
        "T6.settings",
        "tab:thm6/K=2/K = sec:exp-thm6/K/2 fig:sample-complexity/compared/2",
    ),
    (
        "T6.settings",
        "tab:thm6/K=3/K = sec:exp-thm6/K/3 fig:sample-complexity/compared/3",
    ),
    (
        "T6.settings",
        "tab:thm6/K=5/K = sec:exp-thm6/K/4 fig:sample-complexity/compared/4 \
         fig:sample-complexity/uniform-from sec:exp-thm6/uniform-K sec:thm6/K \
         tab:theoretical-comparison/caption/K tab:empirical-comparison/ece-K/baseline \
         tab:empirical-comparison/ece-K/spn tab:empirical-comparison/ece-K/learned",
    ),
    ("T6.settings", "tab:thm6/K=7/K = sec:exp-thm6/K/5"),
    ("T6.settings", "tab:thm6/K=10/K = sec:exp-thm6/K/6"),
    ("T6.settings", "tab:thm6/K=15/K = sec:exp-thm6/K/7"),
    (
        "T6.settings",
        "tab:thm6/K=20/K = sec:exp-thm6/K/8 fig:sample-complexity/K-last \
         tab:implementation/T6/experiment tab:implementation/K_max-scaling \
         sec:assumption-validation/A5/K_max-scaling",
    ),
    (
        "T7.repeats",
        "tab:thm7/K=1/epistemic = sec:thm7/K=1/epistemic sec:exp-thm7/phase1/epistemic \
         sec:limitations-ack/K=1/epistemic",
    ),
    (
        "T7.repeats",
        "tab:thm7/K=3/epistemic = sec:thm7/K=3/epistemic sec:exp-thm7/phase2/epistemic",
    ),
    (
        "T7.repeats",
        "tab:thm7/K=5/epistemic = sec:thm7/K=5/epistemic sec:exp-thm7/phase3/epistemic",
    ),
    (
        "T7.repeats",
        "sec:exp-thm7/aleatoric = sec:thm7/aleatoric fig:uncertainty/aleatoric",
    ),
    (
        "T7.settings",
        "tab:thm7/K=1/K = sec:exp-thm7/K/1 sec:exp-thm7/phase1/K fig:uncertainty/rise-from \
         sec:limitations-ack/K/1",
    ),
    (
        "T7.settings",
        "tab:thm7/K=2/K = sec:exp-thm7/K/2 sec:limitations-ack/K/2",
    ),
    (
        "T7.settings",
        "tab:thm7/K=3/K = sec:exp-thm7/K/3 sec:exp-thm7/phase2/K fig:uncertainty/rise-to \
         sec:limitations-ack/K/3",
    ),
    (
        "T7.settings",
        "tab:thm7/K=5/K = sec:exp-thm7/K/4 sec:exp-thm7/phase3/K fig:uncertainty/fall-to \
         sec:limitations-ack/K/4 sec:conclusion/insight/K",
    ),
    (
        "T7.settings",
        "sec:exp-thm7/entities = tab:implementation/T7/N sec:limitations-ack/companies-least",
    ),
    (
        "A.repeats",
        "sec:assumption-validation/A1/correlation = \
         sec:assumption-validation/summary/correlation \
         sec:limitations-assumptions/A1/correlation",
    ),
    (
        "A.repeats",
        "sec:assumptions/K_max = sec:assumption-validation/A5/K_max tab:implementation/K_max \
         sec:limitations-ack/K_max",
    ),
    (
        "X.repeats",
        "sec:cross-domain/accuracy = abstract/accuracy sec:empirical-overview/lpf/accuracy",
    ),
    (
        "X.repeats",
        "sec:cross-domain/ece = abstract/ece sec:empirical-overview/lpf/ece",
    ),
    (
        "X.repeats",
        "sec:advantages/bert/accuracy = sec:empirical-overview/bert/accuracy \
         sec:limitations-ack/bert/accuracy",
    ),
    (
        "X.repeats",
        "sec:advantages/bert/ece = sec:empirical-overview/bert/ece sec:limitations-ack/bert/ece",
    ),
    (
        "X.repeats",
        "sec:advantages/edl/accuracy = sec:empirical-overview/edl/accuracy",
    ),
    (
        "X.repeats",
        "sec:advantages/edl/ece = sec:empirical-overview/edl/ece",
    ),
    (
        "X.repeats",
        "sec:advantages/lpf/ece = sec:limitations-ack/lpf/ece \
         sec:limitations-ack/conservative/ece",
    ),
    (
        "X.repeats",
        "sec:limitations-ack/K-beyond = sec:limitations-practical/K sec:future/K-beyond",
    ),
    (
        "X.counts",
        "abstract/domains = abstract/evaluation-domains sec:empirical-overview/domains \
         sec:cross-domain/domains",
    ),
    (
        "X.counts",
        "abstract/theorems = sec:cross-domain/theorems sec:positioning/guarantees \
         sec:conclusion/theorems",
    ),
    (
        "T7.error",
        "sec:exp-thm7/decomposition-error = abstract/decomposition-error \
         sec:thm7/decomposition-error fig:uncertainty/decomposition-error \
         tab:theory-vs-empirical/T7/decomposition-error \
         tab:theoretical-comparison/decomposition/spn \
         tab:theoretical-comparison/decomposition/learned \
         tab:empirical-comparison/decomposition/spn \
         tab:empirical-comparison/decomposition/learned sec:conclusion/T7/decomposition-error \
         sec:conclusion/insight/decomposition-error",
    ),
];

pub(super) fn add(list: &mut Vec<Recomputation>) {
    for (claim, quantity) in GROUPS {
        let Some((first, again)) = quantity.split_once(" = ") else {
            continue;
        };
        for id in again.split_whitespace() {
            list.push(Recomputation {
                claim,
                cell: id.to_owned(),
                expr: cell(first),
                kind: Kind::Repeat,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_names_a_cell_and_its_repetitions() {
        for (claim, quantity) in GROUPS {
            let (first, again) = quantity.split_once(" = ").unwrap();
            assert!(!first.contains(' '), "{claim}: {first}");
            assert!(again.split_whitespace().count() > 0, "{claim}: {first}");
        }
    }
}
