//! Claims about measurements, judged by what the author's generator makes and by the weights that the
//! author's implementation trained: nothing nearer to the paper's run is published.

use num_traits::ToPrimitive;

use super::{Context, Outcome, assumptions};
use crate::aggregate::Method;
use crate::experiments::{Contender, Counts, Trained, decoded_codes, same_text};
use crate::ledger::expr::LedgerError;
use crate::ledger::paper::Printed;
use crate::ledger::verdict::Finding;
use crate::simplex::Distribution;
use crate::synthetic::{AuthorData, author_model};

/// What a verdict on these data does not say.
const CAVEAT: &str = "caveat: the author's generator, not the author's run";

/// Seed of the random codes.
const SEED: u64 = 1;

fn failed(error: impl std::fmt::Display) -> LedgerError {
    LedgerError::Data(error.to_string())
}

/// A1: items of one entity repeat each other's text, so exact independence fails; the paper holds a
/// correlation against a tolerance that it does not print, and that decides.
pub(super) fn independence(cx: &Context<'_>) -> Outcome {
    let rho = cx.number("sec:assumption-validation/A1/correlation")?;
    let main = AuthorData::main().map_err(failed)?;
    let [within, between] = same_text(&main);
    let counts = Counts::of(&main);
    // Equal shares, compared in whole numbers.
    let equal = u128::from(within.same) * u128::from(between.all)
        <= u128::from(between.same) * u128::from(within.all);
    let percent = |same: u64, all: u64| 100.0 * same as f64 / all as f64;
    let line = format!(
        "two items of one entity have the same text in {:.1} % of pairs, two of different entities of \
         one class in {:.2} %",
        percent(within.same, within.all),
        percent(between.same, between.all)
    );
    let mut evidence = vec![
        format!(
            "{} of {} entities have the same text more than once, {} of them from two different \
             sources",
            counts.repeating, counts.entities, counts.from_two_sources
        ),
        format!(
            "{} of {} pairs of one entity, {} of {} pairs of one class; given the class, independent \
             items would have the same text equally often",
            within.same, within.all, between.same, between.all
        ),
        CAVEAT.to_owned(),
    ];
    evidence.extend(assumptions::price(&rho));
    let exactly = if equal { "may hold" } else { "fails" };
    Ok(Finding::not_reproducible(
        format!(
            "no tolerance is printed that a correlation of {rho} could be held against; exact \
             independence {exactly}: {line}"
        ),
        evidence,
    ))
}

/// A6: the smallest probability at random latent codes.
pub(super) fn floor(cx: &Context<'_>) -> Outcome {
    let count = cx.number("sec:assumption-validation/A6/codes")?;
    let floor = cx.number("sec:assumption-validation/A6/floor")?;
    let decoder = author_model().map_err(failed)?.vae.decoder();
    let number = |of: &Printed| of.value().to_f64().unwrap_or(f64::NAN);
    let (codes, least) = (number(&count) as usize, number(&floor));
    let codes = decoded_codes(&decoder.map_err(failed)?, codes, SEED).map_err(failed)?;
    let entries = codes.iter().flat_map(|code| code.probabilities());
    let smallest = entries.copied().fold(f64::INFINITY, f64::min);
    let below = codes
        .iter()
        .filter(|code| code.probabilities().iter().any(|&p| p < least))
        .count();
    Ok(Finding::not_reproducible(
        format!(
            "neither the decoder nor the law of the {count} codes is printed; a decoder trained anew with the \
             published code goes down to {smallest:.1e} at standard normal codes"
        ),
        vec![
            format!("with it {below} of {count} codes have a probability below {floor}"),
            "caveat: weights trained for this repository with the published code, not the paper's"
                .to_owned(),
        ],
    ))
}

/// Uniform averaging of the generator's test entities with the weights that the author's implementation
/// trained, in one line.
pub(super) fn averaging() -> Result<String, LedgerError> {
    let main = AuthorData::main().map_err(failed)?;
    let trained = Trained::with_author_weights(main, SEED).map_err(failed)?;
    let entities = trained.test(0, u64::MAX).map_err(failed)?;
    let answers = trained.answers(Contender::Method(Method::Uniform), &entities);
    let answers = answers.map_err(failed)?;
    let right = answers.iter().zip(&entities);
    let right = right.filter(|(answer, entity)| answer.argmax() == entity.label);
    let count = entities.len() as f64;
    let accuracy = right.count() as f64 / count;
    let largest = |answer: &Distribution| answer.probabilities()[answer.argmax()];
    let confidence = answers.iter().map(largest).sum::<f64>() / count;
    Ok(format!(
        "on the generator's {} test entities, with weights trained with the published code, averaging is right in \
         {:.1} % at a mean confidence of {:.1} %; {CAVEAT}",
        entities.len(),
        100.0 * accuracy,
        100.0 * confidence
    ))
}
