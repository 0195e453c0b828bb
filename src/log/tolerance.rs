//! How far probabilities may be from adding up to one.

use super::record::DEFAULT_TOLERANCE;

/// The largest tolerance: the grid of confidences of an audit needs sums that are nearly one.
pub const MAX_TOLERANCE: f64 = 0.01;

/// The largest relative error of a number that was rounded to half precision, 2⁻¹¹, and the largest
/// absolute error of one that is too small for it, 2⁻²⁵.
const HALF: (f64, f64) = (1.0 / 2048.0, 1.0 / 33_554_432.0);

/// Numbers in half precision are told apart by no more significant digits than this.
const HALF_DIGITS: i32 = 5;

/// How far the sum of a row may be from one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tolerance {
    /// As far as the digits that were written explain, from [`DEFAULT_TOLERANCE`] up to [`MAX_TOLERANCE`].
    ///
    /// Of `n` numbers rounded to `d` decimals each is off by at most `10⁻ᵈ/2`, and their sum by
    /// `n·10⁻ᵈ/2`. Numbers of at most five significant digits may have been in half precision, where each
    /// is off by 2⁻¹¹ of itself and its text by as much again, and so is their sum. So may numbers with more
    /// digits, if all of them are what a half is to the digits that were written.
    #[default]
    Digits,
    /// As far as this.
    Fixed(f64),
}

impl Tolerance {
    /// The tolerance for these numbers; `half` says that they were stored in half precision.
    pub fn of(self, values: &[f64], half: bool) -> f64 {
        match self {
            Tolerance::Fixed(tolerance) => tolerance,
            Tolerance::Digits => explained(values, half).clamp(DEFAULT_TOLERANCE, MAX_TOLERANCE),
        }
    }

    /// The tolerance that holds whatever the digits.
    pub fn least(self) -> f64 {
        match self {
            Tolerance::Fixed(tolerance) => tolerance,
            Tolerance::Digits => DEFAULT_TOLERANCE,
        }
    }
}

/// How far rounding explains a sum to be from one.
fn explained(values: &[f64], half: bool) -> f64 {
    let n = values.len() as f64;
    let halved = HALF.0 + n * HALF.1;
    if half {
        return halved;
    }
    let written = values.iter().filter_map(|x| digits(*x));
    let (decimals, significant) = written.fold((0, 0), |(d, s), (decimals, digits)| {
        (d.max(decimals), s.max(digits))
    });
    let rounded = n / 2.0 * libm::pow(10.0, f64::from(-decimals.min(300)));
    // The sum of what is printed is itself rounded.
    let rounded = rounded + n * f64::EPSILON;
    // Few digits that tell a half from its neighbours may be off by half a step again.
    match significant <= HALF_DIGITS {
        true => rounded.max(2.0 * halved),
        false if values.iter().all(|x| is_half(*x)) => rounded + halved,
        false => rounded,
    }
}

/// Whether this is a number in half precision, to the digits that were written: pandas writes ten decimals
/// of it, Polars as many as tell it from other singles. Of other numbers with `s` significant digits at most
/// 2048 in `10ˢ⁻¹` are so near to one, and all numbers of a row have to be.
fn is_half(x: f64) -> bool {
    let Some((decimals, _)) = digits(x) else {
        return x == 0.0;
    };
    // Halves have eleven significant bits, down to 2⁻²⁴.
    let bits = libm::scalbn(1.0, libm::ilogb(x).max(-14) - 10);
    let off = (x - libm::rint(x / bits) * bits).abs();
    // What was read is itself rounded.
    off <= libm::pow(10.0, f64::from(-decimals.min(300))) / 2.0 + f64::EPSILON
}

/// The decimals and the significant digits of the shortest text that is read as this number; none of
/// zero and of what is no number.
fn digits(x: f64) -> Option<(i32, i32)> {
    if x == 0.0 || !x.is_finite() {
        return None;
    }
    let text = format!("{x:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let significant = mantissa.bytes().filter(u8::is_ascii_digit).count() as i32;
    Some((
        (significant - 1 - exponent.parse::<i32>().ok()?).max(0),
        significant,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_that_are_written() {
        for (text, want) in [
            ("0.25", (2, 2)),
            ("1", (0, 1)),
            ("0.0001", (4, 1)),
            ("5e-5", (5, 1)),
            ("0.123456", (6, 6)),
            ("12.5", (1, 3)),
        ] {
            assert_eq!(digits(text.parse().unwrap()), Some(want), "{text}");
        }
        assert_eq!((digits(0.0), digits(f64::NAN)), (None, None));
    }

    /// Whatever distribution is rounded, to decimals or to half precision, its sum is within the tolerance
    /// of one; and the sum that no rounding explains is not.
    #[test]
    fn rounding_is_explained_and_nothing_else() {
        let by = Tolerance::Digits;
        for n in 2..40usize {
            for shift in 0..20 {
                let raw: Vec<f64> = (0..n)
                    .map(|i| 1.0 + ((i * 7 + shift * 3) % 11) as f64)
                    .collect();
                let total: f64 = raw.iter().sum();
                let p: Vec<f64> = raw.iter().map(|x| x / total).collect();
                for d in 3..12 {
                    let scale = libm::pow(10.0, f64::from(d));
                    let text = |x: f64| format!("{:.*}", d as usize, x).parse::<f64>().unwrap();
                    let rounded: Vec<f64> = p.iter().map(|x| text(*x)).collect();
                    let off = (rounded.iter().sum::<f64>() - 1.0).abs();
                    let tolerance = by.of(&rounded, false);
                    assert!(
                        off <= tolerance || tolerance == MAX_TOLERANCE,
                        "{rounded:?}"
                    );
                    // All off to one side by a whole unit: more than twice what rounding can do, unless
                    // the digits are so few that half precision explains them.
                    let wrong: Vec<f64> = rounded.iter().map(|x| text(x + 1.0 / scale)).collect();
                    let off = (wrong.iter().sum::<f64>() - 1.0).abs();
                    let many = |x: &f64| digits(*x).is_some_and(|(_, s)| s > HALF_DIGITS);
                    if wrong.iter().any(many) && off > 2.0 * DEFAULT_TOLERANCE {
                        assert!(off > by.of(&wrong, false), "{wrong:?}");
                    }
                }
            }
        }
        // Written from half precision in full, and with the digits that tell it from other singles.
        for row in [
            [0.99951171875, 0.0],
            [0.9995117, 0.00011110306],
            [0.3332519531, 0.6665039062],
        ] {
            let half = HALF.0 + 2.0 * HALF.1;
            let tolerance = by.of(&row, false);
            assert!(
                half <= tolerance && tolerance < half + 2e-7,
                "{row:?}: {tolerance}"
            );
        }
        // The shortest texts of halves, whose sum is further from one than halves of distributions are.
        assert!(by.of(&[0.9995, 0.00101, 0.00001], false) >= 2.0 * HALF.0);
        assert_eq!(by.of(&[0.9995117, 0.00011118], false), DEFAULT_TOLERANCE);
        assert_eq!(by.of(&[1.0 / 3.0, 2.0 / 3.0], false), DEFAULT_TOLERANCE);
        assert_eq!(by.of(&[0.5, 0.4], false), MAX_TOLERANCE);
        assert_eq!(Tolerance::Fixed(0.5).of(&[0.5], true), 0.5);
    }
}
