//! Formulas as text: `1 - [sec:thm1/ece]/√[sec:thm1/bound/K_eff]`.
//!
//! | part | meaning |
//! |---|---|
//! | `[id]` | the number in a cell of the paper |
//! | `7` | a whole number |
//! | `+ - · /` | with the usual precedence, from left to right |
//! | `√x`, `ln(x)`, `max(a; b)` | root, natural logarithm, the larger of two |
//! | `least(…)`, `most(…)` | the smallest and largest of any number of arguments |
//! | `slope(x…; y…)`, `intercept`, `R²` | least squares, abscissae first |
//! | `parameters(h)` | weights of the reference aggregator with `h` hidden units |
//! | `each row of table: x` | one argument for each row; cells of `x` that begin with `@` are the row's |
//!
//! A text in braces behind a function's name belongs to the name when the formula is written out.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::expr::{BITS, Expr, Function, LedgerError};
use super::fit;
use super::paper::Paper;
use crate::math::Enclosure;

const FUNCTIONS: [(&str, Function); 8] = [
    ("ln", |x| x.first()?.ln(BITS)),
    ("max", most),
    ("least", least),
    ("most", most),
    ("slope", fit::slope),
    ("intercept", fit::intercept),
    ("R²", fit::r_squared),
    ("parameters", parameters),
];

fn least(values: &[Enclosure]) -> Option<Enclosure> {
    let low = values.iter().map(Enclosure::low).min()?;
    let high = values.iter().map(Enclosure::high).min()?;
    Some(Enclosure::between(low.clone(), high.clone()))
}

fn most(values: &[Enclosure]) -> Option<Enclosure> {
    let low = values.iter().map(Enclosure::low).max()?;
    let high = values.iter().map(Enclosure::high).max()?;
    Some(Enclosure::between(low.clone(), high.clone()))
}

/// Dimension of the latent space in the published reference implementation; the paper does not
/// print it.
pub(super) const REFERENCE_LATENT: u64 = 64;

/// Weights and biases of the reference implementation's aggregator with `h` hidden units and
/// latent dimension `d`: two networks `2d → h → h/2 → 1` and one `2 → h/2 → 1`.
pub(super) fn aggregator_parameters(d: u64, h: u64) -> u64 {
    let layer = |inputs: u64, outputs: u64| inputs * outputs + outputs;
    let half = h / 2;
    2 * (layer(2 * d, h) + layer(h, half) + layer(half, 1)) + layer(2, half) + layer(half, 1)
}

fn parameters(arguments: &[Enclosure]) -> Option<Enclosure> {
    let hidden = arguments.first()?.low().to_integer().to_u64()?;
    Some(Enclosure::integer(aggregator_parameters(
        REFERENCE_LATENT,
        hidden,
    )))
}

impl Expr {
    /// Reads a formula; `paper` says which rows its tables have.
    ///
    /// # Errors
    /// [`LedgerError::Formula`].
    pub fn parse(formula: &str, paper: &Paper) -> Result<Expr, LedgerError> {
        let mut parser = Parser {
            rest: formula,
            paper,
        };
        let parsed = parser.sum().and_then(|expr| match parser.rest.trim() {
            "" => Ok(expr),
            rest => Err(format!("`{rest}` is left over")),
        });
        parsed.map_err(|message| LedgerError::Formula {
            formula: formula.to_owned(),
            message,
        })
    }
}

struct Parser<'a> {
    rest: &'a str,
    paper: &'a Paper,
}

impl Parser<'_> {
    /// Takes `token`, where it is next.
    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(token);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.takes(token) {
            return Ok(());
        }
        Err(format!("`{token}` is missing before `{}`", self.rest))
    }

    /// Takes everything up to `end`, and `end` itself.
    fn up_to(&mut self, end: char) -> Result<String, String> {
        let missing = || format!("`{end}` is missing in `{}`", self.rest);
        let (text, rest) = self.rest.split_once(end).ok_or_else(missing)?;
        self.rest = rest;
        Ok(text.trim().to_owned())
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut left = self.product()?;
        loop {
            if self.takes("+") {
                left = Expr::Add(Box::new(left), Box::new(self.product()?));
            } else if self.takes("-") {
                left = Expr::Sub(Box::new(left), Box::new(self.product()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut left = self.factor()?;
        loop {
            if self.takes("·") {
                left = Expr::Mul(Box::new(left), Box::new(self.factor()?));
            } else if self.takes("/") {
                left = Expr::Div(Box::new(left), Box::new(self.factor()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(&mut self) -> Result<Expr, String> {
        if self.takes("[") {
            return Ok(Expr::Cell(self.up_to(']')?));
        }
        if self.takes("(") {
            let inner = self.sum()?;
            return self.expect(")").map(|()| inner);
        }
        if self.takes("√") {
            let root: Function = |x| x.first()?.sqrt(BITS);
            return Ok(Expr::Call("√".to_owned(), root, vec![self.factor()?]));
        }
        let digits = self.rest.len()
            - self
                .rest
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if let Ok(number) = self.rest[..digits].parse::<u64>() {
            self.rest = &self.rest[digits..];
            return Ok(Expr::Number(BigRational::from_integer(number.into())));
        }
        let function = FUNCTIONS.iter().find(|(name, _)| self.takes(name));
        let (name, function) = function.ok_or_else(|| format!("no value at `{}`", self.rest))?;
        let mut name = (*name).to_owned();
        if self.takes("{") {
            name = format!("{name} {}", self.up_to('}')?);
        }
        self.expect("(")?;
        let mut arguments = Vec::new();
        loop {
            if self.takes("each row of ") {
                let table = self.up_to(':')?;
                // The label itself has a colon: `tab:thm2`.
                let table = format!("{table}:{}", self.up_to(':')?);
                let argument = self.sum()?;
                let rows = self.paper.rows(&table);
                if rows.is_empty() {
                    return Err(format!("`{table}` is no table"));
                }
                arguments.extend(rows.iter().map(|row| argument.at(row)));
            } else {
                arguments.push(self.sum()?);
            }
            if !self.takes(";") {
                self.expect(")")?;
                return Ok(Expr::Call(name, *function, arguments));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        let paper = Paper::published();
        for (formula, message) in [
            ("1 +", "no value at ``"),
            ("(1 + 2", "`)` is missing"),
            ("[sec:thm1/C", "`]` is missing"),
            ("1 2", "`2` is left over"),
            ("ln 2", "`(` is missing"),
            (
                "least(each row of tab:thm9: [@/M])",
                "`tab:thm9` is no table",
            ),
            ("99999999999999999999", "no value"),
        ] {
            let error = Expr::parse(formula, &paper).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_row_stands_for_one_argument_each() {
        let paper = Paper::published();
        let least = Expr::parse("least{of}(each row of tab:thm3: [@/N])", &paper).unwrap();
        assert_eq!(least.written_out(&paper), "least of(2002, 3003, 4200)");
    }

    #[test]
    fn the_parameter_count_is_that_of_the_reference_aggregator() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/reference/aggregator.safetensors"
        );
        let bytes = std::fs::read(file).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let count: usize = tensors
            .tensors()
            .iter()
            .map(|(_, tensor)| tensor.shape().iter().product::<usize>())
            .sum();
        // The fixture's aggregator has 16 hidden units, as the paper's.
        let quality = tensors.tensor("quality_net.0.bias").unwrap();
        assert_eq!(quality.shape(), [16]);
        assert_eq!(count as u64, aggregator_parameters(REFERENCE_LATENT, 16));
    }
}
