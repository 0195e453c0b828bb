//! A number as it is printed: its digits, and what they leave open.

use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;

/// The sign printed before a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Printed as is.
    Equal,
    /// Printed with `≈` or `~`.
    About,
    /// Printed with `<`: an upper bound, not a value.
    Below,
}

/// The sign printed behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// Nothing.
    None,
    /// `%` or `pp`: the value is a hundredth of the digits.
    Percent,
    /// `×`: a ratio.
    Times,
}

/// How a printed number came to have the digits it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Chosen or counted, so the digits are the whole truth: `δ = 0.05`, `N = 4200`.
    Setting,
    /// Measured or computed, then rounded to the last printed digit.
    Result,
}

/// One printed number: `digits · 10^(−decimals)` with the signs around it.
///
/// The value that was rounded lies in the closed interval [`Printed::interval`], so that "equal
/// within rounding" is a question about two intervals of exact rationals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    digits: i64,
    decimals: i8,
    relation: Relation,
    suffix: Suffix,
    source: Source,
}

impl Printed {
    /// Reads a literal such as `0.774`, `1,000`, `≈85%`, `<0.002%`, `1.12×` or `6e7`.
    ///
    /// `~` is the same as `≈`, and `x` as `×`; a leading `+` is allowed. `None` for anything else,
    /// and for more than 17 digits.
    pub fn parse(literal: &str, source: Source) -> Option<Printed> {
        let (relation, rest) = match literal.chars().next()? {
            '~' | '≈' => (Relation::About, literal.strip_prefix(['~', '≈'])?),
            '<' => (Relation::Below, &literal[1..]),
            _ => (Relation::Equal, literal),
        };
        let (suffix, rest) = match rest.chars().next_back()? {
            '%' => (Suffix::Percent, rest.strip_suffix('%')?),
            'x' | '×' => (Suffix::Times, rest.strip_suffix(['x', '×'])?),
            _ => (Suffix::None, rest),
        };
        let (sign, rest) = match rest.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, rest.strip_prefix('+').unwrap_or(rest)),
        };
        let (number, zeros) = match rest.split_once('e') {
            Some((number, zeros)) if zeros.len() == 1 => (number, zeros.parse::<i8>().ok()?),
            Some(_) => return None,
            None => (rest, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = whole.replace(',', "") + fraction;
        if digits.is_empty() || digits.len() > 17 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Printed {
            digits: sign * digits.parse::<i64>().ok()?,
            decimals: i8::try_from(fraction.len()).ok()? - zeros,
            relation,
            suffix,
            source,
        })
    }

    /// The sign before the number.
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The sign behind the number.
    pub fn suffix(&self) -> Suffix {
        self.suffix
    }

    /// Whether the digits are exact or rounded.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Digits of [`Printed::value`] after the point that carry information.
    pub fn digits_after_point(&self) -> u8 {
        u8::try_from(self.places()).unwrap_or(0)
    }

    fn places(&self) -> i32 {
        let hundredths = if self.suffix == Suffix::Percent { 2 } else { 0 };
        i32::from(self.decimals) + hundredths
    }

    /// `10^(−decimals)`, a hundredth of it for a percentage.
    fn scale(&self) -> BigRational {
        let places = self.places();
        let power = BigRational::from_integer(BigInt::from(10).pow(places.unsigned_abs()));
        if places >= 0 { power.recip() } else { power }
    }

    /// The printed value; a percentage as a fraction of one.
    pub fn value(&self) -> BigRational {
        BigRational::from_integer(self.digits.into()) * self.scale()
    }

    /// The worth of one unit of the last digit that carries information.
    ///
    /// That is the last printed digit, except that an integer printed with `≈` has been rounded to
    /// its last non-zero digit: `≈ 2800` stands for 2750 to 2850.
    pub fn unit(&self) -> BigRational {
        BigRational::from_integer(self.step().into()) * self.scale()
    }

    /// The same unit, in terms of the digits.
    fn step(&self) -> i64 {
        let mut step = 1;
        if self.relation == Relation::About && self.decimals == 0 {
            while self.digits != 0 && self.digits % (10 * step) == 0 {
                step *= 10;
            }
        }
        step
    }

    /// The values that are printed so, as `[low, high]`, both ends included.
    ///
    /// A setting is its value; a result is known to half a unit; `< x` is `[0, x]`, since every
    /// quantity the paper bounds so is non-negative.
    pub fn interval(&self) -> (BigRational, BigRational) {
        let value = self.value();
        if self.relation == Relation::Below {
            return (BigRational::from_integer(0.into()), value);
        }
        if self.source == Source::Setting {
            return (value.clone(), value);
        }
        let half = self.unit() / BigRational::from_integer(2.into());
        (&value - &half, value + half)
    }

    /// The same number with `by` units of its last digit added: a misprint. See
    /// [`Printed::unit`] for which digit that is.
    pub fn shifted(&self, by: i64) -> Printed {
        Printed {
            digits: self.digits.saturating_add(by.saturating_mul(self.step())),
            ..*self
        }
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.relation {
            Relation::Equal => "",
            Relation::About => "≈",
            Relation::Below => "<",
        })?;
        if self.digits < 0 {
            f.write_str("-")?;
        }
        let digits = self.digits.unsigned_abs().to_string();
        match usize::try_from(self.decimals) {
            Err(_) => write!(f, "{digits}e{}", self.decimals.unsigned_abs())?,
            Ok(0) => f.write_str(&digits)?,
            Ok(places) => {
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                write!(f, "{whole}.{fraction}")?;
            }
        }
        f.write_str(match self.suffix {
            Suffix::None => "",
            Suffix::Percent => "%",
            Suffix::Times => "×",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(literal: &str) -> Printed {
        Printed::parse(literal, Source::Result).unwrap()
    }

    fn ratio(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    #[test]
    fn digits_survive_parsing_and_display() {
        for (literal, shown) in [
            ("0.774", "0.774"),
            ("0.000", "0.000"),
            ("0.05", "0.05"),
            ("24.28", "24.28"),
            ("1,000", "1000"),
            ("~2.0", "≈2.0"),
            ("≈2.0", "≈2.0"),
            ("1.12×", "1.12×"),
            ("<0.002%", "<0.002%"),
            ("1.12x", "1.12×"),
            ("6e7", "6e7"),
            ("-3", "-3"),
            ("+2.4%", "2.4%"),
        ] {
            assert_eq!(result(literal).to_string(), shown, "{literal}");
        }
    }

    #[test]
    fn malformed_literals_are_refused() {
        for literal in [
            "", "~", "%", "1.2.3", "0.5 ", "abc", "6e", "5x%", "1e+7", "≈≈2",
        ] {
            assert_eq!(Printed::parse(literal, Source::Result), None, "{literal:?}");
        }
        assert_eq!(Printed::parse("123456789012345678", Source::Result), None);
    }

    #[test]
    fn a_rounded_number_is_known_to_half_a_unit() {
        assert_eq!(
            result("0.774").interval(),
            (ratio(1547, 2000), ratio(1549, 2000))
        );
        assert_eq!(result("82%").interval(), (ratio(163, 200), ratio(165, 200)));
        assert_eq!(result("~2800").interval(), (ratio(2750, 1), ratio(2850, 1)));
        assert_eq!(result("~50%").interval(), (ratio(45, 100), ratio(55, 100)));
        assert_eq!(
            result("<0.002%").interval(),
            (ratio(0, 1), ratio(2, 100_000))
        );
        let setting = Printed::parse("0.05", Source::Setting).unwrap();
        assert_eq!(setting.interval(), (ratio(1, 20), ratio(1, 20)));
    }

    #[test]
    fn a_shift_moves_the_last_printed_digit() {
        assert_eq!(result("0.774").shifted(10).to_string(), "0.784");
        assert_eq!(result("0.004").shifted(-10).to_string(), "-0.006");
        assert_eq!(result("~2800").shifted(1).to_string(), "≈2900");
        assert_eq!(result("2800").shifted(1).to_string(), "2801");
    }
}
