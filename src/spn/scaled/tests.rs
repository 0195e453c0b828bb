//! Against exact rationals and integers.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, ToPrimitive, Zero};
use proptest::prelude::*;

use super::*;

impl Scaled {
    pub(in crate::spn) fn exact(self) -> BigRational {
        let power = BigInt::from(2).pow(self.exponent.unsigned_abs().min(1 << 20) as u32);
        let mantissa = BigRational::from_integer(self.mantissa.into());
        if self.is_zero() {
            BigRational::zero()
        } else if self.exponent < 0 {
            mantissa / power
        } else {
            mantissa * power
        }
    }
}

/// `2⁻⁶⁴`: half a unit in the last place of a mantissa, relative to the smallest.
fn unit() -> BigRational {
    BigRational::new(1.into(), BigInt::one() << 64)
}

fn within(got: Scaled, want: &BigRational, relative: &BigRational) -> bool {
    let off = got.exact() - want;
    let bound = want * relative;
    -&bound <= off && off <= bound
}

pub(super) fn any_scaled() -> impl Strategy<Value = Scaled> {
    prop_oneof![
        8 => (any::<u64>(), -300i64..300).prop_map(|(mantissa, exponent)| Scaled {
            mantissa: mantissa | 1 << 63,
            exponent,
        }),
        // Few bits set: exact products, ties, carries.
        4 => (0u32..64, 0u32..64, -300i64..300).prop_map(|(a, b, exponent)| Scaled {
            mantissa: (1u64 << 63) | (1 << a) | (1 << b),
            exponent,
        }),
        2 => (0u32..64, -300i64..300).prop_map(|(a, exponent)| Scaled {
            mantissa: u64::MAX << a.min(63) | 1 << 63,
            exponent,
        }),
        1 => Just(Scaled::ZERO),
    ]
}

proptest! {
    #[test]
    fn a_double_is_taken_exactly_and_given_back(bits in 0..f64::INFINITY.to_bits()) {
        let x = f64::from_bits(bits);
        prop_assert_eq!(Scaled::from_f64(x).exact(), BigRational::from_float(x).unwrap());
        prop_assert_eq!(Scaled::from_f64(x).ratio(Scaled::ONE), x);
    }

    #[test]
    fn sums_are_within_one_rounding_and_free_of_order(
        terms in prop::collection::vec((any_scaled(), any_scaled()), 0..20)
    ) {
        let got = Scaled::sum_of_products(terms.len(), |i| terms[i]);
        let want: BigRational = terms.iter().map(|(a, b)| a.exact() * b.exact()).sum();
        // n²·2⁻¹²⁴ for n < 20 is below 2⁻¹¹⁴.
        let cut = BigRational::new(1.into(), BigInt::one() << 114);
        prop_assert!(within(got, &want, &(unit() + cut)));
        let reversed = Scaled::sum_of_products(terms.len(), |i| terms[terms.len() - 1 - i]);
        prop_assert_eq!(got, reversed);
    }

    #[test]
    fn products_are_the_exact_ones_rounded_once(
        factors in prop::collection::vec(any_scaled(), 0..20)
    ) {
        let got = product(factors.len(), |i| factors[i]);
        let want = factors.iter().fold(BigRational::one(), |p, f| p * f.exact());
        prop_assert!(within(got, &want, &unit()));
        prop_assert_eq!(got, exact_product(&factors));
        prop_assert_eq!(got, product(factors.len(), |i| factors[factors.len() - 1 - i]));
        // In two pieces that are joined, where 128 bits can tell.
        let (left, right) = factors.split_at(factors.len() / 2);
        let wide = |f: &[Scaled]| f.iter().copied().fold(WideProduct::ONE, WideProduct::times);
        if let Some(joined) = wide(left).join(wide(right)).rounded() {
            prop_assert_eq!(joined, got);
        }
    }

    #[test]
    fn quotients_are_rounded_once(a in any_scaled(), b in any_scaled()) {
        prop_assume!(!b.is_zero());
        let want = a.exact() / b.exact();
        prop_assert_eq!(a.ratio(b), want.to_f64().unwrap());
        prop_assert!(within(a.over(b), &want, &unit()));
    }

    #[test]
    fn order_is_that_of_the_values(a in any_scaled(), b in any_scaled()) {
        prop_assert_eq!(a.cmp(&b), a.exact().cmp(&b.exact()));
    }
}

/// The case in 2⁶⁰: the product lies so close below a half that 128 bits cannot tell.
/// (1+2⁻³²)² is a tie exactly; (1−2⁻⁶³)(1+2⁻⁶³) = 1−2⁻¹²⁶ takes it just below.
#[test]
fn where_128_bits_cannot_tell_the_exact_product_decides() {
    let one = 1u64 << 63;
    let scaled = |mantissa| Scaled {
        mantissa,
        exponent: -63,
    };
    let near_half = scaled(one + (1 << 31));
    let (above, below) = (
        scaled(one + 1),
        Scaled {
            mantissa: u64::MAX - 1,
            exponent: -64,
        },
    );
    let factors = [near_half, near_half, above, below];
    let want = factors
        .iter()
        .fold(BigRational::one(), |p, f| p * f.exact());
    let mut undecided = 0;
    for order in [[0, 1, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3], [3, 0, 2, 1]] {
        let factors = order.map(|i| factors[i]);
        let wide = factors
            .into_iter()
            .fold(WideProduct::ONE, WideProduct::times);
        undecided += usize::from(wide.rounded().is_none());
        let got = product(4, |i| factors[i]);
        assert_eq!(got, scaled(one + (1 << 32)), "{order:?}");
        assert!(within(got, &want, &unit()));
    }
    assert!(undecided > 0, "the case does not reach the exact product");
}

#[test]
fn logarithms_agree_with_a_multiple_precision_oracle() {
    let cases = include_str!("../../../tests/fixtures/mpmath/scaled_ln.csv");
    let mut checked = 0;
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        let mantissa = fields[0].parse().unwrap();
        let exponent = fields[1].parse().unwrap();
        let want: f64 = fields[2].parse().unwrap();
        let got = Scaled { mantissa, exponent }.ln();
        let off = (got.to_bits() as i64 - want.to_bits() as i64).abs();
        assert!(off <= 2, "{line}: {got:e}");
        checked += 1;
    }
    assert_eq!(checked, 100);
    assert_eq!(Scaled::ZERO.ln(), f64::NEG_INFINITY);
    assert_eq!(Scaled::ONE.ln(), 0.0);
}

#[test]
fn picking_never_takes_a_term_of_zero() {
    let one = Scaled::ONE;
    let terms = [Scaled::ZERO, one, Scaled::ZERO, one, Scaled::ZERO];
    for (position, want) in [
        (0, 1),
        (u64::MAX / 2, 1),
        (u64::MAX / 2 + 1, 3),
        (u64::MAX, 3),
    ] {
        assert_eq!(Scaled::pick(5, position, |i| (one, terms[i])), Some(want));
    }
    assert_eq!(Scaled::pick(1, 0, |_| (one, Scaled::ZERO)), None);
    assert_eq!(Scaled::pick(0, 0, |_| (one, one)), None);
}
