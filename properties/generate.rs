//! Generated inputs that several properties share.

use lpf::simplex::Distribution;
use proptest::prelude::*;

/// A distribution over `classes` classes: flat, peaked, or over many orders of magnitude.
pub fn distribution(classes: usize) -> impl Strategy<Value = Distribution> {
    prop_oneof![
        prop::collection::vec(0.05f64..1.0, classes),
        prop::collection::vec(1e-6f64..1.0, classes),
        prop::collection::vec((-60.0f64..0.0).prop_map(|e| 10f64.powf(e)), classes),
    ]
    .prop_map(|weights| Distribution::from_weights(weights).unwrap())
}

/// Factors over the same classes with a weight each.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub factors: Vec<Distribution>,
    pub weights: Vec<f64>,
}

/// Two to five classes, one to `most` items, weights in `(0, 2)`.
pub fn evidence(most: usize) -> impl Strategy<Value = Evidence> {
    (2usize..6, 1..=most).prop_flat_map(|(classes, items)| {
        (
            prop::collection::vec(distribution(classes), items),
            prop::collection::vec(0.01f64..2.0, items),
        )
            .prop_map(|(factors, weights)| Evidence { factors, weights })
    })
}
