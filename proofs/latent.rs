//! Confidence weights, and the names of random streams.

use std::collections::BTreeMap;

use super::engine::{Cases, any, below, check};
use crate::latent::Confidence;
use crate::latent::random::{Item, evidence_keys, key, text_key};

fn weight_is_in_range(confidence: Confidence, top: f64) {
    let s: f64 = any();
    // Kani counts x/∞ as NaN; under `cargo test` +∞ is among the draws.
    assume!(s >= 0.0 && (s < f64::INFINITY || !cfg!(kani)));
    let w = confidence.of_uncertainty(s);
    cover!(s > 1.0 && s < f64::INFINITY, "large");
    cover!(s > 0.0 && s < f64::MIN_POSITIVE, "subnormal");
    assert!(w >= 0.0 && w <= top);
}

/// The weight `1/(1+s)` lies in [0, 1].
///
/// Claims: L4, T1
/// Domain: any f64 in [0, +∞)
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn reciprocal_weight_lies_between_zero_and_one() {
    check(Cases::Random(300_000), || {
        weight_is_in_range(Confidence::Reciprocal, 1.0);
    });
}

/// The weight `exp(−s)` lies in [0, 1].
///
/// Claims: L4, T1
/// Domain: any f64 in [0, +∞); exp by contract
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::math::elementary::exp, super::contracts::exp_of_non_positive)
)]
#[cfg_attr(not(kani), test)]
fn exponential_weight_lies_between_zero_and_one() {
    check(Cases::Random(300_000), || {
        weight_is_in_range(Confidence::Exponential, 1.0);
    });
}

/// The reference implementation's weight lies in [0, 1/2].
///
/// Claims: L4, T1
/// Domain: any f64 in [0, +∞]
/// Enumerated only: two divisions, and a division by infinity that is meant
#[cfg_attr(not(kani), test)]
fn reference_weight_lies_between_zero_and_one_half() {
    check(Cases::Random(300_000), || {
        weight_is_in_range(Confidence::Reference, 0.5);
    });
}

/// More uncertainty never gives more weight, and strictly less from step to step of the grid.
///
/// Claims: L4, T1
/// Domain: all four functions, s = k/256 for k in 0..=4095 and its successor on the grid
/// Enumerated only: two divisions each
#[cfg_attr(not(kani), test)]
fn weights_fall_with_uncertainty_on_a_grid() {
    check(Cases::All(4 * 16 * 256), || {
        let confidence = Confidence::ALL[usize::from(below(4))];
        let k = f64::from(below(16)) * 256.0 + f64::from(any::<u8>());
        let (s, next) = (k / 256.0, (k + 1.0) / 256.0);
        let w = confidence.of_uncertainty(s);
        assert!(confidence.of_uncertainty(next) < w);
        // Every step of the formulas rounds monotonically, so to the next double: not more.
        assert!(confidence.of_uncertainty(s.next_up()) <= w);
    });
}

/// Two different names of streams never give the same key, so that no two (entity, evidence)
/// pairs share a stream.
///
/// Claims: L1, A1
/// Domain: any two names of four u64 each
#[cfg_attr(kani, kani::proof, kani::unwind(34), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn different_names_give_different_streams() {
    check(Cases::Random(200_000), || {
        let a: [u64; 4] = any();
        // Random names alone would differ everywhere: also those that differ in one part, by one
        // bit, or not at all.
        let b: [u64; 4] = if any() {
            any()
        } else {
            let mut b = a;
            b[usize::from(below(4))] ^= u64::from(below(2)) << below(64);
            b
        };
        let (first, second) = (key(a[0], a[1], a[2], a[3]), key(b[0], b[1], b[2], b[3]));
        cover!(a != b, "different");
        cover!(a == b, "the same");
        assert!((first == second) == (a == b));
    });
}

/// Items of one entity get names of their own: those with identifiers of up to two characters,
/// and up to sixteen copies each of up to sixteen contents.
///
/// Claims: L1, A1
/// Domain: every list of 2 items out of 40 identifiers and 16 contents, and the copies
/// Enumerated only: hash tables
#[cfg_attr(not(kani), test)]
fn items_of_one_entity_never_share_a_name() {
    const IDS: &[u8; 40] = b"abcdefghijklmnopqrstuvwxyz0123456789-_.:";
    check(Cases::All(40 * 41 * 16), || {
        let first = usize::from(below(40));
        let second = usize::from(below(41));
        let content = u64::from(below(16));
        let mut bytes = vec![IDS[first]];
        // No second character, or one.
        bytes.extend(IDS.get(second));
        let id = String::from_utf8(bytes).unwrap();
        let mut items = vec![Item::Id(&id)];
        items.extend([Item::Content(content); 16]);
        items.extend([Item::Content(content ^ 1); 16]);
        let keys = evidence_keys(&items).unwrap();
        let mut seen = BTreeMap::new();
        for (i, &k) in keys.iter().enumerate() {
            assert!(seen.insert(k, i).is_none());
        }
        assert!(keys[0] == text_key(&id));
        cover!(second == 40, "one character");
        // The same identifier twice is refused, whatever stands between.
        items.push(Item::Id(&id));
        let refused = evidence_keys(&items);
        assert!(refused.is_err_and(|e| e.first == 0 && e.second == 33));
    });
}
