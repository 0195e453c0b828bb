//! The marks of the paper's comparison table, and what it says of LPF in general.

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::exact::{Tally, distributions, fraction, normalized, power};
use super::{Check, Context, Outcome, author};
use crate::bounds::{Joint, tuple};
use crate::ledger::paper::{Account, DependencyGraph, Node};
use crate::ledger::verdict::Finding;
use crate::simplex::linear_combination;
use crate::uncertainty::variance_decomposition;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("X.valid", valid),
    ("X.order", |_| Ok(order(false))),
    ("X.averaging", averaging),
    ("X.learned-sampling", sampling),
    ("X.learned-robust", |cx| learned_robust(cx, 4)),
    ("X.learned-items", learned_items),
    ("X.learned-variance", learned_variance),
    ("X.overconfident", overconfident),
    ("X.marginal", |_| Ok(marginal(2))),
];

const TABLE: &str = "tab:theoretical-comparison";

fn valid(cx: &Context<'_>) -> Outcome {
    let words = cx.words("tab:theoretical-comparison/valid/learned");
    if !words.contains("L3") {
        return Ok(Finding::reproduced(words, Vec::new()));
    }
    Ok(Finding::vacuous(
        "LPF-Learned's answer is a distribution, by lemma 3",
        "it is one output of the decoder, equation (5), and the decoder's outputs are distributions; \
         lemma 3 is about sums and products",
        Vec::new(),
    ))
}

/// All orders of three items that are pairs (latent code, factor) with weights of their own. Attention
/// is any positive function of an item, here `1 + code²`; by position it would be another.
fn order(by_position: bool) -> Finding {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let mut tally = Tally::default();
    let factors = distributions(2, 4, 1);
    let codes: Vec<BigRational> = (0..3).map(|k| fraction(k, 2)).collect();
    for first in 0..3 {
        for second in 0..3 {
            let items = [0, first, second].map(|k| (&codes[k], &factors[k], 1 + k as u64));
            let answers = ORDERS.map(|order| {
                let mut product = vec![BigRational::one(); 2];
                let (mut sum, mut total) = (BigRational::zero(), BigRational::zero());
                for (position, index) in order.into_iter().enumerate() {
                    let (code, factor, weight) = items[index];
                    for (p, f) in product.iter_mut().zip(factor) {
                        *p *= power(f, weight);
                    }
                    let attention = match by_position {
                        true => fraction(1 + position as u64, 1),
                        false => BigRational::one() + code * code,
                    };
                    sum += &attention * code;
                    total += attention;
                }
                (normalized(product), sum / total)
            });
            tally.case(answers.iter().all(|a| *a == answers[0]), || {
                format!("items 0, {first}, {second}")
            });
        }
    }
    tally.finding("all orders of three items, weights 1 to 3, attention from each item's own code")
}

/// A method that learns nothing is one fixed model: lemma 2 bounds its gap.
fn averaging(cx: &Context<'_>) -> Outcome {
    let gap = "√(ln(2/[sec:thm1/delta])/(2·[sec:exp-thm3/N]))";
    let words = cx.words("tab:theoretical-comparison/generalization/baseline");
    let steps = vec![
        "uniform averaging has no parameter, so no training example shapes it".to_owned(),
        format!(
            "by lemma 2 the mean of any loss in [0, 1] over N examples is within √(ln(2/δ)/(2N)) = {} of its \
             expectation",
            cx.line(gap, 4)?
        ),
    ];
    let none = Finding::vacuous(
        format!("{words}: there is nothing to generalize"),
        "uniform averaging has no parameter, so that a bound on what training costs says nothing of it",
        Vec::new(),
    );
    let bound = match words == "vacuous" && cx.exceeds("1", gap)? {
        true => Finding::refuted(
            format!(
                "lemma 2 bounds averaging's gap by {} at N = {}",
                cx.show(gap, 3)?,
                cx.number("sec:exp-thm3/N")?
            ),
            steps,
        ),
        false => Finding::reproduced(format!("{words}; the bound is not below one"), steps),
    };
    Ok(Finding::by_reading(vec![
        (
            "true, and it says nothing of a rule that learns nothing",
            none,
        ),
        ("no bound below one can be given for it", bound),
    ]))
}

fn sampling(cx: &Context<'_>) -> Outcome {
    let words = cx.words("tab:theoretical-comparison/mc/learned");
    Ok(Finding::vacuous(
        format!("theorem 2 controls LPF-Learned's sampling error ({words})"),
        "equation (5) decodes a mean of the μᵢ and draws no sample, so that there is no such error",
        Vec::new(),
    ))
}

/// One item, two classes, the decoder 1/2 + z/4 cut to [1/4, 3/4]; its code moves from 1 to −1 while its
/// deviation is `deviation`.
fn learned_robust(cx: &Context<'_>, deviation: u64) -> Outcome {
    let constant = cx.number("sec:thm1/bound/C")?.value();
    let shift = fraction(4, 5 * deviation);
    let allowed = &constant * &shift;
    let steps = vec![
        "two classes, p(1|z) = 1/2 + z/4 cut to [1/4, 3/4]: Lipschitz with constant 1/4, and A6 holds"
            .to_owned(),
        format!(
            "one item, replaced (K = 1, ε = 1): normal posteriors with means 1 and −1, deviation {deviation}"
        ),
        format!(
            "a normal density with deviation s is below 2/(5s), so the mean of z cut to [−1, 1] is below \
             4/(5s), and the two factors are at most δ = 4/(5·{deviation}) = {shift} apart in L1"
        ),
        "LPF-Learned decodes the means: (1/4, 3/4) becomes (3/4, 1/4), 1 apart in L1".to_owned(),
        format!("claimed with C = {constant}: C·ε·δ·√K = {allowed}; for any other C let s exceed 4C/5"),
    ];
    Ok(match BigRational::one() > allowed {
        true => Finding::refuted(
            format!("factors {shift} apart, answers 1 apart where {allowed} is claimed"),
            steps,
        ),
        false => Finding::checked("this deviation", steps),
    })
}

fn learned_items(cx: &Context<'_>) -> Outcome {
    let samples = cx.words("tab:theoretical-comparison/samples/learned");
    let calibration = format!("{TABLE}/calibration/learned");
    let premises = DependencyGraph::published().premises(Account::Proof, Node::Theorem(6));
    let rests = premises.contains(&Node::Theorem(1));
    Ok(Finding::decided(
        samples != "T6" || !rests || cx.words(&calibration) == "T1",
        format!("{samples} for LPF-Learned"),
        format!(
            "the proof of T6 begins with T1, which the same table has for LPF-Learned as a measurement only, \
             {}",
            cx.number(&calibration)?
        ),
        Vec::new(),
    ))
}

fn learned_variance(cx: &Context<'_>) -> Outcome {
    let printed = cx.number("tab:theoretical-comparison/decomposition/learned")?;
    let answer = [fraction(1, 2), fraction(1, 3), fraction(1, 6)];
    let parts = variance_decomposition(&answer, 3).ok();
    let Some(parts) = parts.filter(|parts| parts.epistemic.is_zero()) else {
        return Ok(Finding::reproduced("an epistemic part", Vec::new()));
    };
    Ok(Finding::vacuous(
        format!("LPF-Learned's variance is separated exactly, error {printed}"),
        "its answer decodes one point, equation (5): the epistemic part is 0 and nothing is separated",
        vec![format!(
            "the answer {}: epistemic {}, aleatoric {}",
            tuple(&answer),
            parts.epistemic,
            parts.aleatoric
        )],
    ))
}

/// Three items that agree, each right three times in four: their average is as sure as one of them.
fn overconfident(cx: &Context<'_>) -> Outcome {
    let (half, right, wrong) = (fraction(1, 2), fraction(3, 4), fraction(1, 4));
    let item = vec![
        vec![right.clone(), wrong.clone()],
        vec![wrong, right.clone()],
    ];
    let world = Joint::independent(&[half.clone(), half], &[item.clone(), item.clone(), item]);
    let posterior = world.and_then(|world| world.posterior(&[0, 0, 0]));
    let truth = posterior.map_or("unknown".to_owned(), |p| p[0].to_string());
    let words = cx.words("tab:theoretical-comparison/trust/baseline");
    Ok(Finding::not_reproducible(
        format!("{words}: neither confidence nor accuracy of averaging is printed"),
        vec![
            format!(
                "averages of calibrated items err the other way: three items right with probability {right} agree, \
                 their average is {right}, the truth {truth}"
            ),
            author::averaging()?,
        ],
    ))
}

/// `items` items with the factor (3/4, 1/4), the surest that A6 allows for two classes.
fn marginal(items: u64) -> Finding {
    let mut tally = Tally::default();
    for output in distributions(3, 4, 0) {
        let mut mixture = vec![BigRational::zero(); 3];
        linear_combination(&[BigRational::one()], &[&output], &mut mixture);
        tally.case(mixture == output, || tuple(&output));
    }
    let learned = tally.finding("decoder outputs with denominator 4 at one point");
    let factor = [fraction(3, 4), fraction(1, 4)];
    let product = normalized(factor.iter().map(|p| power(p, items)).collect());
    let steps = vec![
        format!(
            "two classes under A6: every p(y|z) is at most {}, and so is every ∫ p(y|z) p(z|E) dz",
            factor[0]
        ),
        format!(
            "the product of {items} factors {} is {}",
            tuple(&factor),
            tuple(&product)
        ),
    ];
    let spn = match product[0] > factor[0] {
        true => Finding::refuted(
            format!(
                "{} is no mixture of outputs of at most {}",
                product[0], factor[0]
            ),
            steps,
        ),
        false => Finding::checked("one item", steps),
    };
    Finding::by_reading(vec![
        ("LPF-Learned, with all of p(z|E) at one point", learned),
        ("LPF-SPN, whose answer is the product of stage 4", spn),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind::{Checked, DependsOnReading, Refuted};
    use crate::ledger::expr::Reading;
    use crate::ledger::paper::Paper;
    use crate::ledger::theory::Theory;

    #[test]
    fn weights_by_position_single_items_and_small_deviations_go_the_other_way() {
        let paper = Paper::published();
        let cx = Context {
            paper: Reading::new(&paper),
            theory: Theory::committed(),
        };
        let kind = |finding: Finding| finding.verdict.kind();
        assert_eq!([false, true].map(|p| kind(order(p))), [Checked, Refuted]);
        assert_eq!(
            [2, 1].map(|n| kind(marginal(n))),
            [DependsOnReading, Checked]
        );
        assert_eq!(
            [4, 1].map(|s| kind(learned_robust(&cx, s).unwrap())),
            [Refuted, Checked]
        );
    }
}
