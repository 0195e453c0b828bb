//! Steps of the appendix's proofs, and remarks, each decided by itself.

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::exact::{BITS, Tally, binomial, compositions, distributions, fraction};
use super::{Check, Context, Outcome};
use crate::bounds::{Joint, effective_count_exact, tuple};
use crate::ledger::theory::Says;
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T1.remark", |_| {
        Ok(remark(&[fraction(1, 1), fraction(1, 2)]))
    }),
    ("T1.step1", |_| inherited(&BigRational::one())),
    ("T1.step3", concentration),
    ("T5.step4", |_| Ok(aligned(16, true))),
    ("T6.step", |_| {
        Ok(inference(&[fraction(1, 1), fraction(1, 2)]))
    }),
    ("T7.mixture", |_| Ok(mixture())),
    ("T7.ten-percent", ten_percent),
    ("A2.bounded", |_| {
        Ok(Finding::by_reading(vec![
            ("in mean square", spread()),
            ("by a constant, surely", unbounded(3)),
        ]))
    }),
    ("A6.softmax", |cx| {
        Ok(Finding::by_reading(vec![
            ("the decoder that was trained", measured_floor(cx)?),
            ("any softmax", softmax(cx, 18)),
        ]))
    }),
    ("X.amortized", amortized),
    ("X.real-world", |_| {
        let reason = "neither the companies nor a number measured on them is printed";
        Ok(Finding::not_reproducible(reason, Vec::new()))
    }),
];

/// Compared with items that are unlike, and compared with no weights.
fn remark(weights: &[BigRational]) -> Finding {
    let mut tally = Tally::default();
    for weights in distributions(3, 12, 1) {
        let equal = weights.windows(2).all(|pair| pair[0] == pair[1]);
        let whole = effective_count_exact(&weights).map(|count| count == fraction(3, 1));
        tally.case(whole == Some(equal), || tuple(&weights));
    }
    let alike = tally.finding(
        "three items with weights k/12: K_eff is 3 where they are alike, and less where they are not",
    );
    Finding::by_reading(vec![
        (
            "larger than for items whose uncertainties, and so weights, differ",
            alike,
        ),
        ("larger than without weights", weighting(weights)),
    ])
}

/// `K_eff` of unequal weights against `K`, which equal weights reach.
fn weighting(weights: &[BigRational]) -> Finding {
    let Some(effective) = effective_count_exact(weights) else {
        return Finding::not_reproducible("no effective count", Vec::new());
    };
    let count = fraction(weights.len() as u64, 1);
    let steps = vec![
        format!(
            "{count} items with the same factor (3/4, 1/4), so that the evidence is consistent; their covariances \
             differ, and f_conf gives them the weights {}",
            tuple(weights)
        ),
        format!("equal weights: K_eff = K = {count}"),
        format!("weights {}: K_eff = {effective}", tuple(weights)),
        "by Cauchy and Schwarz (Σw)² ≤ K·Σw², so K_eff ≤ K for all weights".to_owned(),
    ];
    match effective < count {
        true => Finding::refuted(
            format!("weights {}: K_eff = {effective} < {count}", tuple(weights)),
            steps,
        ),
        false => Finding::checked("equal weights", steps),
    }
}

/// A fair coin, an item that reports it rightly with probability `right`, and the factor (1/2, 1/2).
fn inherited(right: &BigRational) -> Outcome {
    let half = fraction(1, 2);
    let wrong = BigRational::one() - right;
    let item = vec![
        vec![right.clone(), wrong.clone()],
        vec![wrong, right.clone()],
    ];
    let factor = vec![half.clone(), half.clone()];
    let world = Joint::independent(&factor, &[item]);
    let found = world.and_then(|world| {
        let error = world.factor_calibration_error(0, &[factor.clone(), factor.clone()])?;
        Some((error, world.posterior(&[0])?))
    });
    let Some((error, posterior)) = found else {
        return Ok(Finding::not_reproducible("no such world", Vec::new()));
    };
    let off = (&posterior[0] - &half).abs();
    let steps = vec![
        format!(
            "a fair coin; one item right with probability {right}; the factor is always (1/2, 1/2)"
        ),
        format!("its calibration error is {error}"),
        format!(
            "P(Y = 0 | item says 0) = {}, {off} away from the factor",
            posterior[0]
        ),
    ];
    Ok(match error.is_zero() && off.is_positive() {
        true => Finding::refuted(
            format!("a calibrated factor that is {off} off, ε = 0"),
            steps,
        ),
        false => Finding::checked("an item that says nothing", steps),
    })
}

/// Equation (41) given the class with weights that sum to one, with weights one, and as it is printed,
/// without "given the class".
fn concentration(cx: &Context<'_>) -> Outcome {
    // Under A6 ln Φ lies between ln 1/(2n) and ln (n+1)/(2n), so that its range is ln(n+1).
    let enough = "ln([sec:thm1/classes] + 1)·ln([sec:thm1/classes] + 1)/2";
    let formula = "2·ln(2·[sec:thm1/classes]/[sec:thm1/delta])";
    let printed = "[sec:thm1/C]·[sec:thm1/C]";
    let given = Finding::decided(
        !cx.exceeds(enough, formula)? && !cx.exceeds(enough, printed)?,
        format!(
            "C² = {} by the formula, {} as printed",
            cx.show(formula, 3)?,
            cx.show(printed, 2)?
        ),
        format!(
            "by Hoeffding's inequality with the range of ln Φ under A6 C² = {} is enough",
            cx.show(enough, 3)?
        ),
        vec![
            "ln Φ lies between ln 1/(2|Y|) and ln (|Y|+1)/(2|Y|), so that P(|Σw·ln Φ − mean| > t) ≤ \
             2·exp(−2·K_eff·t²/ln²(|Y|+1))"
                .to_owned(),
            cx.line(enough, 3)?,
            cx.line(formula, 3)?,
        ],
    );
    // The largest C for the two classes of the worlds below.
    let square = cx.value("2·ln(4/[sec:thm1/delta])")?;
    Ok(Finding::by_reading(vec![
        ("given the class, with weights that sum to one", given),
        (
            "given the class, with weights in [0, 1] that sum to more",
            deviating(16, false, true, &fraction(1, 1), &square),
        ),
        (
            "as printed, not given the class",
            deviating(400, true, false, &fraction(1, 5), &square),
        ),
    ]))
}

/// A fair coin and `items` items right three times in four with exact factors: how often the weighted sum
/// of ln Φ(0) is further than `t` from its mean, given the class or not, against `2·exp(−K_eff·t²/C²)`.
///
/// A right item adds ln 3 more than a wrong one, so that what counts is the number of right ones.
fn deviating(
    items: u64,
    normalized: bool,
    given: bool,
    t: &BigRational,
    square: &Enclosure,
) -> Finding {
    let exponent = Enclosure::exact(fraction(items, 1) * t * t).divide(square);
    let Some((log, exponent)) = Enclosure::integer(3).ln(BITS).zip(exponent) else {
        return Finding::not_reproducible("no bound", Vec::new());
    };
    let bound = &Enclosure::integer(2) * &(&Enclosure::integer(0) - &exponent).exp(BITS);
    let (weight, mean) = (
        fraction(1, if normalized { items } else { 1 }),
        fraction(items * if given { 3 } else { 2 }, 4),
    );
    let far: BigRational = binomial(items, &fraction(3, 4))
        .into_iter()
        .zip(0..)
        .filter(|(_, right)| {
            let off = &weight * (fraction(*right, 1) - &mean).abs();
            (&Enclosure::exact(off) * &log).exceeds(&Enclosure::exact(t.clone()))
        })
        .map(|(chance, _)| chance)
        .sum();
    let far = Enclosure::exact(far);
    let (found, claimed) = (far.approx(), bound.approx());
    let steps = vec![
        format!(
            "a fair coin, {items} items right three times in four, exact factors (A1, A3 and A6 hold), weights \
             {weight}, so that K_eff = {items}"
        ),
        format!(
            "the sum of w·ln Φ(0) is more than {t} away from its mean {} with probability {found:.4}",
            if given {
                "given the class"
            } else {
                "over both classes"
            }
        ),
        format!(
            "2·exp(−K_eff·t²/C²) with the C of the formula, the largest of the three: {claimed:.4}"
        ),
    ];
    match far.exceeds(&bound) {
        true => Finding::refuted(
            format!("{items} items: probability {found:.3} where at most {claimed:.3} is claimed"),
            steps,
        ),
        false => Finding::checked(format!("a fair coin and {items} items"), steps),
    }
}

/// What was measured of the trained decoder against the floor.
fn measured_floor(cx: &Context<'_>) -> Outcome {
    let (floor, measured) = (
        "1/(2·[sec:thm1/classes])",
        "sec:assumption-validation/A6/floor",
    );
    Ok(Finding::decided(
        !cx.exceeds(floor, &format!("[{measured}]"))?,
        "the decoder keeps the floor",
        format!(
            "the smallest probability measured is {}, the floor {}",
            cx.number(measured)?,
            cx.show(floor, 3)?
        ),
        vec![cx.line(floor, 4)?],
    ))
}

/// `items` shifts of one unit each, all the same way or half of them the other way.
fn aligned(items: u64, same: bool) -> Finding {
    let sum = if same { items } else { 0 };
    let root = Enclosure::integer(items).sqrt(BITS);
    let steps = vec![
        format!("{items} shifts of δ chosen by an adversary, who knows no independence"),
        format!("they add up to {sum}·δ"),
        format!(
            "K·δ exceeds C·√K·δ for every C once K > C²; here √K = {:.1}",
            { root.as_ref().map_or(f64::NAN, Enclosure::approx) }
        ),
    ];
    match root.is_some_and(|root| Enclosure::integer(sum).exceeds(&root)) {
        true => Finding::refuted(
            format!("{items} shifts the same way: {sum}·δ where √{items}·δ is claimed"),
            steps,
        ),
        false => Finding::checked("shifts that cancel", steps),
    }
}

/// `C²/ε² = K` exactly, so that `C/√K = ε`; what is needed is `C/√K_eff ≤ ε`.
fn inference(weights: &[BigRational]) -> Finding {
    let count = fraction(weights.len() as u64, 1);
    let Some(effective) = effective_count_exact(weights) else {
        return Finding::not_reproducible("no effective count", Vec::new());
    };
    let steps = vec![format!(
        "weights {}: K = C²/ε² = {count}, but K_eff = {effective}, so C/√K_eff > ε",
        tuple(weights)
    )];
    let sufficient = match effective < count {
        true => Finding::refuted(
            format!("K = {count} is C²/ε², K_eff = {effective} is less"),
            steps,
        ),
        false => Finding::checked("equal weights", steps),
    };
    let mut tally = Tally::default();
    for weights in distributions(3, 8, 1) {
        let holds = effective_count_exact(&weights).is_some_and(|k| k <= fraction(3, 1));
        tally.case(holds, || tuple(&weights));
    }
    let needed = tally.finding("K_eff ≤ 3 for three weights with denominator 8");
    Finding::by_reading(vec![
        ("K ≥ C²/ε² is needed for the bound to be ε", needed),
        ("K ≥ C²/ε² is enough", sufficient),
    ])
}

/// Two components with means and variances from a grid, and weights k/4.
fn mixture() -> Finding {
    let mut tally = Tally::default();
    let grid = || (0..4u64).map(|n| fraction(n, 2));
    for weight in (1..4).map(|k| fraction(k, 4)) {
        let rest = BigRational::one() - &weight;
        for (a, b) in grid().flat_map(|a| grid().map(move |b| (a.clone(), b))) {
            for (u, v) in grid().flat_map(|u| grid().map(move |v| (u.clone(), v))) {
                let mean = &weight * &a + &rest * &b;
                let second = &weight * (&u + &a * &a) + &rest * (&v + &b * &b);
                let within = &weight * &u + &rest * &v;
                let between =
                    &weight * (&a - &mean) * (&a - &mean) + &rest * (&b - &mean) * (&b - &mean);
                tally.case(second - &mean * &mean == within + between, || {
                    format!("means {a}, {b}, variances {u}, {v}")
                });
            }
        }
    }
    tally.finding("two components with means and variances k/2, weights k/4")
}

fn ten_percent(cx: &Context<'_>) -> Outcome {
    let (three, five) = ("tab:thm7/K=3/epistemic", "tab:thm7/K=5/epistemic");
    let says = format!(
        "epistemic variance {} at K = 3, {} at K = 5",
        cx.number(three)?,
        cx.number(five)?
    );
    let anyway =
        "theorem 1 bounds a calibration error and says nothing of a variance, so any change agrees";
    Ok(Finding::vacuous(says, anyway, Vec::new()))
}

/// `E‖z − μ‖² = tr Σ ≤ √d·‖Σ‖_F`: for diagonal covariances with entries k/2 in up to three dimensions.
fn spread() -> Finding {
    let mut tally = Tally::default();
    for d in 1..=3usize {
        for entries in compositions(8, d + 1, 0) {
            let entries: Vec<BigRational> = entries[1..].iter().map(|&k| fraction(k, 2)).collect();
            let trace: BigRational = entries.iter().sum();
            let squares: BigRational = entries.iter().map(|v| v * v).sum();
            let holds = &trace * &trace <= fraction(d as u64, 1) * squares;
            tally.case(holds, || tuple(&entries));
        }
    }
    tally.finding("E‖z − μ‖² ≤ √d·‖Σ‖_F for diagonal Σ with entries k/2, one to three dimensions")
}

/// A standard normal variable beyond `t`: the density falls, so over one unit it is at least that at
/// `t + 1`, and `2/√(2π) > 1/2`.
fn unbounded(t: u64) -> Finding {
    let beyond = Enclosure::exact(-fraction((t + 1) * (t + 1), 2)).exp(BITS);
    let steps = vec![
        "q(z|e) is normal with variance 1, which any σ_max ≥ 1 allows".to_owned(),
        format!(
            "P(|z| > t) ≥ exp(−(t + 1)²/2)/2 > 0 for every t; at t = {t}: {:.6}",
            beyond.approx() / 2.0
        ),
    ];
    match beyond.exceeds(&Enclosure::integer(0)) {
        true => Finding::refuted("a normal input with variance 1 exceeds every bound", steps),
        false => Finding::not_reproducible("the precision does not show it", steps),
    }
}

/// Logits `(T·ln odds, 0, 0)` at temperature `T`.
fn softmax(cx: &Context<'_>, odds: u64) -> Finding {
    let least = fraction(1, odds + 2);
    let floor = fraction(1, 6);
    let mut steps = vec![format!(
        "three logits T·ln {odds}, 0, 0 at temperature T give {odds}/{0}, 1/{0}, 1/{0}",
        odds + 2
    )];
    let theorems = cx.theory.saying("A6", Says::Refutes);
    steps.extend(
        theorems
            .iter()
            .map(|t| format!("theorem {}: {}", t.name, t.words)),
    );
    match least < floor {
        true => Finding::refuted(
            format!("at any temperature T, logits T·ln {odds}, 0, 0: {least} < {floor}"),
            steps,
        ),
        false => Finding::checked("these logits", steps),
    }
}

fn amortized(cx: &Context<'_>) -> Outcome {
    let passes = cx.number("sec:limitations-practical/passes")?;
    let calls = "[sec:limitations-practical/K]·[sec:limitations-practical/M]";
    let line = vec![cx.line(calls, 0)?];
    let examples = Finding::decided(
        cx.agree("[sec:limitations-practical/passes]", calls)?,
        "O(1)",
        format!("{passes} decoder calls, whatever N"),
        line.clone(),
    );
    let items = Finding::decided(
        !cx.exceeds(calls, "1")?,
        "O(1)",
        format!("{} decoder calls", cx.show(calls, 0)?),
        line,
    );
    Ok(Finding::by_reading(vec![
        ("constant in the number of training examples", examples),
        ("constant in the numbers of items and samples", items),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind::{Checked, DependsOnReading, Refuted};

    #[test]
    fn each_counterexample_refutes_and_a_perturbed_one_does_not() {
        let (one, half) = (fraction(1, 1), fraction(1, 2));
        let unequal = [one.clone(), half.clone()];
        let equal = [one.clone(), one.clone()];
        let kind = |finding: Finding| finding.verdict.kind();
        assert_eq!(
            [weighting(&unequal), weighting(&equal)].map(kind),
            [Refuted, Checked]
        );
        assert_eq!(
            [remark(&unequal), remark(&equal)].map(kind),
            [DependsOnReading, Checked]
        );
        // C² of the formula for two classes, 2·ln 80 = 8.764.
        let square = Enclosure::exact(fraction(8764, 1000));
        let deviates = |items, normalized, given, t: (u64, u64)| {
            kind(deviating(
                items,
                normalized,
                given,
                &fraction(t.0, t.1),
                &square,
            ))
        };
        assert_eq!(deviates(400, true, false, (1, 5)), Refuted);
        assert_eq!(deviates(400, true, true, (1, 5)), Checked);
        assert_eq!(deviates(16, false, true, (1, 1)), Refuted);
        assert_eq!(deviates(16, true, true, (1, 16)), Checked);
        assert_eq!(
            [&one, &half].map(|right| kind(inherited(right).unwrap())),
            [Refuted, Checked]
        );
        assert_eq!(
            [true, false].map(|same| kind(aligned(16, same))),
            [Refuted, Checked]
        );
        assert_eq!(
            [inference(&unequal), inference(&equal)].map(kind),
            [DependsOnReading, Checked]
        );
        assert_eq!([mixture(), spread()].map(kind), [Checked; 2]);
    }
}
