//! The assumptions, and what the paper's numbers say about them.

use num_rational::BigRational;

use super::exact::{distributions, fraction};
use super::{Check, Context, Outcome, author, row_name};
use crate::aggregate::{AS_SEEN, CLASS, naive_bayes};
use crate::bounds::{dependence_calibration_error, gaussian_total_correlation};
use crate::ledger::paper::Printed;
use crate::ledger::verdict::{Finding, VerdictKind};
use crate::math::Enclosure;
use crate::spn::{Builder, Evidence};

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("A1", author::independence),
    ("A2", variance),
    ("A3", decoder),
    ("A4", validity),
    ("A5", finite),
    ("A5.sources", sources),
    ("A6", floor),
    ("A6.measured", author::floor),
    ("A6.entropy", entropy),
    ("A6.loss", loss),
    ("A6.aleatoric", aleatoric),
    ("A.summary", summary),
];

/// The floor of A6, `1/(2|Y|)`.
const SMALLEST: &str = "1/(2·[sec:thm1/classes])";

/// What is left for one class when all others are at the floor, `1 − (|Y| − 1)/(2|Y|)`.
const LARGEST: &str = "(1 - ([sec:thm1/classes] - 1)·(1/(2·[sec:thm1/classes])))";

fn id(name: &str) -> String {
    format!("sec:assumption-validation/{name}")
}

fn of(name: &str) -> String {
    format!("[{}]", id(name))
}

/// What dependence may cost by E1: Gaussian items of which every two have this correlation.
pub(super) fn price(rho: &Printed) -> Vec<String> {
    let correlation = Enclosure::exact(rho.value()).approx();
    let mut lines = Vec::new();
    for items in [5, 10] {
        let total = gaussian_total_correlation(items, correlation);
        if let Ok(error) = total.and_then(dependence_calibration_error) {
            lines.push(format!(
                "by E1, proved for finitely many outcomes and taken for Gaussian items here, the printed correlation \
                 {rho} may cost the prior-corrected product of {items} items a calibration error of up to {error:.3}"
            ));
        }
    }
    lines
}

fn variance(cx: &Context<'_>) -> Outcome {
    let [mean, most, limit] = ["A2/mean", "A2/max", "A2/sigma_max"];
    Ok(Finding::decided(
        !cx.exceeds(&of(mean), &of(most))? && !cx.exceeds(&of(most), &of(limit))?,
        "bounded",
        format!(
            "{} ≤ {} ≤ {}",
            cx.number(&id(mean))?,
            cx.number(&id(most))?,
            cx.number(&id(limit))?
        ),
        Vec::new(),
    ))
}

fn decoder(cx: &Context<'_>) -> Outcome {
    let error = cx.number(&id("A3/epsilon"))?;
    if !cx.exceeds(&of("A3/epsilon"), "0")? {
        return Ok(Finding::reproduced("no calibration error", Vec::new()));
    }
    Ok(Finding::not_reproducible(
        format!("no tolerance is printed that an error of {error} could be held against"),
        Vec::new(),
    ))
}

/// The network that stage 4 computes, and what lemma 3 alone would give.
fn validity(_: &Context<'_>) -> Outcome {
    let third = || fraction(1, 3);
    let factors = distributions(3, 4, 0);
    let one = factors.iter().map(|first| vec![first.clone()]);
    let two = factors.iter().flat_map(|first| {
        let both = |second: &Vec<BigRational>| vec![first.clone(), second.clone()];
        factors.iter().map(both)
    });
    let (mut networks, mut exact) = (0, true);
    for chosen in one.chain(two) {
        networks += 1;
        exact &= values_are_the_product(&[third(), third(), third()], &chosen) == Some(true);
    }
    // A sum over two variables of which each child knows one: all leaves are distributions.
    let halves = [fraction(1, 2), fraction(1, 2)];
    let incomplete = Builder::new(&[2, 2]).and_then(|mut builder| {
        let first = builder.leaf(0, &halves)?;
        let second = builder.leaf(1, &halves)?;
        let [half, other] = halves.clone();
        let root = builder.sum(&[(first, half), (second, other)])?;
        builder.build(root)
    });
    let from_lemma = match incomplete {
        Err(defect) => Finding::refuted(
            "a mixture of two fair coins with names of their own: its leaves are distributions, and it is not \
             complete",
            vec![defect.to_string()],
        ),
        Ok(_) => Finding::not_reproducible("no incomplete network was found", Vec::new()),
    };
    Ok(Finding::by_reading(vec![
        (
            "of the network that stage 4 computes, with a leaf for the likelihood of each item",
            Finding::decided(
                exact,
                "complete and decomposable",
                format!(
                    "{networks} networks of one and two items are, and their values given the items are the \
                     product exactly"
                ),
                vec!["the paper does not print its network; `aggregate::naive_bayes` builds this one".to_owned()],
            ),
        ),
        ("completeness follows from lemma 3, whatever the network", from_lemma),
    ]))
}

/// Whether the naive Bayes network of a uniform prior and of likelihoods proportional to the factors is
/// complete and decomposable, and its values at the classes are the product; `None` where it is not valid.
fn values_are_the_product(prior: &[BigRational], factors: &[Vec<BigRational>]) -> Option<bool> {
    let network = naive_bayes(prior, factors).ok()?;
    let mut equal = true;
    for class in 0..prior.len() {
        let mut evidence = Evidence::none(&network);
        evidence.observe(CLASS, class).ok()?;
        for item in 0..factors.len() {
            evidence.observe(item + 1, AS_SEEN).ok()?;
        }
        let product = factors.iter().map(|factor| &factor[class]);
        let product = product.fold(prior[class].clone(), |product, p| product * p);
        equal &= network.evaluate(&evidence).ok()? == product;
    }
    Some(equal)
}

fn finite(cx: &Context<'_>) -> Outcome {
    let most = cx.number("sec:assumptions/K_max")?;
    let mut above = Vec::new();
    for (id, theorem) in [
        ("sec:exp-thm1/K_avg", "T1"),
        ("sec:thm4/top-k", "T4"),
        ("sec:exp-thm5/K", "T5"),
    ] {
        let count = cx.number(id)?;
        if count.value() > most.value() {
            above.push(format!("{theorem} with {count}"));
        }
    }
    Ok(Finding::decided(
        above.is_empty(),
        format!("at most {most}"),
        above.join(", "),
        Vec::new(),
    ))
}

fn sources(cx: &Context<'_>) -> Outcome {
    let most = cx.number(&id("A5/K_max-scaling"))?;
    let (low, high) = (
        cx.number(&id("A5/sources-least"))?,
        cx.number(&id("A5/sources-most"))?,
    );
    Ok(Finding::decided(
        most.value() >= high.value() && low.value() <= high.value(),
        format!("{low} to {high} sources"),
        format!("up to {most} items where the count is scaled"),
        Vec::new(),
    ))
}

fn floor(cx: &Context<'_>) -> Outcome {
    let measured = cx.number(&id("A6/floor"))?;
    Ok(Finding::decided(
        !cx.exceeds(SMALLEST, &of("A6/floor"))?,
        format!("{measured} > 1/6"),
        format!("{measured} < {}", cx.show(SMALLEST, 4)?),
        vec![cx.line(SMALLEST, 4)?],
    ))
}

fn entropy(cx: &Context<'_>) -> Outcome {
    // Entropy is concave, so over the simplex cut at the floor it is least at a corner.
    let least = format!(
        "0 - {LARGEST}·(ln({LARGEST})/ln(2)) \
         - ([sec:thm1/classes] - 1)·({SMALLEST})·(ln({SMALLEST})/ln(2))"
    );
    let shown = cx.show(&least, 4)?;
    Ok(Finding::decided(
        !cx.exceeds(&least, "[sec:exp-thm4/H(Y|E)]")?,
        format!("mean entropy {} bits", cx.number("sec:exp-thm4/H(Y|E)")?),
        format!("at least {shown} bits"),
        vec![format!("entropy of (2/3, 1/6, 1/6): {shown}")],
    ))
}

fn loss(cx: &Context<'_>) -> Outcome {
    let least = format!("0 - ln({LARGEST})");
    let loss = cx.number("sec:exp-thm3/train")?;
    let logarithmic = Finding::decided(
        !cx.exceeds(&least, "[sec:exp-thm3/train]")?,
        format!("training loss {loss}"),
        format!("at least {}", cx.show(&least, 3)?),
        vec![cx.line(&least, 4)?],
    );
    // However unsure it is, a decoder may name the right class.
    let errors = Finding::decided(
        !cx.exceeds("[sec:exp-thm3/train]", "1")?,
        format!("training loss {loss}"),
        "any error rate is possible",
        vec![cx.line("1 - [sec:exp-thm3/accuracy]", 3)?],
    );
    Ok(Finding::by_reading(vec![
        ("the loss is the error rate", errors),
        ("the loss is the logarithmic one", logarithmic),
    ]))
}

fn aleatoric(cx: &Context<'_>) -> Outcome {
    let least =
        format!("1 - {LARGEST}·{LARGEST} - ([sec:thm1/classes] - 1)·({SMALLEST})·({SMALLEST})");
    let mut short = false;
    let mut evidence = vec![cx.line(&least, 4)?];
    for row in cx.rows("tab:thm7") {
        short |= cx.exceeds(&least, &format!("[{row}/aleatoric]"))?;
        let printed = cx.number(&format!("{row}/aleatoric"))?;
        evidence.push(format!("{}: {printed}", row_name(&row)));
    }
    Ok(Finding::decided(
        !short,
        "aleatoric variances as printed",
        format!("at least {}", cx.show(&least, 3)?),
        evidence,
    ))
}

fn summary(cx: &Context<'_>) -> Outcome {
    let count = cx.number(&id("assumptions"))?;
    let mut holding = 0;
    let mut evidence = Vec::new();
    for (name, check) in CHECKS.iter().filter(|(name, _)| name.len() == 2) {
        let kind = check(cx)?.verdict.kind();
        holding += i64::from(kind == VerdictKind::Reproduced);
        evidence.push(format!("{name}: {kind}"));
    }
    Ok(Finding::decided(
        count.value() == BigRational::from_integer(holding.into()),
        format!("{count} validated"),
        format!("{holding} follow from the printed numbers"),
        evidence,
    ))
}
