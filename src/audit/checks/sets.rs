//! Do prediction sets hold the true class as often as they should, and how large are they?

use super::{Gate, Rows};
use crate::audit::intervals::Estimate;
use crate::audit::outcome::Check;
use crate::audit::tally::Tally;

/// Only where there are sets, or a limit asks for them.
pub(super) fn checks(gate: &Gate<'_>, tally: &Tally, log: &Rows<'_>, checks: &mut Vec<Check>) {
    let sets = &tally.sets;
    let ids = ["coverage", "set_size"];
    if sets.is_empty() {
        let asked = ids.into_iter().filter(|id| gate.threshold(id).is_some());
        let reason = "no row has a prediction set (the field set, or a conformal calibration map)";
        checks.extend(asked.map(|id| gate.not_run(id, reason)));
        return;
    }
    let (rows, covered) = (sets.rows, sets.covered);
    let estimate = Estimate::rate(covered, rows, gate.delta("coverage"));
    let sentence = format!(
        "{covered} of {rows} prediction sets hold the true class ({:.1} %).",
        100.0 * estimate.value
    );
    checks.push(gate.of_independent("coverage", log, estimate, sentence));
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
