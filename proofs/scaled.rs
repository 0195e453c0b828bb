//! The numbers that answer network queries, 64 bits with an exponent of their own, and the flat
//! pass over a network that they run in.
//!
//! The inputs are doubles with few significant bits, so that no step rounds and the result can be
//! compared with whole numbers. The rounding itself is tested against exact integers in `spn`.

use super::engine::{Cases, below, check};
use crate::spn::scaled::{Scaled, product};

/// Zero, or m·2ᵉ for m in 4..8 and e in −1..=2: any two significant bits behind the first one.
fn few_bits() -> (f64, u32) {
    const VALUES: [u32; 8] = [0, 4, 5, 6, 7, 10, 24, 56];
    const DOUBLES: [f64; 8] = [0.0, 4.0, 5.0, 6.0, 7.0, 10.0, 24.0, 56.0];
    let i = usize::from(below(8));
    (DOUBLES[i], VALUES[i])
}

/// A whole number as a scaled one, by the definition: mantissa with its highest bit set.
fn whole(n: u32) -> Scaled {
    Scaled::from_f64(f64::from(n))
}

/// `Σ aᵢ·bᵢ` of two terms is exact where it fits into 64 bits, zeros included.
///
/// Claims: A4, L3
/// Domain: 4 of 8 numbers, 0 and some of up to 3 significant bits and 4 binary orders
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_sum_of_two_products_is_exact() {
    check(Cases::All(8u64.pow(4)), || {
        let ((a, i), (b, j), (c, k), (d, l)) = (few_bits(), few_bits(), few_bits(), few_bits());
        let terms = [
            (Scaled::from_f64(a), Scaled::from_f64(b)),
            (Scaled::from_f64(c), Scaled::from_f64(d)),
        ];
        let sum = Scaled::sum_of_products(2, |i| terms[i]);
        cover!(sum.is_zero(), "zero");
        cover!(i * j > 0 && k * l > i * j, "two terms of different size");
        assert!(sum == whole(i * j + k * l));
    });
}

/// Products are exact where they fit into 64 bits, by `times` and by the chains of `product`.
///
/// Claims: A4, L3
/// Domain: 3 of 8 numbers, 0 and some of up to 3 significant bits and 4 binary orders
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(
    kani,
    kani::stub(crate::spn::scaled::exact_product, super::contracts::no_exact_product)
)]
#[cfg_attr(not(kani), test)]
fn a_product_of_three_is_exact() {
    check(Cases::All(8u64.pow(3)), || {
        let ((a, i), (b, j), (c, k)) = (few_bits(), few_bits(), few_bits());
        let factors = [a, b, c].map(Scaled::from_f64);
        let want = whole(i * j * k);
        cover!(want.is_zero() && i > 0, "zero");
        cover!(i != j && k > 7, "different factors");
        assert!(factors[0].times(factors[1]).times(factors[2]) == want);
        assert!(product(3, |i| factors[i]) == want);
    });
}
