//! Pairs of doubles: enough further bits for a quotient of sums to be rounded once.

use super::ExactSum;

/// An unevaluated sum `high + low` with `|low| ≤ ulp(high)/2`: about 106 significant bits.
///
/// Error-free transformations after Dekker and Knuth. They need no fused multiply-add, so the
/// bits are the same on machines with and without one. Domain: results and their halves are
/// normal numbers (no overflow, no underflow); callers scale by a power of two first.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    /// The nearest double.
    pub high: f64,
    /// What `high` lacks.
    pub low: f64,
}

impl DoubleDouble {
    /// The leading two doubles of an exact sum.
    pub fn of_sum(sum: &ExactSum) -> Self {
        let high = sum.to_f64();
        let mut rest = sum.clone();
        rest.add(-high);
        DoubleDouble {
            high,
            low: rest.to_f64(),
        }
    }

    /// `a·b` exactly.
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let (a1, a2) = split(a);
        let (b1, b2) = split(b);
        let low = a2 * b2 - (((high - a1 * b1) - a2 * b1) - a1 * b2);
        DoubleDouble { high, low }
    }

    /// The square, with a relative error below 2⁻¹⁰⁰.
    pub fn square(self) -> Self {
        let p = Self::product(self.high, self.high);
        renormalize(p.high, p.low + 2.0 * self.high * self.low)
    }

    /// The quotient, rounded to a double. The error before rounding is below 2⁻⁹⁵ relative, so
    /// a quotient that is a double exactly comes out exactly.
    pub fn divide(self, by: Self) -> f64 {
        let q = self.high / by.high;
        let p = Self::product(q, by.high);
        let rest = ((self.high - p.high) - p.low) + self.low - q * by.low;
        q + rest / by.high
    }
}

/// Veltkamp's split into two halves of at most 26 bits each.
fn split(x: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0; // 2²⁷ + 1
    let c = FACTOR * x;
    let high = c - (c - x);
    (high, x - high)
}

fn renormalize(high: f64, low: f64) -> DoubleDouble {
    let sum = high + low;
    DoubleDouble {
        high: sum,
        low: low - (sum - high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use num_traits::ToPrimitive;
    use proptest::prelude::*;

    fn exact(x: DoubleDouble) -> BigRational {
        BigRational::from_float(x.high).unwrap() + BigRational::from_float(x.low).unwrap()
    }

    proptest! {
        #[test]
        fn product_is_exact(a in -1e100f64..1e100, b in -1e100f64..1e100) {
            prop_assume!((a * b).abs() > 1e-200);
            let want = BigRational::from_float(a).unwrap() * BigRational::from_float(b).unwrap();
            prop_assert_eq!(exact(DoubleDouble::product(a, b)), want);
        }

        #[test]
        fn quotient_of_a_square_is_the_exact_one_rounded(
            terms in prop::collection::vec(1e-3f64..1.0, 1..30),
            by in 1e-3f64..30.0,
        ) {
            let sum: ExactSum = terms.iter().copied().collect();
            let s = DoubleDouble::of_sum(&sum);
            let got = s.square().divide(DoubleDouble { high: by, low: 0.0 });
            let total: BigRational =
                terms.iter().map(|&x| BigRational::from_float(x).unwrap()).sum();
            let want = &total * &total / BigRational::from_float(by).unwrap();
            prop_assert_eq!(got, want.to_f64().unwrap());
        }
    }
}
