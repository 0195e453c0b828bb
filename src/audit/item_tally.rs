//! Sums and counts over single items of evidence: how many there are, how wide their posteriors are,
//! and whether their weights are the confidence of these.

use serde::{Deserialize, Serialize};

use super::evidence_tally::Largest;
use super::listed::{Source, Worst};
use super::rounding::{DOUBLE, Precision, SINGLE};
use crate::assumptions::NormSums;
use crate::latent::Confidence;
use crate::log::LoggedItem;
const FUNCTIONS: usize = Confidence::ALL.len();

/// Counts and sums over rows with items. Merging adds them up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemTally {
    /// Rows with items.
    pub rows: u64,
    /// Items in these rows.
    pub items: u64,
    /// The largest number of items of one row.
    pub most: u64,
    /// Rows with an item that has both a weight and a posterior.
    pub weighed: u64,
    /// Of these, for each function of [`Confidence::ALL`], rows whose weights are all those of the
    /// function within the rounding of double precision.
    pub within_double: [u64; FUNCTIONS],
    /// The same for single precision (those of double included).
    pub within_single: [u64; FUNCTIONS],
    /// Rows whose weights are not those of that function, by their largest difference.
    pub off: Worst,
    /// The largest difference to that function.
    pub largest_difference: Largest,
    /// Norms of the covariances, by row.
    pub norms: NormSums,
    /// The largest of them.
    pub largest_norm: Largest,
}

impl ItemTally {
    /// Adds the items of a row; `asked` is the function that weights are compared with.
    pub fn add(
        &mut self,
        at: Source<'_>,
        id: &str,
        items: &[LoggedItem],
        asked: Option<Confidence>,
    ) {
        if items.is_empty() {
            return;
        }
        let count = items.len() as u64;
        self.rows += 1;
        self.items += count;
        self.most = self.most.max(count);
        let posteriors = || items.iter().filter_map(|item| item.posterior.as_ref());
        if posteriors().next().is_none() {
            return;
        }
        let norms: Vec<f64> = posteriors().map(|p| p.frobenius_norm()).collect();
        for norm in &norms {
            self.largest_norm.add(*norm);
        }
        self.norms.add(norms);
        let weighed = || {
            let both = |item: &'_ LoggedItem| item.posterior.is_some() && item.weight.is_some();
            items.iter().filter(move |item| both(item))
        };
        if weighed().next().is_none() {
            return;
        }
        self.weighed += 1;
        let counts = self.within_double.iter_mut().zip(&mut self.within_single);
        for (function, (within_double, within_single)) in Confidence::ALL.into_iter().zip(counts) {
            let (mut double, mut single, mut largest) = (true, true, 0.0);
            for item in weighed() {
                let (Some(posterior), Some(weight)) = (&item.posterior, item.weight) else {
                    continue;
                };
                let own = function.weight(posterior);
                let off = (weight - own).abs();
                let fits = |p: Precision| off <= p.allowed_weight(function, posterior, own);
                double &= fits(DOUBLE);
                single &= fits(SINGLE);
                largest = off.max(largest);
            }
            *within_double += u64::from(double);
            *within_single += u64::from(single);
            if Some(function) == asked {
                self.largest_difference.add(largest);
                if !single {
                    self.off.add(largest, at, id);
                }
            }
        }
    }

    /// Adds everything that `other` holds; `None` where a count overflows.
    pub fn merge(&mut self, other: &ItemTally) -> Option<()> {
        for (a, b) in [
            (&mut self.rows, other.rows),
            (&mut self.items, other.items),
            (&mut self.weighed, other.weighed),
        ] {
            *a = a.checked_add(b)?;
        }
        for (mine, theirs) in [
            (&mut self.within_double, other.within_double),
            (&mut self.within_single, other.within_single),
        ] {
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a = a.checked_add(b)?;
            }
        }
        self.most = self.most.max(other.most);
        self.off.merge(&other.off);
        self.largest_difference.add(other.largest_difference.get());
        self.norms.merge(&other.norms)?;
        self.largest_norm.add(other.largest_norm.get());
        Some(())
    }

    /// Whether the parts of a stored tally fit each other, `rows` being the rows of the log.
    pub fn fits(&self, rows: u64) -> bool {
        let pairs = self.within_double.iter().zip(&self.within_single);
        self.rows <= rows
            && self.rows <= self.items
            && self.most <= self.items
            && self.weighed <= self.norms.entities()
            && self.norms.entities() <= self.rows
            && self.norms.entities() <= self.norms.items()
            && self.norms.items() <= self.items
            && pairs.clone().all(|(double, single)| double <= single)
            && pairs.map(|(_, single)| single).all(|n| *n <= self.weighed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latent::GaussianPosterior;
    use proptest::prelude::*;

    fn posterior(sigma: &[f64]) -> GaussianPosterior {
        GaussianPosterior::diagonal(vec![0.0; sigma.len()], sigma.to_vec()).unwrap()
    }

    /// The functions in single precision, the plain way, written down from their definitions.
    fn plain_single(function: Confidence, sigma: &[f64]) -> f64 {
        let sigma: Vec<f32> = sigma.iter().map(|&s| s as f32).collect();
        let n = sigma.len() as f32;
        let s = sigma.iter().sum::<f32>() / n;
        let v = sigma.iter().map(|s| s * s).sum::<f32>() / n;
        f64::from(match function {
            Confidence::Reference => 1.0 / (1.0 + s) * (1.0 / (1.0 + (2.0 * s).exp())),
            Confidence::Reciprocal => 1.0 / (1.0 + s),
            Confidence::Exponential => (-s).exp(),
            Confidence::Precision => 1.0 / (1.0 + v),
        })
    }

    fn at(line: u64) -> Source<'static> {
        Source { file: "f", line }
    }

    proptest! {
        /// Weights of each function are told from those of the others, and from their own moved by
        /// a thousandth.
        #[test]
        fn each_function_is_recognized_in_single_and_in_double_precision(
            sigma in prop::collection::vec(0.05f64..6.0, 1..80),
            which in 0usize..FUNCTIONS,
        ) {
            let function = Confidence::ALL[which];
            let own = posterior(&sigma);
            // Where two functions meet, weights do not tell them apart.
            let apart = |other: Confidence| {
                (other.weight(&own) / function.weight(&own) - 1.0).abs() > 1e-3
            };
            let others = Confidence::ALL.into_iter().filter(|f| *f != function);
            prop_assume!(others.clone().all(apart));
            let weights = [
                function.weight(&own),
                plain_single(function, &sigma),
                function.weight(&own) * 1.001,
            ];
            for (weight, double, single) in [
                (weights[0], 1, 1),
                (weights[1], 0, 1),
                (weights[2], 0, 0),
            ] {
                let mut tally = ItemTally::default();
                let item = LoggedItem { posterior: Some(own.clone()), weight: Some(weight) };
                tally.add(at(1), "x", &[item], Some(function));
                for (i, other) in Confidence::ALL.into_iter().enumerate() {
                    let here = i == which;
                    prop_assert_eq!(
                        tally.within_single[i], if here { single } else { 0 }, "{:?}", other
                    );
                    // A weight in single precision may happen to be the double one.
                    let sure = here && (double == 1 || weight != weights[0]);
                    if sure && tally.within_double[i] != double {
                        let off = (weight / weights[0] - 1.0).abs();
                        prop_assert!(double == 0 && off < 1e-13, "{off}");
                    }
                }
                let named = tally.off.offenders();
                prop_assert_eq!(named.len(), usize::from(single == 0));
            }
        }
    }

    #[test]
    fn rows_count_whole_and_items_without_a_weight_or_a_posterior_not_at_all() {
        let own = posterior(&[1.0, 2.0]);
        let right = Confidence::Reciprocal.weight(&own);
        let item = |posterior: bool, weight: Option<f64>| LoggedItem {
            posterior: posterior.then(|| own.clone()),
            weight,
        };
        let mut tally = ItemTally::default();
        let asked = Some(Confidence::Reciprocal);
        tally.add(at(1), "none", &[], asked);
        tally.add(at(2), "no posterior", &[item(false, Some(0.9))], asked);
        tally.add(at(3), "no weight", &vec![item(true, None); 3], asked);
        let mixed = [
            item(true, Some(right)),
            item(false, Some(7.0)),
            item(true, None),
        ];
        tally.add(at(4), "right", &mixed, asked);
        let half = [item(true, Some(right)), item(true, Some(right + 0.25))];
        tally.add(at(5), "one is off", &half, asked);
        assert_eq!((tally.rows, tally.items, tally.most), (4, 9, 3));
        assert_eq!((tally.weighed, tally.within_double[1]), (2, 1));
        let off = tally.off.offenders();
        assert_eq!((off.len(), off[0].line, off[0].value), (1, 5, 0.25));
        assert_eq!(tally.largest_difference.get(), 0.25);
        // ‖diag(1, 4)‖ = √17, seven times in three rows.
        assert_eq!((tally.norms.entities(), tally.norms.items()), (3, 7));
        assert_eq!(tally.largest_norm.get(), 17f64.sqrt());
        assert!(tally.fits(4) && !tally.fits(3));
    }

    #[test]
    fn huge_spreads_have_a_weight_of_zero_or_nearly_so() {
        let wide = posterior(&[1e300, 1e300]);
        for (function, weight) in Confidence::ALL.into_iter().map(|f| (f, f.weight(&wide))) {
            for precision in [DOUBLE, SINGLE] {
                let allowed = precision.allowed_weight(function, &wide, weight);
                assert!((0.0..1e-37).contains(&allowed), "{function:?} {allowed}");
            }
        }
        let mut tally = ItemTally::default();
        let item = |weight| LoggedItem {
            posterior: Some(wide.clone()),
            weight: Some(weight),
        };
        tally.add(at(1), "x", &[item(0.0)], None);
        // 1/(1 + 1e300) is not zero in double precision; in single it is.
        assert_eq!(tally.within_double, [1, 0, 1, 1]);
        assert_eq!(tally.within_single, [1; FUNCTIONS]);
        tally.add(at(2), "x", &[item(1e-30)], None);
        assert_eq!(tally.within_single, [1; FUNCTIONS]);
    }

    #[test]
    fn shards_in_any_order_add_up() {
        let row = |i: u64| {
            let own = posterior(&[0.1 + i as f64, 1.0 / (1.0 + i as f64)]);
            let weight = Confidence::ALL[(i % 4) as usize].weight(&own);
            let item = LoggedItem {
                posterior: Some(own),
                weight: Some(weight),
            };
            // The row with most items is in the part that is merged into the other.
            vec![item; if i == 1 { 7 } else { 1 + (i % 3) as usize }]
        };
        let mut whole = ItemTally::default();
        let mut parts = [ItemTally::default(), ItemTally::default()];
        for i in 0..100 {
            whole.add(at(i), "x", &row(i), Some(Confidence::Reference));
            let j = 99 - i;
            parts[(j % 2) as usize].add(at(j), "x", &row(j), Some(Confidence::Reference));
        }
        let [mut merged, other] = parts;
        merged.merge(&other).unwrap();
        assert_eq!(merged, whole);
        assert_eq!((whole.weighed, whole.within_double), (100, [25; FUNCTIONS]));
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<ItemTally>(&text).unwrap(), whole);
    }
}
