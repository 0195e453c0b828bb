//! T2″, and which of the three intervals for a Monte Carlo factor is the narrowest from which M on.

use num_rational::BigRational;

use super::exact::{Tally, fraction, power};
use super::{Check, Context, Outcome};
use crate::bounds::{
    betting_interval, empirical_bernstein_error, monte_carlo_error, sample_variance_up,
};
use crate::ledger::verdict::Finding;
use crate::math::rational;

pub(super) const CHECKS: &[(&str, Check)] = &[("T2''", betting)];

/// Up to this many samples every number is compared.
const MOST: u64 = 128;

fn betting(cx: &Context<'_>) -> Outcome {
    let mut finding = covers(1.0);
    finding.evidence.push(
        "rests on theorem E3_monitor (E3), which bounds the chance that a capital reaches 1/α"
            .to_owned(),
    );
    finding.evidence.extend(narrowest(cx)?);
    Ok(finding)
}

/// Every sequence of draws of 0, 1/2 and 1 with chances in quarters, weighted exactly; the interval is
/// made for `looser·δ`.
fn covers(looser: f64) -> Finding {
    let mut tally = Tally::default();
    let values = [0.0, 0.5, 1.0];
    for n in [1u32, 4, 7] {
        for delta in [0.125, 0.25, 0.5] {
            let mut intervals = Vec::new();
            for index in 0..3usize.pow(n) {
                let digit = |place: u32| index / 3usize.pow(place) % 3;
                let drawn: Vec<f64> = (0..n).map(|place| values[digit(place)]).collect();
                let counts = [0, 1, 2].map(|v| (0..n).filter(|&p| digit(p) == v).count() as u64);
                let ends = betting_interval(&drawn, 1, looser * delta).ok();
                let ends = ends.and_then(|(low, high)| rational(low).zip(rational(high)));
                let Some((low, high)) = ends else {
                    return Finding::not_reproducible("no interval", Vec::new());
                };
                intervals.push((counts, low, high));
            }
            for parts in super::exact::compositions(4, 3, 0) {
                let chances: Vec<BigRational> = parts.iter().map(|&k| fraction(k, 4)).collect();
                let mean = &chances[1] / fraction(2, 1) + &chances[2];
                let missed: BigRational = intervals
                    .iter()
                    .filter(|(_, low, high)| mean < *low || mean > *high)
                    .map(|(counts, _, _)| {
                        let pairs = chances.iter().zip(counts);
                        pairs.fold(fraction(1, 1), |p, (chance, &k)| p * power(chance, k))
                    })
                    .sum();
                let holds = rational(delta).is_some_and(|delta| missed <= delta);
                tally.case(holds, || {
                    format!("n = {n}, chances {parts:?}/4, δ = {delta}")
                });
            }
        }
    }
    tally.finding(
        "draws of 0, 1/2 and 1 with chances k/4, all sequences of 1, 4 and 7 draws, δ = 1/8, 1/4, 1/2",
    )
}

/// Half the width of the three intervals for one class, cut to [0, 1]: theorem 2's, T2′'s and T2″'s.
fn widths(values: &[f64], classes: u64, delta: f64) -> Option<[f64; 3]> {
    let n = values.len() as u64;
    let mean = values.iter().sum::<f64>() / n as f64;
    let cut = |radius: f64| ((mean + radius).min(1.0) - (mean - radius).max(0.0)) / 2.0;
    let variance = sample_variance_up(values).ok()?;
    let (low, high) = betting_interval(values, classes, delta).ok()?;
    Some([
        cut(monte_carlo_error(n, classes, delta).ok()?),
        cut(empirical_bernstein_error(n, classes, variance, delta).ok()?),
        (high - low) / 2.0,
    ])
}

/// The smallest M from which on `wins` holds of every M up to [`MOST`].
fn from_which(widths: &[(u64, [f64; 3])], wins: impl Fn(&[f64; 3]) -> bool) -> Option<u64> {
    let failing = widths.iter().rev().find(|(_, w)| !wins(w));
    let next = failing.map_or(widths[0].0, |(m, _)| m + 1);
    (next <= MOST).then_some(next)
}

/// A kind of samples: its name, and the value of each.
type Kind = (&'static str, fn(u64) -> f64);

/// Samples that do not vary, that vary as much as values between 0 and 1 can, and one in ten that is 1.
pub(super) fn narrowest(cx: &Context<'_>) -> Result<Vec<String>, crate::ledger::LedgerError> {
    let classes = cx.count("sec:thm1/classes")?;
    let delta = crate::math::Enclosure::exact(cx.number("sec:thm1/delta")?.value()).approx();
    let mut lines = Vec::new();
    let kinds: [Kind; 3] = [
        ("samples that are all 1/2", |_| 0.5),
        ("0 and 1 in turn", |i| (i % 2) as f64),
        ("0, and 1 for every tenth", |i| {
            f64::from(u8::from(i % 10 == 5))
        }),
    ];
    for (name, value) in kinds {
        let all: Vec<(u64, [f64; 3])> = (2..=MOST)
            .filter_map(|m| {
                let values: Vec<f64> = (0..m).map(value).collect();
                Some((m, widths(&values, classes, delta)?))
            })
            .collect();
        let say = |what: Option<u64>| match what {
            Some(2) => "from M = 2 on".to_owned(),
            Some(m) => format!("from M = {m} on"),
            None => format!("for no M up to {MOST}"),
        };
        let bernstein = from_which(&all, |[hoeffding, bernstein, _]| bernstein < hoeffding);
        let betting = from_which(&all, |[hoeffding, bernstein, betting]| {
            betting <= hoeffding && betting <= bernstein
        });
        let at = |m: u64| all.iter().find(|(n, _)| *n == m);
        let rows: Vec<String> = [16, 64]
            .into_iter()
            .filter_map(at)
            .map(|(m, [a, b, c])| format!("M = {m}: {a:.3}, {b:.3}, {c:.3}"))
            .collect();
        lines.push(format!(
            "{name}: T2' is narrower than theorem 2 {}, T2'' the narrowest {}; half widths in [0, 1] of theorem \
             2, T2', T2'' at {}",
            say(bernstein),
            say(betting),
            rows.join("; ")
        ));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;

    #[test]
    fn an_interval_for_another_level_is_refuted() {
        assert_eq!(covers(1.0).verdict.kind(), VerdictKind::Checked);
        assert_eq!(covers(1.99).verdict.kind(), VerdictKind::Refuted);
    }
}
