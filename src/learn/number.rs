//! The numbers that networks compute with.

use std::ops::{AddAssign, MulAssign, Neg};

use crate::math::Real;
use crate::math::dense::Element;

/// `f32`, which models are trained in, and `f64`, in which the same code is checked.
pub trait Number:
    Element + Real + PartialOrd + AddAssign + MulAssign + Neg<Output = Self> + Send + Sync + 'static
{
    /// The nearest value of this type.
    fn from_f64(x: f64) -> Self;
    /// The same value as a double.
    fn to_f64(self) -> f64;
    /// Square root, rounded to nearest.
    fn sqrt(self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// `ln(1 + x)` without loss for small `x`.
    fn ln_1p(self) -> Self;

    /// `softplus(x) = ln(1 + e^x)` and its slope, the logistic function `1/(1 + e^{−x})`.
    ///
    /// Both from the one exponential `t = e^{−|x|} ≤ 1`, which cannot overflow:
    ///
    /// | | `x ≥ 0` | `x < 0` |
    /// |---|---|---|
    /// | softplus | `x + ln(1 + t)` | `ln(1 + t)` |
    /// | slope | `1/(1 + t)` | `t/(1 + t)` |
    fn softplus(self) -> (Self, Self) {
        let t = (-self.abs()).exp();
        let log = t.ln_1p();
        let whole = Self::one() + t;
        if self < Self::zero() {
            (log, t / whole)
        } else {
            (self + log, Self::one() / whole)
        }
    }

    /// [`Number::softplus`] of each number, and its slope.
    fn softplus_all(numbers: &[Self], values: &mut [Self], slopes: &mut [Self]) {
        let results = values.iter_mut().zip(slopes);
        for (x, (value, slope)) in numbers.iter().zip(results) {
            (*value, *slope) = x.softplus();
        }
    }

    /// The logistic function `1/(1 + e^{−x})`, without overflow.
    fn logistic(self) -> Self {
        let t = (-self.abs()).exp();
        let whole = Self::one() + t;
        if self < Self::zero() {
            t / whole
        } else {
            Self::one() / whole
        }
    }
}

macro_rules! number {
    ($t:ident, $ln_1p:path $(, $softplus_all:path)?) => {
        impl Number for $t {
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // The square root is correctly rounded on every machine.
                $t::sqrt(self)
            }
            fn abs(self) -> Self {
                $t::abs(self)
            }
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            $(fn softplus_all(numbers: &[Self], values: &mut [Self], slopes: &mut [Self]) {
                $softplus_all(numbers, values, slopes);
            })?
        }
    };
}
number!(f32, libm::log1pf, super::softplus::softplus_all);
number!(f64, libm::log1p);

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: mpmath 1.3 with 40 digits, `log1p(exp(x))` and `1/(1+exp(-x))`.
    #[test]
    fn softplus_and_its_slope_are_right_at_both_ends() {
        let expected = [
            (-700.0, 9.859_676_543_759_77e-305, 9.859_676_543_759_77e-305),
            (-20.0, 2.061_153_620_314_381e-9, 2.061_153_618_190_203_8e-9),
            (0.0, std::f64::consts::LN_2, 0.5),
            (1.5, 1.701_413_277_982_752_4, 0.817_574_476_193_643_7),
            (800.0, 800.0, 1.0),
        ];
        for (x, value, slope) in expected {
            let (v, s): (f64, f64) = Number::softplus(x);
            // One exponential, one logarithm, one sum: three roundings and their 1 ulp each.
            assert!((v - value).abs() <= 4.0 * f64::EPSILON * value, "{x}: {v}");
            assert!((s - slope).abs() <= 4.0 * f64::EPSILON * slope, "{x}: {s}");
            assert_eq!(s, Number::logistic(x));
        }
        assert_eq!(Number::softplus(f32::NEG_INFINITY), (0.0, 0.0));
        assert_eq!(Number::softplus(f32::INFINITY), (f32::INFINITY, 1.0));
    }
}
