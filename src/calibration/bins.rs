//! Which bin a confidence belongs to, decided in integers.
//!
//! The edges of `n` equal-width bins are the doubles nearest to `i/n`, `i = 0..=n`. Bin `i` is
//! closed on the right: it holds the confidences in `(edge i, edge i+1]`, and bin 0 holds zero as
//! well. So a confidence written `0.7` lies in the bin that *ends* at 7/10, as Guo et al. (2017)
//! have it, and every confidence in `[0, 1]` lies in exactly one bin.
//!
//! Derivation. Let `c = m·2⁻ᵏ` with `2⁵² ≤ m < 2⁵³`. An edge lies below `c` exactly where `i/n`
//! rounds to less than `c`, that is `i/n < c − 2⁻ᵏ/2` (no `i/n` with `n ≤ 1024` falls on a
//! rounding boundary, nor between the two boundaries that a power of two has). The largest such
//! `i` is
//!
//! ```text
//! ⌈(2m − 1)·n / 2ᵏ⁺¹⌉ − 1 = ((2m − 1)·n − 1) >> (k + 1).
//! ```
//!
//! For `n ≤ 1024` the product is below 2⁶⁴; where `k + 1 ≥ 64`, that is `c < 2⁻¹⁰`, the answer is
//! bin 0. The formula grows with `c`, so that checking it at each edge and at the edge's successor
//! (the tests do, for every `n`) proves it for every confidence.

/// The largest number of bins.
pub const MAX_BINS: usize = 1024;

/// Confidences below this all lie in bin 0, whatever the number of bins: `1/MAX_BINS`, 2⁻¹⁰.
pub(super) const SMALLEST_BINNED: f64 = 1.0 / MAX_BINS as f64;

/// Exponent field of a double with value in `[1, 2)`, plus the 52 fraction bits and one more: the
/// `k + 1` of the derivation is this minus the exponent field.
const SHIFT_BASE: u64 = 1023 + 52 + 1;

/// The bin, among `bins` of equal width, that a confidence lies in.
///
/// Domain: `confidence` in `[0, 1]` (minus zero is zero), `bins` in `1..=`[`MAX_BINS`]; anything
/// else gives `None`. Range: `0..bins`. See [`bin_edge`] for the edges; a confidence on an edge
/// belongs to the bin below it.
#[inline]
pub fn bin_index(confidence: f64, bins: usize) -> Option<usize> {
    if bins == 0 || bins > MAX_BINS || !(0.0..=1.0).contains(&confidence) {
        return None;
    }
    if confidence < SMALLEST_BINNED {
        return Some(0);
    }
    Some(index_of_bits(confidence.to_bits(), bins as u64))
}

/// [`bin_index`] for the bits of a double in `[2⁻¹⁰, 1]` and a valid number of bins.
#[inline]
pub(super) fn index_of_bits(bits: u64, bins: u64) -> usize {
    let (mantissa, exponent) = split(bits);
    (((2 * mantissa - 1) * bins - 1) >> (SHIFT_BASE - exponent)) as usize
}

/// Mantissa with its hidden bit, and exponent field, of a positive normal double.
#[inline]
pub(super) fn split(bits: u64) -> (u64, u64) {
    (bits & ((1 << 52) - 1) | 1 << 52, bits >> 52)
}

/// Edge `i` of `bins` equal-width bins: the double nearest to `i/bins`.
///
/// Domain: `i ≤ bins`, `bins` in `1..=`[`MAX_BINS`]; anything else gives `None`. Edge 0 is exactly
/// zero and edge `bins` exactly one.
pub fn bin_edge(i: usize, bins: usize) -> Option<f64> {
    (bins > 0 && bins <= MAX_BINS && i <= bins).then(|| i as f64 / bins as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_edge_of_every_bin_count_belongs_to_the_bin_below() {
        let mut edges = 0;
        for bins in 1..=MAX_BINS {
            for i in 1..=bins {
                let edge = bin_edge(i, bins).unwrap();
                assert_eq!(bin_index(edge, bins), Some(i - 1), "{i}/{bins}");
                if i < bins {
                    assert_eq!(bin_index(edge.next_up(), bins), Some(i), "{i}/{bins}");
                }
                edges += 1;
            }
            for first in [0.0, -0.0, f64::from_bits(1), f64::MIN_POSITIVE] {
                assert_eq!(bin_index(first, bins), Some(0));
            }
        }
        assert_eq!(edges, MAX_BINS * (MAX_BINS + 1) / 2);
    }

    #[test]
    fn plain_multiplication_would_misplace_some_edges() {
        // Negative control for the test above: ⌈c·n⌉ − 1 in floating point.
        let naive = |c: f64, n: usize| ((c * n as f64).ceil() as usize).saturating_sub(1);
        let wrong = (1..=MAX_BINS)
            .flat_map(|n| (1..n).map(move |i| (i, n)))
            .filter(|&(i, n)| {
                let edge = bin_edge(i, n).unwrap();
                naive(edge, n) != i - 1 || naive(edge.next_up(), n) != i
            })
            .count();
        assert!(wrong > 0);
    }

    #[test]
    fn outside_the_domain_there_is_no_bin() {
        for bad in [
            f64::NAN,
            -f64::NAN,
            -f64::from_bits(1),
            1f64.next_up(),
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            assert_eq!(bin_index(bad, 10), None);
        }
        assert_eq!(bin_index(0.5, 0), None);
        assert_eq!(bin_index(0.5, MAX_BINS + 1), None);
        assert_eq!(bin_index(0.5, usize::MAX), None);
        assert_eq!(bin_edge(1, 0), None);
        assert_eq!(bin_edge(4, 3), None);
    }

    proptest! {
        #[test]
        fn exactly_one_bin_holds_a_confidence(bits in 0..=1f64.to_bits(), bins in 1..=MAX_BINS) {
            let c = f64::from_bits(bits);
            let holds = |i: usize| {
                (bin_edge(i, bins).unwrap() < c || i == 0 && c == 0.0)
                    && c <= bin_edge(i + 1, bins).unwrap()
            };
            let all: Vec<usize> = (0..bins).filter(|&i| holds(i)).collect();
            prop_assert_eq!(all, vec![bin_index(c, bins).unwrap()]);
        }
    }
}
