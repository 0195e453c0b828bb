//! Theorem 3, what stands in its place, and its experiment.

use num_bigint::BigInt;

use super::exact::{Tally, eighths, failure, fraction, fractions};
use super::lemmas::UNSEEN_VALUES;
use super::{Check, Context, Outcome, of_witness, row_name};
use crate::bounds::{clopper_pearson_upper, memorizing_learner, pac_bayes_kl};
use crate::ledger::verdict::Finding;
use crate::math::rational;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T3", generalization),
    ("T3'", |_| Ok(held_out_and_pac_bayes(1.0, 1))),
    ("T3.parameters", parameters),
    ("T3.overparameterized", overparameterized),
    ("T3.nonvacuous", nonvacuous),
    ("T3.condition", condition),
    ("T3.hidden", hidden),
    ("T3.few-shot", few_shot),
    ("T3.stability", stability),
    ("T3.shrinks", shrinks),
    ("T3.accuracy", accuracy),
];

fn generalization(cx: &Context<'_>) -> Outcome {
    let delta = cx.number("sec:thm1/delta")?.value();
    let (n, d) = (cx.count("sec:exp-thm3/N")?, cx.count("sec:exp-thm3/d_eff")?);
    // A quarter of the inputs are fresh: some 1050 of 4200, which fit into 1335 memories.
    let witness = memorizing_learner(n, d, &fraction(1, 4), UNSEEN_VALUES, &delta);
    of_witness(
        witness,
        "a learner that memorizes, at the printed N and d_eff",
    )
}

/// One model on held-out examples; then two models with independent losses of which the better on
/// the training examples is taken, so that `KL = ln 2`. All outcomes, weighted exactly; the bounds
/// are made for `looser·δ` and for `more` times as many examples.
fn held_out_and_pac_bayes(looser: f64, more: u64) -> Finding {
    let mut tally = Tally::default();
    for n in 1..=12u64 {
        let rates = eighths(n);
        for delta in [0.0625, 0.25, 0.5] {
            let limits = (0..=n).map(|errors| clopper_pearson_upper(errors, n, looser * delta));
            let Some((limits, level)) = fractions(limits).zip(rational(delta)) else {
                return Finding::not_reproducible("no limit", Vec::new());
            };
            for (p, points) in &rates {
                let missed = failure(points, |errors| limits[errors as usize] < *p);
                tally.case(missed <= level, || {
                    format!("held out: n = {n}, p = {p}, δ = {delta}")
                });
            }
        }
    }
    for n in [4u64, 8, 16] {
        let rates = eighths(n);
        for delta in [0.0625, 0.25, 0.5] {
            let divergence = std::f64::consts::LN_2.next_up();
            let bounds = (0..=n)
                .map(|errors| pac_bayes_kl(errors as f64 / n as f64, more * n, divergence, delta));
            let Some((bounds, level)) = fractions(bounds).zip(rational(delta)) else {
                return Finding::not_reproducible("no bound", Vec::new());
            };
            for (first, second) in rates.iter().flat_map(|p| rates.iter().map(move |q| (p, q))) {
                let mut missed = fraction(0, 1);
                for (a, b) in (0..=n).flat_map(|a| (0..=n).map(move |b| (a, b))) {
                    let (errors, truth) = if a <= b {
                        (a, &first.0)
                    } else {
                        (b, &second.0)
                    };
                    if bounds[errors as usize] < *truth {
                        missed += &first.1[a as usize] * &second.1[b as usize];
                    }
                }
                tally.case(missed <= level, || {
                    format!(
                        "two models: n = {n}, {} and {}, δ = {delta}",
                        first.0, second.0
                    )
                });
            }
        }
    }
    tally.finding(
        "error rates k/8, δ = 1/16, 1/4, 1/2: one model on 1 to 12 held-out examples, and the better \
         of two models on 4, 8 and 16 training examples",
    )
}

fn parameters(cx: &Context<'_>) -> Outcome {
    let hidden = cx.number("sec:exp-thm3/hidden")?;
    let total = cx.number("sec:exp-thm3/parameters")?;
    let reason =
        format!("{total} parameters with {hidden} hidden units: the layers are not printed");
    let published = cx.line("parameters{at hidden}([sec:exp-thm3/hidden])", 0)?;
    let line = format!("the published implementation, with latent dimension 64: {published}");
    Ok(Finding::not_reproducible(reason, vec![line]))
}

fn overparameterized(cx: &Context<'_>) -> Outcome {
    let ratio = "[sec:exp-thm3/ratio/N]/[sec:exp-thm3/ratio/d_eff]";
    let printed = "sec:exp-thm3/samples-per-dimension";
    let name = Finding::decided(
        cx.agree(&format!("[{printed}]"), ratio)?,
        format!("ratio {}", cx.number(printed)?),
        format!("N/d_eff = {}", cx.show(ratio, 3)?),
        vec![cx.line(ratio, 3)?],
    );
    let more_parameters = Finding::decided(
        !cx.exceeds(ratio, "1")?,
        "over-parameterization",
        format!(
            "{} samples for each effective parameter",
            cx.show(ratio, 2)?
        ),
        vec![cx.line(ratio, 3)?],
    );
    Ok(Finding::by_reading(vec![
        ("a name for N/d_eff", name),
        ("more effective parameters than samples", more_parameters),
    ]))
}

fn nonvacuous(cx: &Context<'_>) -> Outcome {
    let (trivial, wrong) = ("ln([sec:thm1/classes])", "1 - 1/[sec:thm1/classes]");
    let mut evidence = vec![
        format!("log loss of a uniform guess: {}", cx.line(trivial, 3)?),
        format!(
            "its error rate, if that is the loss: {}",
            cx.line(wrong, 3)?
        ),
    ];
    let mut holds = true;
    for row in cx.rows("tab:thm3") {
        let sum = format!("[{row}/train] + [{row}/bound]");
        holds &= cx.exceeds(trivial, &sum)? && cx.exceeds(wrong, &sum)?;
        evidence.push(format!("{}: {}", row_name(&row), cx.line(&sum, 3)?));
    }
    Ok(Finding::decided(
        holds,
        "informative at all sizes",
        "compared with the loss of a uniform guess",
        evidence,
    ))
}

fn condition(cx: &Context<'_>) -> Outcome {
    // One sample for each effective dimension, well below the factor that is said to be needed.
    let d = "[sec:exp-thm3/d_eff]";
    let at_one = format!(
        "√(2·([tab:thm3/N=2002/train] + 1/{d})·({d}·(1 + ln({d}/{d})) + ln(2/[sec:thm1/delta]))/{d})"
    );
    let factor = "[app:proof-thm3/factor]";
    let from = format!(
        "√(2·([tab:thm3/N=2002/train] + 1/({factor}·{d}))·({d}·(1 + ln({factor})) + \
         ln(2/[sec:thm1/delta]))/({factor}·{d}))"
    );
    let enough = Finding::decided(
        cx.exceeds("1", &from)?,
        format!(
            "informative from N = {}·d_eff on",
            cx.number("app:proof-thm3/factor")?
        ),
        format!(
            "the formula gives {} there and less beyond",
            cx.show(&from, 3)?
        ),
        vec![cx.line(&from, 3)?],
    );
    let evidence = vec![format!("N = d_eff: {}", cx.line(&at_one, 3)?)];
    let refuted = cx.exceeds(factor, "1")? && cx.exceeds("1", &at_one)?;
    let needed = if refuted {
        let witness = format!(
            "at N = d_eff, a factor of 1 and not {}, the formula gives {}",
            cx.number("app:proof-thm3/factor")?,
            cx.show(&at_one, 3)?
        );
        Finding::refuted(witness, evidence)
    } else {
        Finding::reproduced("not below one at N = d_eff", evidence)
    };
    Ok(Finding::by_reading(vec![
        ("so many samples are enough", enough),
        ("so many samples are needed", needed),
    ]))
}

fn hidden(cx: &Context<'_>) -> Outcome {
    // d·ln(eN/d) has the derivative ln(N/d): it is largest at d = N, where it is N.
    let n = "[sec:exp-thm3/N]";
    let worst = format!("√(2·([sec:exp-thm3/train] + 1/{n})·({n} + ln(2/[sec:thm1/delta]))/{n})");
    let wide = cx.number("sec:limitations-practical/hidden-vacuous")?;
    let best = cx.number("sec:limitations-practical/hidden-best")?;
    let evidence = vec![
        "d·ln(eN/d) has the derivative ln(N/d), so it is at most N, at d = N; for d > eN it is negative \
         and the formula ends"
            .to_owned(),
        format!("largest over all d: {}", cx.line(&worst, 3)?),
    ];
    Ok(if wide.value() > best.value() && cx.exceeds("1", &worst)? {
        let most = cx.show(&worst, 3)?;
        Finding::not_reproducible(
            format!(
                "the d_eff of {wide} hidden units is not printed; up to d_eff = e·N the formula is at most {most}, \
                 beyond that it is undefined"
            ),
            evidence,
        )
    } else {
        Finding::reproduced("the formula exceeds one for some d_eff", evidence)
    })
}

fn few_shot(cx: &Context<'_>) -> Outcome {
    let complexity = "[sec:exp-thm3/d_eff]·(1 + ln([sec:limitations-assumptions/few-shot]\
                      /[sec:exp-thm3/d_eff])) + ln(2/[sec:thm1/delta])";
    Ok(Finding::decided(
        cx.exceeds("0", complexity)?,
        "no coverage",
        format!(
            "the root's argument has the sign of {}",
            cx.show(complexity, 0)?
        ),
        vec![cx.line(complexity, 1)?],
    ))
}

fn stability(cx: &Context<'_>) -> Outcome {
    let bound = "2/([sec:exp-thm3/lambda]·[sec:exp-thm3/N])";
    let evidence = vec![cx.line(bound, 2)?];
    let shown = cx.show(bound, 2)?;
    Ok(if cx.exceeds("1", bound)? {
        Finding::reproduced(format!("gap at most {shown} for L = 1"), evidence)
    } else {
        let reason = format!(
            "gap ≤ {shown}·L: neither L nor the loss is printed; for a loss in [0, 1] it says something where L is \
             below {}",
            cx.show(&format!("1/({bound})"), 2)?
        );
        Finding::not_reproducible(reason, evidence)
    })
}

fn shrinks(cx: &Context<'_>) -> Outcome {
    let mut holds = true;
    let mut bounds = Vec::new();
    let rows = cx.rows("tab:thm3");
    for row in &rows {
        bounds.push(cx.number(&format!("{row}/bound"))?.to_string());
    }
    for pair in rows.windows(2) {
        holds &= cx.exceeds(
            &format!("[{}/bound]", pair[0]),
            &format!("[{}/bound]", pair[1]),
        )?;
    }
    let growth = "[tab:thm3/N=4200/gap] - [tab:thm3/N=3003/gap]";
    let error = "√(([sec:exp-thm3/test.sd]·[sec:exp-thm3/test.sd] \
                 + [sec:exp-thm3/train.sd]·[sec:exp-thm3/train.sd])/[sec:exp-thm3/trials])";
    Ok(Finding::decided(
        holds,
        "the bound tightens",
        format!(
            "{}; the gap itself grew by {} from N = 3003 to 4200, where the standard error of the last gap alone is {}",
            bounds.join(", "),
            cx.show(growth, 4)?,
            cx.show(error, 5)?
        ),
        vec![cx.line(growth, 4)?, cx.line(error, 5)?],
    ))
}

fn accuracy(cx: &Context<'_>) -> Outcome {
    let printed = cx.number("sec:exp-thm3/accuracy")?;
    let (low, high) = printed.interval();
    let answers =
        cx.number("sec:exp-thm3/test-size")?.value() * cx.number("sec:exp-thm3/trials")?.value();
    let first: BigInt = (low * &answers).ceil().to_integer();
    let last: BigInt = (high * &answers).floor().to_integer();
    Ok(Finding::decided(
        first <= last && answers > fraction(0, 1),
        format!("accuracy {printed}"),
        format!("{first} to {last} right answers of {answers} round to it"),
        Vec::new(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;

    #[test]
    fn a_limit_for_another_level_and_a_bound_for_more_examples_are_refuted() {
        for (looser, more) in [(1.9, 1), (1.0, 16)] {
            let finding = held_out_and_pac_bayes(looser, more);
            assert_eq!(
                finding.verdict.kind(),
                VerdictKind::Refuted,
                "{looser} {more}"
            );
        }
    }
}
