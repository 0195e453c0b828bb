//! Do prediction sets hold the true class as often as they should, and how large are they?

use super::Gate;
use crate::audit::intervals::{CLOPPER_PEARSON, rate_range};
use crate::audit::outcome::Check;
use crate::audit::tally::Tally;

/// Only where there are sets, or a limit asks for them.
pub(super) fn checks(gate: &Gate<'_>, tally: &Tally, checks: &mut Vec<Check>) {
    let sets = &tally.sets;
    let ids = ["coverage", "set_size"];
    if sets.is_empty() {
        let asked = ids.into_iter().filter(|id| gate.threshold(id).is_some());
        let reason = "no row has a prediction set (the field set, or a conformal calibration map)";
        checks.extend(asked.map(|id| gate.not_run(id, reason)));
        return;
    }
    let (rows, covered) = (sets.rows, sets.covered);
    let range = rate_range(covered, rows, gate.delta("coverage"));
    let rate = covered as f64 / rows as f64;
    let sentence = format!(
        "{covered} of {rows} prediction sets hold the true class ({:.1} %).",
        100.0 * rate
    );
    checks.push(gate.estimate(
        "coverage",
        rate,
        Some(range),
        CLOPPER_PEARSON,
        rows,
        sentence,
    ));
    let size = sets.mean_size();
    let of = |size: usize| sets.sizes.get(&size).copied().unwrap_or(0);
    let sentence = format!(
        "A set holds {size:.3} of {} classes on average; {} sets hold one class, {} none.",
        tally.settings.classes.len(),
        of(1),
        of(0)
    );
    checks.push(gate.census("set_size", size, rows, sentence, Vec::new()));
}
