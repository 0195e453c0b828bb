//! Theorem 6, what stands in its place, and its experiment.

use super::exact::{Tally, compositions, fraction};
use super::t1::ITEMS;
use super::{Check, Context, Outcome, of_witness, row_name};
use crate::bounds::{
    Joint, Witness, bayes_error_bound, bayes_error_exact, bayes_error_floor, chernoff_information,
    leaning_items, too_few_items, tuple,
};
use crate::ledger::LedgerError;
use crate::ledger::paper::Printed;
use crate::ledger::verdict::Finding;
use crate::math::{Enclosure, rational};
use crate::simplex::Distribution;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("T6", enough_items),
    ("T6'", |_| {
        let mut finding = chernoff(0);
        finding.evidence.extend(exponents(401));
        Ok(finding)
    }),
    ("T6.sigma", sigma),
    ("T6.vacuous", vacuous),
    ("T6.residuals", residuals),
    ("T6.plateau", plateau),
    ("T6.identical", identical),
    ("T6.decay", decay),
    ("T6.curve", curve),
    ("T6.compared", compared),
    ("T6.baseline", baseline),
    ("T6.at-five", at_five),
    ("T6.measured", |cx| {
        cx.unpublished(&[
            ("sec:exp-thm6/trials", "trials"),
            (
                "tab:implementation/T6/N",
                "entities of a model that is not published",
            ),
        ])
    }),
];

const TABLE: &str = "tab:thm6";

fn enough_items(cx: &Context<'_>) -> Outcome {
    let delta = cx.number("sec:thm1/delta")?.value();
    // The largest variance of a variable in [0, 1], which asks for the most items.
    let (variance, target) = (fraction(1, 4), fraction(3, 10));
    let prior = [fraction(2, 3), fraction(1, 3)];
    let witness = (1..=ITEMS)
        .filter_map(|items| too_few_items(&prior, items, &variance, &target, &delta))
        .find(Witness::refutes);
    let prior = tuple(&prior);
    let mut finding = of_witness(
        witness,
        &format!("items that say nothing, prior {prior}, as many as the theorem asks for"),
    )?;
    finding.evidence.extend(within_few(cx)?);
    finding.evidence.extend(not_needed(cx)?);
    Ok(finding)
}

/// Within assumption 5, and with the variance that the factors have: `None` where the claim holds.
fn within_few(cx: &Context<'_>) -> Result<Option<String>, LedgerError> {
    let delta = cx.number("sec:thm1/delta")?.value();
    let most = cx.number("sec:assumptions/K_max")?;
    let few = (1..=5).find_map(|items: u32| {
        let witness = leaning_items(items, &fraction(1, 10), &delta).filter(Witness::refutes)?;
        (fraction(items.into(), 1) <= most.value()).then_some((items, witness))
    });
    Ok(few.map(|(items, witness)| {
        format!(
            "within the {most} items of assumption 5, K = {items}, and with the factors' own variance: {:.6} > \
             {:.6}; {}",
            witness.quantity.approx(),
            witness.bound.approx(),
            witness.steps.join(" ")
        )
    }))
}

/// The other sense of "requires": a fair coin and one item that is right three times in four, with its
/// exact factor. `None` where the factor has a calibration error.
fn not_needed(cx: &Context<'_>) -> Result<Option<String>, LedgerError> {
    let (half, right, wrong) = (fraction(1, 2), fraction(3, 4), fraction(1, 4));
    let item = vec![
        vec![right.clone(), wrong.clone()],
        vec![wrong.clone(), right.clone()],
    ];
    let world = Joint::independent(&[half.clone(), half], &[item]);
    let error = world.and_then(|world| {
        let factor = |e: &[usize]| world.factor(0, e[0]).unwrap_or_default();
        world.calibration_error(factor)
    });
    // The factor's entry is 3/4 or 1/4, each half of the time: its variance is 1/16.
    let needed = cx.line("(1/8)·(ln(2·2/[sec:thm1/delta])/(1/10·(1/10)))", 1)?;
    let line = format!(
        "nor is the number needed: a fair coin and one item, right three times in four, whose exact \
         factor is {} or {}: ECE = 0, though for ε = 1/10 and σ² = 1/16 the claim asks for C²/ε² = \
         {needed} items",
        tuple(&[right.clone(), wrong.clone()]),
        tuple(&[wrong, right])
    );
    Ok(error.filter(|e| *e == fraction(0, 1)).map(|_| line))
}

/// The exact error of the best decision against both bounds. Quarters and eighths are doubles, so
/// that the bounds speak of the same distributions. The upper bound is taken for `more` items more.
fn chernoff(more: u64) -> Finding {
    let mut tally = Tally::default();
    let both = |parts: &[u64], denominator: u64| {
        let exact = parts.iter().map(|&n| fraction(n, denominator)).collect();
        let double = parts
            .iter()
            .map(|&n| n as f64 / denominator as f64)
            .collect();
        Distribution::new(exact)
            .ok()
            .zip(Distribution::new(double).ok())
    };
    let decide = |prior: &[u64], rows: &[Vec<u64>], items: u32| -> Option<bool> {
        let (exact_prior, prior) = both(prior, 4)?;
        let rows: Option<Vec<_>> = rows.iter().map(|row| both(row, 4)).collect();
        let (exact_rows, rows): (Vec<_>, Vec<_>) = rows?.into_iter().unzip();
        let error = bayes_error_exact(&exact_prior, &exact_rows, items).ok()?;
        let upper = rational(bayes_error_bound(&prior, &rows, more + u64::from(items)).ok()?)?;
        let floor = match prior.classes() {
            2 => rational(bayes_error_floor(&prior, &rows, items.into()).ok()?)?,
            _ => fraction(0, 1),
        };
        Some(floor <= error && error <= upper)
    };
    for (classes, symbols, most) in [(2, 2, 6), (2, 3, 2), (3, 2, 4)] {
        let symbols = compositions(4, symbols, 0);
        let pairs = || {
            symbols
                .iter()
                .flat_map(|p| symbols.iter().map(move |q| vec![p, q]))
        };
        for prior in compositions(4, classes, 1) {
            for pair in pairs() {
                let mut rows: Vec<Vec<u64>> = pair.into_iter().cloned().collect();
                // A third class whose items say nothing about which of the symbols comes.
                rows.resize(classes, symbols[symbols.len() / 2].clone());
                for items in 0..=most {
                    let holds = decide(&prior, &rows, items) == Some(true);
                    tally.case(holds, || {
                        format!("prior {prior:?}/4, items {rows:?}/4, K = {items}")
                    });
                }
            }
        }
    }
    tally.finding(
        "two classes with two or three symbols and three classes with two, priors and likelihoods \
         with denominator 4, K up to 6, 2 and 4",
    )
}

/// How fast the exact error, part 1 and part 2 fall with `items` items, for a fair coin and items right
/// three times in four.
fn exponents(items: u32) -> Option<String> {
    let distribution = |n: u64, d: u64| {
        let exact = vec![fraction(n, d), fraction(d - n, d)];
        let double = vec![n as f64 / d as f64, (d - n) as f64 / d as f64];
        Distribution::new(exact)
            .ok()
            .zip(Distribution::new(double).ok())
    };
    let ((fair, prior), (first, p), (second, q)) = (
        distribution(1, 2)?,
        distribution(3, 4)?,
        distribution(1, 4)?,
    );
    let error = bayes_error_exact(&fair, &[first, second], items).ok()?;
    let likelihoods = [p, q];
    let floor = bayes_error_floor(&prior, &likelihoods, items.into()).ok()?;
    let rate = |x: f64| -crate::math::ln(x) / f64::from(items);
    let information = chernoff_information(&likelihoods[0], &likelihoods[1]).ok()?;
    Some(format!(
        "a fair coin, {items} items right three times in four: the exact error falls like exp(−{:.4}·K), part 1 \
         like exp(−{information:.4}·K), part 2 like exp(−{:.4}·K): part 1's exponent is the sharp one, part 2's \
         twice as large",
        rate(Enclosure::exact(error).approx()),
        rate(floor)
    ))
}

fn sigma(cx: &Context<'_>) -> Outcome {
    let root = "√(2·ln(2·[sec:thm1/classes]/[sec:thm1/delta]))";
    let needed = format!("[tab:thm6/K=1/bound]/{root}");
    Ok(Finding::decided(
        !cx.exceeds(&needed, "1/2")?,
        format!(
            "bound {} at K = 1, so C, with ε₀ = 0",
            cx.number("tab:thm6/K=1/bound")?
        ),
        format!("needs σ = {}, but σ ≤ 0.5", cx.show(&needed, 2)?),
        vec![
            cx.line(&needed, 3)?,
            format!(
                "largest C, at σ = 1/2: {}",
                cx.line(&format!("{root}/2"), 3)?
            ),
        ],
    ))
}

fn vacuous(cx: &Context<'_>) -> Outcome {
    let mut evidence = Vec::new();
    let (mut informative, mut below) = (0, true);
    for row in cx.rows(TABLE) {
        let bound = format!("[{row}/bound]");
        informative += usize::from(cx.exceeds("1", &bound)?);
        below &= !cx.exceeds(&format!("[{row}/ece]"), &bound)?;
        let (ece, bound) = (
            cx.number(&format!("{row}/ece"))?,
            cx.number(&format!("{row}/bound"))?,
        );
        evidence.push(format!("{}: {ece} ≤ {bound}", row_name(&row)));
    }
    let ratio = "([tab:thm6/K=1/bound]/[tab:thm6/K=20/ece])";
    evidence.push(format!(
        "for the bound to be the plateau's error {}, reached with {} items, it would take {} items",
        cx.number("tab:thm6/K=20/ece")?,
        cx.number("tab:thm6/K=7/K")?,
        cx.show(&format!("{ratio}·{ratio}"), 0)?
    ));
    let least = cx.number("tab:thm6/K=20/bound")?;
    Ok(if !below {
        Finding::inconsistent("errors below bounds", "an error above its bound", evidence)
    } else if informative == 0 {
        Finding::vacuous(format!("ECE ≤ {least} and more"), "ECE ≤ 1", evidence)
    } else {
        Finding::reproduced(format!("{informative} bounds are below one"), evidence)
    })
}

fn residuals(cx: &Context<'_>) -> Outcome {
    let rows = cx.rows(TABLE);
    let mut evidence = Vec::new();
    let mut missed = 0;
    for row in &rows {
        let fitted = format!("[sec:exp-thm6/fit/slope]/√[{row}/K] + [sec:exp-thm6/fit/floor]");
        let off = format!("[{row}/ece] - ({fitted})");
        let beyond = cx.exceeds(&off, &format!("2·[{row}/ece.sd]"))?
            || cx.exceeds(&format!("0 - 2·[{row}/ece.sd]"), &off)?;
        missed += usize::from(beyond);
        evidence.push(format!(
            "{}: {} ± {} measured, {} fitted{}",
            row_name(row),
            cx.number(&format!("{row}/ece"))?,
            cx.number(&format!("{row}/ece.sd"))?,
            cx.show(&fitted, 3)?,
            if beyond {
                ", beyond two deviations"
            } else {
                ""
            }
        ));
    }
    let count = rows.len();
    let within = Finding::decided(
        missed == 0,
        "a strong fit",
        format!("{missed} of {count} rows lie beyond two deviations of the curve"),
        evidence,
    );
    let share = Finding::decided(
        cx.exceeds("[sec:exp-thm6/R2]", "1/2")?,
        "a strong fit",
        format!("R² = {}", cx.number("sec:exp-thm6/R2")?),
        Vec::new(),
    );
    Ok(Finding::by_reading(vec![
        ("it explains most of the variance of the means", share),
        ("it passes within two deviations of each mean", within),
    ]))
}

/// The first count from which on every row prints the same error.
fn plateau(cx: &Context<'_>) -> Outcome {
    let last = cx.number("tab:thm6/K=20/ece")?;
    let mut start = "tab:thm6/K=20".to_owned();
    for row in cx.rows(TABLE).into_iter().rev() {
        if cx.number(&format!("{row}/ece"))? != last {
            break;
        }
        start = row;
    }
    Ok(Finding::decided(
        cx.agree("[sec:exp-thm6/plateau]", &format!("[{start}/K]"))?,
        format!("plateau at {}", cx.number("sec:exp-thm6/plateau")?),
        format!("{last} from {} on", row_name(&start)),
        Vec::new(),
    ))
}

fn identical(cx: &Context<'_>) -> Outcome {
    let mut rows: Vec<(Printed, Printed)> = Vec::new();
    let mut evidence = Vec::new();
    for k in [7, 10, 15, 20] {
        let mean = cx.number(&format!("{TABLE}/K={k}/ece"))?;
        let spread = cx.number(&format!("{TABLE}/K={k}/ece.sd"))?;
        evidence.push(format!("K = {k}: {mean} ± {spread}"));
        rows.push((mean, spread));
    }
    let most = format!("up to {} items", cx.number("tab:thm6/K=20/K")?);
    let same = rows.windows(2).all(|pair| pair[0] == pair[1]);
    let found = match same {
        true => "four rows with the same mean and deviation",
        false => "rows that differ",
    };
    let capped = Finding::decided(same, most.clone(), found, evidence.clone());
    let counted = Finding::decided(!same, most, found, evidence);
    Ok(Finding::by_reading(vec![
        (
            "as many at most, of entities that have no more than 7",
            capped,
        ),
        ("with that many items for each entity", counted),
    ]))
}

/// Up to the plateau; a rise within one printed deviation does not count.
fn decay(cx: &Context<'_>) -> Outcome {
    let mut rise = None;
    let mut evidence = Vec::new();
    for pair in cx.rows(TABLE).windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|row| format!("{row}/ece"));
        let step = format!(
            "{} to {}: {} to {}",
            row_name(&pair[0]),
            row_name(&pair[1]),
            cx.number(&before)?,
            cx.number(&after)?
        );
        if cx.exceeds(
            &format!("[{after}]"),
            &format!("[{before}] + [{before}.sd]"),
        )? {
            rise.get_or_insert(step.clone());
        }
        evidence.push(step);
    }
    Ok(match rise {
        None => Finding::reproduced("no rise beyond one deviation", evidence),
        Some(step) => Finding::inconsistent("the error falls to a plateau", step, evidence),
    })
}

fn curve(cx: &Context<'_>) -> Outcome {
    let named = cx.words("fig:sample-complexity/curve");
    let same_fit = cx.agree(
        "[fig:sample-complexity/fit/slope]",
        "[sec:exp-thm6/fit/slope]",
    )?;
    Ok(Finding::decided(
        named == "LPF-SPN",
        format!("{named} in the caption"),
        "LPF-SPN in the table's header",
        vec![format!("the figure's fit is the table's: {same_fit}")],
    ))
}

/// How many counts the comparison lists.
const COMPARED: usize = 4;

fn compared(cx: &Context<'_>) -> Outcome {
    let from = cx.number("fig:sample-complexity/uniform-from")?;
    let mut missing = Vec::new();
    for index in 1..=COMPARED {
        let k = cx.number(&format!("fig:sample-complexity/compared/{index}"))?;
        if k.value() < from.value() {
            missing.push(k.to_string());
        }
    }
    Ok(Finding::decided(
        missing.len() < COMPARED,
        format!("baseline from K = {from} on"),
        format!("LPF alone at K = {}", missing.join(", ")),
        Vec::new(),
    ))
}

fn baseline(cx: &Context<'_>) -> Outcome {
    Ok(Finding::decided(
        cx.exceeds("[tab:thm6/K=5/ece]", "[sec:exp-thm6/uniform-ece]")?,
        format!("uniform {}", cx.number("sec:exp-thm6/uniform-ece")?),
        format!("LPF-SPN {}", cx.number("tab:thm6/K=5/ece")?),
        Vec::new(),
    ))
}

/// The error at K = 5 where it is printed beside others; theorem 1's experiment has another.
fn at_five(cx: &Context<'_>) -> Outcome {
    let caption = "tab:theoretical-comparison/caption/ece";
    let printed = format!("{} at K = 5 (Table 9, caption)", cx.number(caption)?);
    let against = |cell: &str, what: &str| -> Outcome {
        Ok(Finding::decided(
            // Two printings of one number have the same digits.
            cx.number(caption)?.value() == cx.number(cell)?.value(),
            printed.clone(),
            format!("{} {what}", cx.number(cell)?),
            Vec::new(),
        ))
    };
    Ok(Finding::by_reading(vec![
        (
            "theorem 1's experiment, whose bound has K_eff = 5",
            against("sec:exp-thm1/ece", "in section 6.1")?,
        ),
        (
            "theorem 6's experiment, which has a row K = 5",
            against(
                "tab:thm6/K=5/ece",
                "in Table 6, as in Table 10 and section 3.6",
            )?,
        ),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;

    #[test]
    fn the_bound_for_five_items_more_is_refuted() {
        assert_eq!(chernoff(5).verdict.kind(), VerdictKind::Refuted);
    }
}
