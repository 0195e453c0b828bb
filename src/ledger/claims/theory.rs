//! Claims that stand on theorems alone, and claims of ours that finite domains illustrate.

use num_rational::BigRational;
use num_traits::Signed;

use super::exact::{BITS, Tally, distributions, fraction, l1, power};
use super::lemmas::hoeffding;
use super::{Check, Context, Outcome};
use crate::ledger::theory::Says;
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("L2.printed", printed),
    ("L6'", |cx| cx.by_theorem("L6'")),
    ("E1", |cx| cx.by_theorem("E1")),
    ("E2", |cx| cx.by_theorem("E2")),
    ("E3", |cx| cx.by_theorem("E3")),
    ("E4", |cx| cx.by_theorem("E4")),
    ("E5", |_| Ok(excess_loss(2))),
    ("Norm", |cx| cx.by_theorem("Norm")),
    ("A6.excludes", |_| Ok(floored(12))),
];

/// Equation (29) with the brackets that it lacks, and without.
fn printed(cx: &Context<'_>) -> Outcome {
    let theorems = cx.theory.saying("L2", Says::Proves);
    let both = match theorems.is_empty() {
        true => hoeffding(cx)?,
        false => Finding::proved(cx.theory, &theorems, Vec::new()),
    };
    Ok(Finding::by_reading(vec![
        ("the sum covers both terms, as in L2", both),
        (
            "E[Xᵢ] stands outside the sum, for variables that are not alike",
            printed_hoeffding(4),
        ),
    ]))
}

/// Eight constants, `ones` of them 1 and the others 0, which are independent; ε = 2/5.
fn printed_hoeffding(ones: u64) -> Finding {
    let n = 8;
    let (average, epsilon) = (fraction(ones, n), fraction(2, 5));
    let exponent = fraction(2 * n, 1) * &epsilon * &epsilon;
    let bound = &Enclosure::integer(2) * &Enclosure::exact(-exponent.clone()).exp(BITS);
    let mut steps = vec![
        format!(
            "{ones} variables are 1 and {} are 0, always; constants are independent",
            n - ones
        ),
        format!("their average is {average}, and E[Xᵢ] is 0 or 1"),
    ];
    // The claim holds if it does for some i: every mean that occurs must be far from the average.
    let means = [(ones, fraction(1, 1)), (n - ones, fraction(0, 1))];
    let occurring = means.iter().filter(|(count, _)| *count > 0);
    let mut far = true;
    for (_, mean) in occurring {
        let off = l1(std::slice::from_ref(&average), std::slice::from_ref(mean));
        steps.push(format!("from the mean {mean} it is {off} away, surely"));
        far &= off > epsilon;
    }
    steps.push(format!(
        "2·exp(−2·{n}·ε²) at ε = {epsilon} is {:.4}",
        bound.approx()
    ));
    if far && Enclosure::integer(1).exceeds(&bound) {
        let witness = format!(
            "half of {n} constants 0, half 1: a deviation of {average} has probability 1 where {:.4} is \
             claimed",
            bound.approx()
        );
        Finding::refuted(witness, steps)
    } else {
        Finding::checked(format!("{ones} of {n} constants are 1"), steps)
    }
}

/// One item with two equally likely values, two classes, posteriors and predictions in eighths: the
/// calibration error, squared and times `factor`, against the excess log loss. Then convexity of the
/// pool's log loss at middles of weights and offsets.
fn excess_loss(factor: u64) -> Finding {
    let mut tally = Tally::default();
    let undefined = || Finding::not_reproducible("a logarithm is undefined", Vec::new());
    let (half, zero) = (fraction(1, 2), Enclosure::integer(0));
    let (truths, predictions) = (distributions(2, 8, 0), distributions(2, 8, 1));
    let pairs = || {
        truths
            .iter()
            .flat_map(|p| predictions.iter().map(move |q| (p, q)))
    };
    let divergence = |p: &[BigRational], q: &[BigRational]| -> Option<Enclosure> {
        let mut terms = p.iter().zip(q).filter(|(x, _)| x.is_positive());
        terms.try_fold(zero.clone(), |sum, (x, y)| {
            let log = match x == y {
                true => zero.clone(),
                false => Enclosure::exact(x / y).ln(BITS)?,
            };
            Some(&sum + &(&Enclosure::exact(x.clone()) * &log))
        })
    };
    let all: Option<Vec<_>> = pairs()
        .map(|(p, q)| Some((p, q, divergence(p, q)?)))
        .collect();
    let Some(all) = all else { return undefined() };
    // What the winning class's confidence lacks: in one bin for equal confidences, else in two.
    let gap = |p: &[BigRational], q: &[BigRational]| {
        let winner = usize::from(q[1] > q[0]);
        (q[winner].clone(), &p[winner] - &q[winner])
    };
    for (p, q, first) in &all {
        for (r, s, second) in &all {
            let ((c, one), (d, two)) = (gap(p, q), gap(r, s));
            let ece = match c == d {
                true => ((&one + &two) * &half).abs(),
                false => (one.abs() + two.abs()) * &half,
            };
            let excess = &(first + second) * &Enclosure::exact(half.clone());
            let square = fraction(factor, 1) * &ece * &ece;
            // Equality where both are exact.
            let holds = square <= *excess.high() && !Enclosure::exact(square).exceeds(&excess);
            tally.case(holds, || format!("{p:?}, {q:?}; {r:?}, {s:?}"));
        }
    }
    // −ln P(y) at weight w and offset b = ln t for a factor f: ln(f₀^w·t + f₁^w) − ln of the entry.
    for f in distributions(2, 4, 1) {
        let loss = |w: u64, t: u64, y: usize| -> Option<Enclosure> {
            let scores = [power(&f[0], w) * fraction(t, 1), power(&f[1], w)];
            Enclosure::exact((&scores[0] + &scores[1]) / &scores[y]).ln(BITS)
        };
        for (w, v) in [(0, 2), (1, 3), (0, 4)] {
            for (t, u) in [(1, 1), (1, 4), (4, 9), (9, 1)] {
                let middle = whole_root(t * u);
                for y in 0..2 {
                    let ends = loss(w, t, y).zip(loss(v, u, y));
                    let Some(((a, b), m)) = ends.zip(loss((w + v) / 2, middle, y)) else {
                        return undefined();
                    };
                    let twice = &m * &Enclosure::integer(2);
                    tally.case(!twice.exceeds(&(&a + &b)), || format!("{f:?}, {w}, {v}"));
                }
            }
        }
    }
    tally.finding(
        "two classes, one item with two values, posteriors and predictions in eighths; middles of pools with \
         weights up to 4 and offsets ln 1, ln 4, ln 9",
    )
}

/// The root of a square.
fn whole_root(square: u64) -> u64 {
    (0..=square).find(|r| r * r >= square).unwrap_or(square)
}

/// Three classes, all entries at least `1/6`: distributions with a denominator that 6 divides.
fn floored(denominator: u64) -> Finding {
    let mut tally = Tally::default();
    let all = distributions(3, denominator, denominator / 6);
    let (most, one) = (fraction(2, 3), fraction(1, 1));
    for p in &all {
        tally.case(p.iter().all(|x| *x <= most), || format!("{p:?}"));
        for q in &all {
            tally.case(l1(p, q) <= one, || format!("{p:?} and {q:?}"));
        }
    }
    tally.finding("three classes, entries at least 1/6, denominator 12")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;
    use crate::ledger::claims::{find, judged_without_records, recompute};
    use crate::ledger::paper::Paper;
    use crate::ledger::{Records, Theory};

    #[test]
    fn variables_with_one_mean_do_not_refute_the_printed_form() {
        let kind = |ones| printed_hoeffding(ones).verdict.kind();
        assert_eq!(
            (kind(4), kind(8), kind(7)),
            (
                VerdictKind::Refuted,
                VerdictKind::Checked,
                VerdictKind::Checked
            )
        );
    }

    /// With half of the excess the calibration error is no longer bounded.
    #[test]
    fn a_quarter_of_the_excess_is_refuted() {
        let kind = |factor| excess_loss(factor).verdict.kind();
        assert_eq!(
            (kind(2), kind(4)),
            (VerdictKind::Checked, VerdictKind::Refuted)
        );
    }

    /// Without the record nothing is proved; what was checked is checked only.
    #[test]
    fn proved_comes_from_the_record_alone() {
        let (paper, records) = (Paper::published(), Records::none());
        let empty = Theory::default();
        for id in ["L1", "T2'", "T5'", "E1", "Norm", "A6.excludes"] {
            let claim = find(id).unwrap();
            let kind = |theory| {
                let finding = claim.judge_by(theory, &paper, &records, &recompute::all());
                finding.verdict.kind()
            };
            assert_eq!(kind(Theory::committed()), VerdictKind::Proved, "{id}");
            assert_ne!(kind(&empty), VerdictKind::Proved, "{id}");
        }
    }

    /// The bounds of K_eff are proved, and the claim about it is refuted all the same.
    #[test]
    fn a_refutation_wins_over_a_theorem_about_a_part() {
        let judged = judged_without_records();
        let entry = judged.iter().find(|e| e.claim.id == "T1.Keff").unwrap();
        assert_eq!(entry.finding.verdict.kind(), VerdictKind::Refuted);
        let text = entry.finding.verdict.to_string();
        assert!(text.contains("T1_Keff_refuted"), "{text}");
        for entry in &judged {
            if entry.finding.verdict.kind() == VerdictKind::Proved {
                let standing = "not re-run here";
                let lines = &entry.finding.evidence;
                assert!(
                    lines.iter().any(|line| line.contains(standing)),
                    "{}",
                    entry.claim.id
                );
            }
        }
    }
}
