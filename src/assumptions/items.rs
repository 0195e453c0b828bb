//! Evidence as the checkers see it: factors, grouped by entity.

use crate::aggregate::AggregateError;
use crate::bounds::BoundError;
use crate::calibration::CalibrationError;
use crate::simplex::Distribution;

/// Why an assumption cannot be checked on some data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum AssumptionError {
    /// There is no item at all.
    #[error("there are no items of evidence")]
    NoItems,
    /// More items than the exact sums have room for.
    #[error("{items} items; at most {limit} can be tested at once")]
    TooManyItems { items: usize, limit: usize },
    /// A factor has another number of classes than the first.
    #[error("the factor of item {item} has {found} classes, that of item 0 has {expected}")]
    Classes {
        item: usize,
        expected: usize,
        found: usize,
    },
    /// The offsets do not cut the items into one piece for each entity.
    #[error("{}", offsets_message(*index, *value, *items))]
    Offsets {
        index: usize,
        value: Option<usize>,
        items: usize,
    },
    /// A list has another length than it should have.
    #[error("there are {found} {name}, not {expected}")]
    Lengths {
        name: &'static str,
        expected: usize,
        found: usize,
    },
    /// A label names no class.
    #[error(
        "the label of entity {entity} is {label}, but classes are numbered from 0 and there are \
         {classes}"
    )]
    Label {
        entity: usize,
        label: usize,
        classes: usize,
    },
    /// A norm is NaN, infinite or negative.
    #[error("the norm of item {item} is {value}; norms are finite and not negative")]
    Norm { item: usize, value: f64 },
    #[error(transparent)]
    Parameter(#[from] BoundError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// The factors of an entity cannot be combined.
    #[error("entity {entity}: {source}")]
    Aggregate {
        entity: usize,
        source: AggregateError,
    },
}

fn offsets_message(index: usize, value: Option<usize>, items: usize) -> String {
    match value {
        Some(value) => format!(
            "offset {index} is {value}; offsets begin at 0, do not descend and end at the number \
             of items, {items}"
        ),
        None => "there are no offsets; they begin with 0".to_owned(),
    }
}

/// Factors grouped by entity: the items of entity `e` are `offsets[e]..offsets[e + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a> {
    factors: &'a [Distribution],
    offsets: &'a [usize],
    classes: usize,
}

impl<'a> Items<'a> {
    /// Groups the factors. An entity without items is legal.
    ///
    /// # Errors
    /// [`AssumptionError::NoItems`], [`AssumptionError::Classes`], [`AssumptionError::Offsets`].
    pub fn new(factors: &'a [Distribution], offsets: &'a [usize]) -> Result<Self, AssumptionError> {
        check_offsets(offsets, factors.len())?;
        let classes = match factors.first() {
            Some(first) => first.classes(),
            None => return Err(AssumptionError::NoItems),
        };
        match factors.iter().position(|f| f.classes() != classes) {
            None => Ok(Items {
                factors,
                offsets,
                classes,
            }),
            Some(item) => Err(AssumptionError::Classes {
                item,
                expected: classes,
                found: factors[item].classes(),
            }),
        }
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// All factors, entity by entity.
    pub fn factors(&self) -> &'a [Distribution] {
        self.factors
    }

    /// How many entities there are.
    pub fn entities(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The factors of each entity, in order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &'a [Distribution]> + Clone + '_ {
        let factors = self.factors;
        self.offsets.windows(2).map(move |w| &factors[w[0]..w[1]])
    }

    /// Checks that there is one label for each entity and that it names a class.
    pub(super) fn check_labels(&self, labels: &[usize]) -> Result<(), AssumptionError> {
        if labels.len() != self.entities() {
            return Err(AssumptionError::Lengths {
                name: "labels",
                expected: self.entities(),
                found: labels.len(),
            });
        }
        match labels.iter().position(|&label| label >= self.classes) {
            None => Ok(()),
            Some(entity) => Err(AssumptionError::Label {
                entity,
                label: labels[entity],
                classes: self.classes,
            }),
        }
    }
}

/// Checks that offsets begin at 0, do not descend, and end at the number of items.
pub(super) fn check_offsets(offsets: &[usize], items: usize) -> Result<(), AssumptionError> {
    let wrong = |index: usize| AssumptionError::Offsets {
        index,
        value: offsets.get(index).copied(),
        items,
    };
    if offsets.first() != Some(&0) {
        return Err(wrong(0));
    }
    if let Some(index) = offsets.windows(2).position(|w| w[0] > w[1]) {
        return Err(wrong(index + 1));
    }
    if offsets.last() != Some(&items) {
        return Err(wrong(offsets.len() - 1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_grouped_evidence_is_refused_by_name() {
        let p = Distribution::new(vec![0.5, 0.5]).unwrap();
        let q = Distribution::new(vec![1.0]).unwrap();
        let two = [p.clone(), p.clone()];
        for (offsets, index) in [
            (&[][..], 0),
            (&[1, 2], 0),
            (&[0, 2, 1, 2], 2),
            (&[0, 1], 1),
            (&[0, 3], 1),
        ] {
            let error = Items::new(&two, offsets).unwrap_err();
            let found = matches!(&error, AssumptionError::Offsets { index: i, .. } if *i == index);
            assert!(found, "{error}");
        }
        assert_eq!(Items::new(&[], &[0]).unwrap_err(), AssumptionError::NoItems);
        assert_eq!(
            Items::new(&[p.clone(), q], &[0, 2]).unwrap_err(),
            AssumptionError::Classes {
                item: 1,
                expected: 2,
                found: 1
            }
        );
        let items = Items::new(&two, &[0, 0, 2]).unwrap();
        assert_eq!((items.entities(), items.classes()), (2, 2));
        let sizes: Vec<usize> = items.groups().map(<[_]>::len).collect();
        assert_eq!(sizes, [0, 2]);
        assert!(items.check_labels(&[0, 1]).is_ok());
        assert_eq!(
            items.check_labels(&[0]).unwrap_err(),
            AssumptionError::Lengths {
                name: "labels",
                expected: 2,
                found: 1
            }
        );
        assert_eq!(
            items.check_labels(&[0, 2]).unwrap_err(),
            AssumptionError::Label {
                entity: 1,
                label: 2,
                classes: 2
            }
        );
    }
}
