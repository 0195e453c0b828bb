//! Rows of a log: completed by the model, and answered again from their evidence.

use super::Answerer;
use crate::aggregate::Method;
use crate::log::{Place, Prediction, Reason, RecordError, Row, RowError, RowRules};
use crate::simplex::Distribution;

impl Answerer {
    /// Checks a row of a log; with a model, items without factors get theirs.
    ///
    /// # Errors
    /// The first thing that is wrong; see [`Prediction::check`].
    pub fn row<'a>(
        &self,
        prediction: Prediction<'a>,
        rules: RowRules<'_>,
    ) -> Result<Row<'a>, RowError> {
        prediction.check(rules, |row| {
            let items = row.evidence.as_deref().unwrap_or_default();
            match (self.latent(), row.entity.as_deref()) {
                (Some(latent), Some(entity)) => {
                    self.completed(latent, entity, row.classes.as_deref(), items)
                }
                (Some(_), None)
                    if items.iter().any(|item| {
                        item.factor.is_none() && (item.mu.is_some() || item.embedding.is_some())
                    }) =>
                {
                    let what =
                        "missing; what a model draws for an item depends on the entity's name";
                    Err(RecordError::shape(Place::field("entity"), what))
                }
                _ => row.posteriors(),
            }
        })
    }

    /// The answer of a row before calibration: the logged one, or else the one that follows from its
    /// evidence.
    ///
    /// # Errors
    /// Where the logged numbers are no distribution, or there is neither.
    pub fn answer_of(
        &self,
        row: &mut Row<'_>,
        rules: RowRules<'_>,
    ) -> Result<Distribution, RowError> {
        let field = rules.answer_field;
        match row.answer.take() {
            Some(answer) => Distribution::from_rounded(answer, &row.tolerance)
                .map_err(|error| RowError::not_a_distribution(field, &error)),
            None => self
                .aggregate(row)?
                .ok_or_else(|| RowError::no_answer(rules)),
        }
    }

    /// The answer that follows from the evidence of a row, before calibration; `None` where the row
    /// does not have what the method needs.
    ///
    /// # Errors
    /// Of reason [`Reason::Contradiction`] where the factors exclude every class.
    pub fn aggregate(&self, row: &mut Row<'_>) -> Result<Option<Distribution>, RowError> {
        let Some(entity) = &mut row.evidence else {
            return Ok(None);
        };
        if self.method() == Method::Learned {
            let posteriors = row.items.iter().map(|item| item.posterior.clone());
            entity.posteriors = posteriors.collect();
            if entity.posteriors.iter().any(Option::is_none) {
                return Ok(None);
            }
        }
        self.combine(entity)
            .map(Some)
            .map_err(|RecordError { place, fault }| {
                RowError::new(Reason::Contradiction, place.to_string(), fault.to_string())
            })
    }
}
