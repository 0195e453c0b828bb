//! Theorem 7 and its experiment.

use num_rational::BigRational;
use num_traits::One;

use super::exact::{Tally, binomial, distributions, fraction, normalized, power};
use super::{Check, Context, Outcome, row_name};
use crate::bounds::{Joint, tuple};
use crate::ledger::expr::{decimal, overlap, shown};
use crate::ledger::formula::REFERENCE_LATENT;
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;
use crate::uncertainty::variance_decomposition;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T7", decomposition),
    ("T7.aleatoric", aleatoric),
    ("T7.predictive", |_| predictive(&fraction(3, 4), 2)),
    ("T7.measured", |cx| {
        cx.unpublished(&[
            ("sec:exp-thm7/samples", "samples"),
            (
                "sec:exp-thm7/entities",
                "entities of a model that is not published",
            ),
        ])
    }),
    ("T7.stable", stable),
    ("T7.floor", floor),
    ("T7.threshold", threshold),
    ("T7.phases", phases),
    ("T7.caption", caption),
    ("T7.spreads", spreads),
    ("T7.sigma", sigma),
    ("T7.conditioning", conditioning),
];

const TABLE: &str = "tab:thm7";

/// On the library's own generic kernel.
fn decomposition(_: &Context<'_>) -> Outcome {
    let mut tally = Tally::default();
    let all = distributions(3, 3, 0);
    let mut check = |rows: &[&Vec<BigRational>]| {
        let flat: Vec<BigRational> = rows.iter().flat_map(|r| r.iter().cloned()).collect();
        let holds = variance_decomposition(&flat, 3)
            .is_ok_and(|parts| parts.total == parts.epistemic + parts.aleatoric);
        tally.case(holds, || format!("rows {rows:?}"));
    };
    for a in &all {
        for b in &all {
            check(&[a, b]);
            for c in &all {
                check(&[a, b, c]);
            }
        }
    }
    let identity = tally
        .finding("two and three samples of distributions over three classes with denominator 3");
    let whole = changing(&BigRational::one())?;
    let product = predictive(&fraction(3, 4), 2)?;
    Ok(Finding::by_reading(vec![
        ("the identity, for the mixture of decoded samples", identity),
        (
            "with item 2, that the aleatoric part stays constant in K for each entity",
            whole,
        ),
        ("of the prediction of LPF-SPN, which is a product", product),
    ]))
}

/// `Σ_y p_y(1 − p_y)`.
pub(super) fn class_variance(p: &[BigRational]) -> BigRational {
    p.iter().map(|x| x * (BigRational::one() - x)).sum()
}

fn aleatoric(_: &Context<'_>) -> Outcome {
    Ok(Finding::by_reading(vec![
        (
            "on average over entities whose items are alike in law",
            averaged(false),
        ),
        ("for each entity", changing(&BigRational::one())?),
    ]))
}

/// Items drawn alike and independently, decoding to one of two distributions, over all outcomes: the
/// mean aleatoric variance of K items is that of one. Where each further item is the surer, it is not.
fn averaged(surer: bool) -> Finding {
    let mut tally = Tally::default();
    let all = distributions(2, 4, 0);
    let mean = |items: u64, a: &[BigRational], b: &[BigRational], chance: &BigRational| {
        let points = binomial(items, chance).into_iter().zip(0..=items);
        let of = |k: u64| {
            let sum =
                fraction(k, 1) * class_variance(a) + fraction(items - k, 1) * class_variance(b);
            let scale = if surer { items * items } else { items };
            sum / fraction(scale, 1)
        };
        points.map(|(p, k)| p * of(k)).sum::<BigRational>()
    };
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        for chance in (1..4).map(|k| fraction(k, 4)) {
            let one = mean(1, a, b, &chance);
            let same = (2..=5).all(|items| mean(items, a, b, &chance) == one);
            tally.case(same, || format!("{} or {}", tuple(a), tuple(b)));
        }
    }
    tally.finding("items that decode to one of two distributions with denominator 4, K = 1 to 5")
}

/// A first item that decodes to `(top, 1 − top)` and a second that decodes to `(1/2, 1/2)`.
fn changing(top: &BigRational) -> Outcome {
    let half = fraction(1, 2);
    let first = [top.clone(), BigRational::one() - top];
    let rows = [first.to_vec(), vec![half.clone(), half]].concat();
    let of = |rows: &[BigRational]| variance_decomposition(rows, 2).ok().map(|v| v.aleatoric);
    let Some((one, two)) = of(&rows[..2]).zip(of(&rows)) else {
        return Ok(Finding::not_reproducible("no such items", Vec::new()));
    };
    let steps = vec![
        format!("K = 1, decoding to {}: Σ p(1 − p) = {one}", tuple(&first)),
        format!("K = 2, the second decoding to (1/2, 1/2): the mean of {one} and 1/2 is {two}"),
        "the theorem does not assume A6; with its floor, (3/4, 1/4), it is 3/8, then 7/16"
            .to_owned(),
    ];
    Ok(if one == two {
        Finding::checked("two items that decode alike", steps)
    } else {
        let witness = format!(
            "items {} and (1/2, 1/2): {one} at K = 1, {two} at K = 2",
            tuple(&first)
        );
        Finding::refuted(witness, steps)
    })
}

/// `items` items that all decode to `(top, 1 − top)`: their mixture is that too, their product is not.
fn predictive(top: &BigRational, items: u32) -> Outcome {
    let factor = [top.clone(), BigRational::one() - top];
    let powers = factor.iter().map(|p| power(p, items.into())).collect();
    let product = normalized(powers);
    let (mixture, prediction) = (class_variance(&factor), class_variance(&product));
    let steps = vec![
        format!(
            "{items} items decode to {}, and so does every mixture of them",
            tuple(&factor)
        ),
        format!("epistemic variance 0, aleatoric variance {mixture}"),
        format!(
            "the product is {}, with variance {prediction}",
            tuple(&product)
        ),
    ];
    Ok(if mixture == prediction {
        Finding::checked("one item, or items that say nothing", steps)
    } else {
        let witness = format!(
            "{items} items {}: predictive variance {prediction}, decomposed {mixture}",
            tuple(&factor)
        );
        Finding::refuted(witness, steps)
    })
}

/// Each row against what the text gives for all K; "about" is read as up to a factor of two.
fn stable(cx: &Context<'_>) -> Outcome {
    let stated = ["sec:thm7/aleatoric", "sec:exp-thm7/aleatoric"];
    let (mut far, mut evidence) = (Vec::new(), Vec::new());
    for row in cx.rows(TABLE) {
        let cell = format!("{row}/aleatoric");
        let number = cx.number(&cell)?;
        evidence.push(format!("{}: {number}", row_name(&row)));
        for text in stated {
            let twice =
                |one: &str, other: &str| cx.exceeds(&format!("[{one}]"), &format!("2·[{other}]"));
            if twice(&cell, text)? || twice(text, &cell)? {
                far.push(format!("{number} at {}", row_name(&row)));
            }
        }
    }
    far.dedup();
    let found = match far.is_empty() {
        true => "every row is within a factor of two of it".to_owned(),
        false => far.join(", "),
    };
    Ok(Finding::decided(
        far.is_empty(),
        format!("{} for all K", cx.number(stated[0])?),
        found,
        evidence,
    ))
}

/// The line in the figure: the least of the variances, or that of every K.
fn floor(cx: &Context<'_>) -> Outcome {
    let line = "fig:uncertainty/aleatoric-floor";
    let drawn = format!("floor {}", cx.number(line)?);
    let least = "least{of}(each row of tab:thm7: [@/aleatoric])";
    let lowest = Finding::decided(
        cx.agree(&format!("[{line}]"), least)?,
        drawn.clone(),
        format!("the least aleatoric variance is {}", cx.show(least, 4)?),
        vec![cx.line(least, 4)?],
    );
    let caption = "fig:uncertainty/aleatoric";
    let same = Finding::decided(
        cx.agree(&format!("[{line}]"), &format!("[{caption}]"))?,
        drawn,
        format!("{} in the same caption", cx.number(caption)?),
        Vec::new(),
    );
    Ok(Finding::by_reading(vec![
        ("the least value over all K", lowest),
        ("the value at which the same caption lets it settle", same),
    ]))
}

fn threshold(cx: &Context<'_>) -> Outcome {
    let limit = cx.number("fig:uncertainty/threshold")?;
    let mut evidence = Vec::new();
    let mut below = true;
    for row in cx.rows(TABLE) {
        let error = cx.number(&format!("{row}/error"))?;
        below &= error.interval().1 < limit.value();
        evidence.push(format!("{}: {error}", row_name(&row)));
    }
    evidence.push(
        "total is computed as aleatoric + epistemic, so the error is zero but for rounding; \
         see T7 for the identity"
            .to_owned(),
    );
    Ok(if below {
        let anyway = "it is zero but for rounding, for every input";
        Finding::vacuous(
            format!("decomposition error below {limit}"),
            anyway,
            evidence,
        )
    } else {
        Finding::inconsistent(format!("below {limit}"), "a row is not", evidence)
    })
}

fn phases(cx: &Context<'_>) -> Outcome {
    let at = |k: u32| format!("[{TABLE}/K={k}/epistemic]");
    let holds =
        cx.exceeds(&at(2), &at(1))? && cx.exceeds(&at(3), &at(2))? && cx.exceeds(&at(3), &at(5))?;
    let mut printed = Vec::new();
    for row in cx.rows(TABLE) {
        printed.push(cx.number(&format!("{row}/epistemic"))?.to_string());
    }
    Ok(Finding::decided(
        holds,
        "rises, then falls",
        printed.join(", "),
        Vec::new(),
    ))
}

fn caption(cx: &Context<'_>) -> Outcome {
    let last = "tab:thm7/K=5/epistemic";
    let from = |k: u32| -> Outcome {
        let first = format!("{TABLE}/K={k}/epistemic");
        Ok(Finding::decided(
            cx.exceeds(&format!("[{first}]"), &format!("[{last}]"))?,
            "reduction with further evidence",
            format!(
                "{} at K = {k}, {} at K = 5",
                cx.number(&first)?,
                cx.number(last)?
            ),
            vec![cx.line(&format!("[{last}]/[{first}]"), 2)?],
        ))
    };
    Ok(Finding::by_reading(vec![
        ("from K = 3 to 5, where the caption lets it fall", from(3)?),
        ("from K = 1 to 5", from(1)?),
    ]))
}

fn spreads(cx: &Context<'_>) -> Outcome {
    let mut evidence = Vec::new();
    let mut holds = true;
    for row in cx.rows(TABLE) {
        let [total, epistemic, aleatoric] =
            ["total", "epistemic", "aleatoric"].map(|column| format!("{row}/{column}.sd"));
        holds &= !cx.exceeds(
            &format!("[{total}]"),
            &format!("[{epistemic}] + [{aleatoric}]"),
        )? && !cx.exceeds(
            &format!("[{epistemic}] - [{aleatoric}]"),
            &format!("[{total}]"),
        )? && !cx.exceeds(
            &format!("[{aleatoric}] - [{epistemic}]"),
            &format!("[{total}]"),
        )?;
        evidence.push(format!(
            "{}: {} ≤ {} + {}",
            row_name(&row),
            cx.number(&total)?,
            cx.number(&epistemic)?,
            cx.number(&aleatoric)?
        ));
    }
    Ok(Finding::decided(
        holds,
        "deviations as printed",
        "possible in every row",
        evidence,
    ))
}

fn sigma(cx: &Context<'_>) -> Outcome {
    // The printed scale is read as it stands; its rounding would let many dimensions fit.
    let scale = cx.number("sec:exp-thm7/phase1/sigma")?.value();
    let norm = |d: u64| -> Result<Enclosure, crate::ledger::LedgerError> {
        Ok(&Enclosure::exact(scale.clone()) * &cx.value(&format!("√{d}"))?)
    };
    let mean = cx.value("[sec:assumption-validation/A2/mean]")?;
    let most = cx.value("[sec:assumption-validation/A2/max]")?;
    let mut fitting = Vec::new();
    for d in 1..=REFERENCE_LATENT {
        if overlap(&norm(d)?, &mean) {
            fitting.push(d);
        }
    }
    let reference = norm(REFERENCE_LATENT)?;
    let digits = decimal(&scale, 1);
    let evidence = vec![
        format!(
            "in {REFERENCE_LATENT} dimensions: {digits}·√{REFERENCE_LATENT} = {}",
            shown(&reference, 3)
        ),
        format!("dimensions for which {digits}·√d is the printed mean: {fitting:?}"),
    ];
    let printed = format!(
        "mean {}, at most {}",
        cx.number("sec:assumption-validation/A2/mean")?,
        cx.number("sec:assumption-validation/A2/max")?
    );
    Ok(if fitting.is_empty() || mean.exceeds(&most) {
        Finding::inconsistent(printed, "no dimension fits", evidence)
    } else {
        let reason =
            format!("the latent dimension is not printed; {printed} fits d in {fitting:?}");
        Finding::not_reproducible(reason, evidence)
    })
}

/// `Z` constant, so that `Y` given `Z` has its prior, and one item `E` that names `Y` with
/// probability `reliability`.
fn conditioned(reliability: &BigRational) -> Option<(bool, BigRational, BigRational)> {
    let one = BigRational::one();
    let half = fraction(1, 2);
    let wrong = &one - reliability;
    let item = vec![
        vec![reliability.clone(), wrong.clone()],
        vec![wrong, reliability.clone()],
    ];
    let world = Joint::independent(&[half.clone(), half], &[item])?;
    let variance = |p: &[BigRational]| p.first().map(|p| p * (&one - p));
    Some((
        world.conditionally_independent(),
        variance(&world.prior())?,
        variance(&world.posterior(&[0])?)?,
    ))
}

/// Y and E independent given Z, which takes two values: all chances in quarters.
fn screened() -> Finding {
    let mut tally = Tally::default();
    let quarters = || (1..4).map(|k| fraction(k, 4));
    for (y, e) in quarters().flat_map(|y| quarters().map(move |e| (y.clone(), e))) {
        // Given one value of Z, P(Y = 1 | Z, E = 1) from the joint probabilities.
        let both = &y * &e;
        let posterior = &both / (&both + (BigRational::one() - &y) * &e);
        let variance = |p: &BigRational| p * (BigRational::one() - p);
        tally.case(variance(&posterior) == variance(&y), || format!("{y}, {e}"));
    }
    tally.finding("Y and E independent given Z, chances k/4")
}

fn conditioning(_: &Context<'_>) -> Outcome {
    let Some((independent, given_z, given_both)) = conditioned(&BigRational::one()) else {
        return Ok(Finding::not_reproducible("no such world", Vec::new()));
    };
    let steps = vec![
        "Y is 0 or 1 with probability 1/2 each; one item E = Y; Z takes a single value".to_owned(),
        format!("A1, items independent given Y: {independent}"),
        format!("Var[Y | Z] = 1/2·(1 − 1/2) = {given_z}"),
        format!("Var[Y | Z, E] = {given_both}, since E tells Y"),
    ];
    let from_a1 = if independent && given_z != given_both {
        let witness = format!("E = Y, Z constant: {given_both} where {given_z} is claimed");
        Finding::refuted(witness, steps)
    } else {
        Finding::reproduced("the two variances are equal", steps)
    };
    Ok(Finding::by_reading(vec![
        (
            "Y is independent of E given Z, as the step writes",
            screened(),
        ),
        (
            "assumption 1, which it names: items independent given Y",
            from_a1,
        ),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;

    #[test]
    fn items_that_decode_alike_and_single_items_refute_nothing() {
        let kind = |outcome: Outcome| outcome.unwrap().verdict.kind();
        let (half, top) = (fraction(1, 2), fraction(3, 4));
        assert_eq!(kind(changing(&half)), VerdictKind::Checked);
        assert_eq!(kind(changing(&top)), VerdictKind::Refuted);
        assert_eq!(averaged(false).verdict.kind(), VerdictKind::Checked);
        assert_eq!(averaged(true).verdict.kind(), VerdictKind::Refuted);
        assert_eq!(kind(predictive(&top, 1)), VerdictKind::Checked);
        assert_eq!(kind(predictive(&half, 5)), VerdictKind::Checked);
        assert_eq!(kind(predictive(&top, 2)), VerdictKind::Refuted);
    }

    #[test]
    fn an_item_that_says_nothing_is_no_counterexample() {
        let (independent, given_z, given_both) = conditioned(&fraction(1, 2)).unwrap();
        assert!(independent);
        assert_eq!(given_z, given_both);
        let (independent, given_z, given_both) = conditioned(&BigRational::one()).unwrap();
        assert!(independent);
        assert_ne!(given_z, given_both);
    }
}
