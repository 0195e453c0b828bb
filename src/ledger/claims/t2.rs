//! Theorem 2, T2′ beside it, and its experiment.

use num_rational::BigRational;
use num_traits::Signed;

use super::exact::{BITS, Tally, binomial_tail, eighths, failure, fraction};
use super::t2_intervals::narrowest;
use super::{Check, Context, Outcome, row_name};
use crate::bounds::{empirical_bernstein_error, sample_variance_up};
use crate::ledger::verdict::Finding;
use crate::math::{Enclosure, rational};

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T2", monte_carlo),
    ("T2'", |cx| {
        let mut finding = empirical_bernstein(1.0);
        finding.evidence.extend(narrowest(cx)?);
        Ok(finding)
    }),
    ("T2.within", within),
    ("T2.rate", |cx| {
        let square = "√([@/mean]·[@/mean] + [@/sd]·[@/sd])";
        rate(cx, square, "root mean square error")
    }),
    ("T2.below-p95", below_p95),
    ("T2.falls", falls),
    ("T2.measured", |cx| {
        cx.unpublished(&[
            ("sec:exp-thm2/trials", "trials"),
            (
                "sec:exp-thm2/posteriors",
                "posteriors of an encoder that is not published",
            ),
        ])
    }),
    ("T2.sizes", sizes),
];

/// For a decoder that is certain of one of two classes: the worst spread there is.
fn monte_carlo(cx: &Context<'_>) -> Outcome {
    let classes = cx.number("sec:thm1/classes")?.value();
    let mut tally = Tally::default();
    for m in 1..=16u64 {
        for delta in [fraction(1, 20), fraction(1, 4), fraction(1, 2)] {
            let ratio = Enclosure::exact(fraction(2, 1) * &classes / &delta);
            let radius = ratio
                .ln(BITS)
                .and_then(|log| log.divide(&Enclosure::integer(2 * m)))
                .and_then(|square| square.sqrt(BITS));
            let Some(radius) = radius else {
                return Ok(Finding::not_reproducible(
                    "the bound is undefined",
                    Vec::new(),
                ));
            };
            for p in (1..8).map(|k| fraction(k, 8)) {
                let tail = binomial_tail(m, &p, radius.low());
                tally.case(tail <= delta, || format!("M = {m}, p = {p}, δ = {delta}"));
            }
        }
    }
    Ok(tally.finding(
        "decoders certain of one class, posterior mass k/8, M = 1 to 16, δ = 1/20, 1/4, 1/2",
    ))
}

/// The same decoders, with the radius that each outcome's own variance gives, times `factor`.
fn empirical_bernstein(factor: f64) -> Finding {
    let mut tally = Tally::default();
    for m in [16u64, 32, 64] {
        let rates = eighths(m);
        for delta in [0.0625, 0.25, 0.5] {
            let radius = |hits: u64| {
                let mut values = vec![0.0; m as usize];
                values[..hits as usize].fill(1.0);
                let variance = sample_variance_up(&values).ok()?;
                rational(factor * empirical_bernstein_error(m, 2, variance, delta).ok()?)
            };
            let radii: Vec<Option<BigRational>> = (0..=m).map(radius).collect();
            for (p, points) in &rates {
                let beyond = failure(points, |hits| {
                    let off = (fraction(hits, m) - p).abs();
                    radii[hits as usize]
                        .as_ref()
                        .is_none_or(|radius| off > *radius)
                });
                let holds = rational(delta).is_some_and(|delta| beyond <= delta);
                tally.case(holds, || format!("M = {m}, p = {p}, δ = {delta}"));
            }
        }
    }
    tally.finding(
        "decoders certain of one class, posterior mass k/8, M = 16, 32, 64, δ = 1/16, 1/4, 1/2",
    )
}

fn within(cx: &Context<'_>) -> Outcome {
    let mut evidence = Vec::new();
    let mut holds = true;
    for row in cx.rows("tab:thm2") {
        holds &= !cx.exceeds(&format!("[{row}/p95]"), &format!("[{row}/bound]"))?;
        let (p95, bound) = (
            cx.number(&format!("{row}/p95"))?,
            cx.number(&format!("{row}/bound"))?,
        );
        evidence.push(format!("{}: {p95} ≤ {bound}", row_name(&row)));
    }
    Ok(Finding::decided(
        holds,
        "percentiles within bounds",
        "compared row by row",
        evidence,
    ))
}

fn rate(cx: &Context<'_>, column: &str, what: &str) -> Outcome {
    let slope = format!(
        "slope{{on logarithmic axes}}(each row of tab:thm2: ln([@/M]); \
         each row of tab:thm2: ln({column}))"
    );
    Ok(Finding::decided(
        cx.agree(&slope, "0 - 1/2")?,
        "slope −1/2",
        format!("slope {} of the {what}", cx.show(&slope, 3)?),
        vec![cx.line(&slope, 3)?],
    ))
}

fn below_p95(cx: &Context<'_>) -> Outcome {
    let least = "least{of}(each row of tab:thm2: [@/bound]/[@/p95])";
    let most = "most{of}(each row of tab:thm2: [@/bound]/[@/p95])";
    let inside = !cx.exceeds("[sec:exp-thm2/below/least]", least)?
        && !cx.exceeds(most, "[sec:exp-thm2/below/most]")?;
    Ok(Finding::decided(
        inside,
        "3 to 10 times",
        format!(
            "least ratio {}, largest {}",
            cx.show(least, 1)?,
            cx.show(most, 1)?
        ),
        vec![cx.line(least, 2)?, cx.line(most, 2)?],
    ))
}

fn sizes(cx: &Context<'_>) -> Outcome {
    let listed = cx.paper.paper().under("sec:exp-thm2/M/").count();
    let stated = cx.number("abstract/sample-sizes")?;
    Ok(Finding::decided(
        stated.value() == BigRational::from_integer(listed.into()),
        format!("{stated} sizes"),
        format!("{listed} listed"),
        Vec::new(),
    ))
}

fn falls(cx: &Context<'_>) -> Outcome {
    let mut rising = Vec::new();
    for column in ["mean", "sd", "p95"] {
        for pair in cx.rows("tab:thm2").windows(2) {
            let [before, after] = [&pair[0], &pair[1]].map(|row| format!("[{row}/{column}]"));
            if !cx.exceeds(&before, &after)? {
                rising.push(format!("{column} at {}", row_name(&pair[1])));
            }
        }
    }
    let found = match rising.is_empty() {
        true => "in every column and row".to_owned(),
        false => rising.join(", "),
    };
    Ok(Finding::decided(
        rising.is_empty(),
        "falls with M",
        found,
        Vec::new(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;

    #[test]
    fn a_radius_a_fifth_as_large_is_refuted() {
        let kind = |factor| empirical_bernstein(factor).verdict.kind();
        assert_eq!(
            (kind(1.0), kind(0.2)),
            (VerdictKind::Checked, VerdictKind::Refuted)
        );
    }
}
