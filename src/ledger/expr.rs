//! Arithmetic on printed numbers: expressions that know which cells they use, can be written out
//! with the printed digits, and are evaluated as rigorous enclosures.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};

use super::paper::{NoSuchCell, Paper, Printed};
use crate::math::Enclosure;

/// Precision of roots and logarithms. Printed numbers have at most five digits, so 2⁻⁶⁴ is far
/// below anything that rounding leaves open, and a wrong choice could only make an enclosure
/// wider, never wrong.
pub(super) const BITS: u32 = 64;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerError {
    /// A cell is missing.
    Cell(NoSuchCell),
    /// A quotient by something that may be zero, or a root or logarithm outside its domain.
    Undefined {
        /// The expression, written out.
        what: String,
    },
    /// A formula that cannot be read.
    Formula {
        /// The formula.
        formula: String,
        /// What is wrong with it.
        message: String,
    },
    /// Embedded data or weights that cannot be used.
    Data(String),
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Cell(missing) => missing.fmt(f),
            LedgerError::Undefined { what } => write!(
                f,
                "{what} is undefined for the printed numbers; look for a misprint among them"
            ),
            LedgerError::Formula { formula, message } => write!(f, "`{formula}`: {message}"),
            LedgerError::Data(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for LedgerError {}

impl From<NoSuchCell> for LedgerError {
    fn from(missing: NoSuchCell) -> Self {
        LedgerError::Cell(missing)
    }
}

/// The paper, and a note of which cells have been looked at.
#[derive(Debug)]
pub struct Reading<'a> {
    paper: &'a Paper,
    read: RefCell<BTreeSet<String>>,
}

impl<'a> Reading<'a> {
    /// Opens the paper with nothing looked at yet.
    pub fn new(paper: &'a Paper) -> Self {
        Reading {
            paper,
            read: RefCell::default(),
        }
    }

    /// The number in a cell.
    ///
    /// # Errors
    /// [`NoSuchCell`].
    pub fn number(&self, id: &str) -> Result<Printed, NoSuchCell> {
        self.read.borrow_mut().insert(id.to_owned());
        self.paper.number(id)
    }

    /// Everything that a cell's digits leave open.
    ///
    /// # Errors
    /// [`NoSuchCell`].
    pub fn enclosure(&self, id: &str) -> Result<Enclosure, NoSuchCell> {
        Ok(enclose(&self.number(id)?))
    }

    /// The paper itself, for words and for the shape of its tables.
    pub fn paper(&self) -> &Paper {
        self.paper
    }

    /// The cells looked at so far.
    pub fn cells_read(&self) -> BTreeSet<String> {
        self.read.borrow().clone()
    }
}

/// The rounding interval of a printed number.
pub(super) fn enclose(printed: &Printed) -> Enclosure {
    let (low, high) = printed.interval();
    Enclosure::between(low, high)
}

/// Whether two enclosures have a number in common.
pub(super) fn overlap(a: &Enclosure, b: &Enclosure) -> bool {
    !a.exceeds(b) && !b.exceeds(a)
}

pub(super) type Function = fn(&[Enclosure]) -> Option<Enclosure>;

/// An expression over cells.
#[derive(Clone, Debug)]
pub enum Expr {
    /// The number in a cell.
    Cell(String),
    /// A constant of the formula.
    Number(BigRational),
    /// `a + b`.
    Add(Box<Expr>, Box<Expr>),
    /// `a − b`.
    Sub(Box<Expr>, Box<Expr>),
    /// `a · b`.
    Mul(Box<Expr>, Box<Expr>),
    /// `a / b`.
    Div(Box<Expr>, Box<Expr>),
    /// A function of several arguments, and the name by which it is written out.
    Call(String, Function, Vec<Expr>),
}

impl Expr {
    /// All values that the printed digits leave open.
    ///
    /// # Errors
    /// [`LedgerError`] names a missing cell, or the part that is undefined.
    pub fn value(&self, paper: &Reading<'_>) -> Result<Enclosure, LedgerError> {
        let undefined = || LedgerError::Undefined {
            what: self.written_out(paper.paper()),
        };
        Ok(match self {
            Expr::Cell(id) => paper.enclosure(id)?,
            Expr::Number(n) => Enclosure::exact(n.clone()),
            Expr::Add(a, b) => &a.value(paper)? + &b.value(paper)?,
            Expr::Sub(a, b) => &a.value(paper)? - &b.value(paper)?,
            Expr::Mul(a, b) => &a.value(paper)? * &b.value(paper)?,
            Expr::Div(a, b) => a
                .value(paper)?
                .divide(&b.value(paper)?)
                .ok_or_else(undefined)?,
            Expr::Call(_, function, arguments) => {
                let values = arguments
                    .iter()
                    .map(|argument| argument.value(paper))
                    .collect::<Result<Vec<_>, _>>()?;
                function(&values).ok_or_else(undefined)?
            }
        })
    }

    /// The expression with `place` for the `@` that its cells may begin with.
    pub(super) fn at(&self, place: &str) -> Expr {
        let at = |e: &Expr| Box::new(e.at(place));
        match self {
            Expr::Cell(id) => Expr::Cell(id.replacen('@', place, 1)),
            Expr::Number(n) => Expr::Number(n.clone()),
            Expr::Add(a, b) => Expr::Add(at(a), at(b)),
            Expr::Sub(a, b) => Expr::Sub(at(a), at(b)),
            Expr::Mul(a, b) => Expr::Mul(at(a), at(b)),
            Expr::Div(a, b) => Expr::Div(at(a), at(b)),
            Expr::Call(name, function, arguments) => {
                let arguments = arguments.iter().map(|a| a.at(place)).collect();
                Expr::Call(name.clone(), *function, arguments)
            }
        }
    }

    /// The expression with the printed digits in place of the cells, as a reader would key it in.
    pub fn written_out(&self, paper: &Paper) -> String {
        self.write(paper, 0)
    }

    /// `level` is how tightly the surroundings bind: 0 nothing, 1 a sum, 2 a product, 3 a divisor.
    fn write(&self, paper: &Paper, level: u8) -> String {
        let infix = |sign: &str, own: u8, a: &Expr, b: &Expr, right: u8| {
            let text = format!("{}{sign}{}", a.write(paper, own), b.write(paper, right));
            if level > own {
                format!("({text})")
            } else {
                text
            }
        };
        match self {
            Expr::Cell(id) => match paper.number(id) {
                Ok(printed) => printed.to_string(),
                Err(_) => format!("[{id}]"),
            },
            Expr::Number(n) if n.is_integer() || level < 2 => n.to_string(),
            Expr::Number(n) => format!("({n})"),
            Expr::Add(a, b) => infix(" + ", 1, a, b, 1),
            Expr::Sub(a, b) => infix(" − ", 1, a, b, 2),
            Expr::Mul(a, b) => infix("·", 2, a, b, 2),
            Expr::Div(a, b) => infix("/", 2, a, b, 3),
            Expr::Call(name, _, arguments) if name == "√" => {
                let inner: Vec<String> = arguments.iter().map(|x| x.write(paper, 0)).collect();
                let inner = inner.concat();
                if inner.chars().all(|c| c.is_ascii_digit()) {
                    format!("√{inner}")
                } else {
                    format!("√({inner})")
                }
            }
            Expr::Call(name, _, arguments) => {
                let inner: Vec<String> = arguments.iter().map(|x| x.write(paper, 0)).collect();
                format!("{name}({})", inner.join(", "))
            }
        }
    }
}

/// `x` with `places` digits after the point, rounded half away from zero.
pub(super) fn decimal(x: &BigRational, places: u32) -> String {
    let scale = BigRational::from_integer(BigInt::from(10).pow(places));
    let scaled = (x.abs() * scale).round().to_integer();
    let sign = if x.is_negative() && !scaled.is_zero() {
        "-"
    } else {
        ""
    };
    let digits = scaled.to_string();
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let places = places as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// An enclosure as a reader sees it: one number where both ends agree to `places` digits, else
/// both ends.
pub(super) fn shown(x: &Enclosure, places: u32) -> String {
    let (low, high) = (decimal(x.low(), places), decimal(x.high(), places));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    fn expr(formula: &str) -> Expr {
        Expr::parse(formula, &Paper::published()).unwrap()
    }

    #[test]
    fn an_expression_reads_as_it_is_evaluated() {
        let paper = Paper::published();
        let bound = expr("[sec:thm1/epsilon] + [sec:thm1/bound/C]/√[sec:thm1/bound/K_eff]");
        assert_eq!(bound.written_out(&paper), "0.140 + 2.0/√5");
        let nested = expr("(1 - (2 - 3))/(4/5)·(6 + 7)");
        assert_eq!(nested.written_out(&paper), "(1 − (2 − 3))/(4/5)·(6 + 7)");
        let reading = Reading::new(&paper);
        // (1 − (2 − 3)) / (4/5) · 13 = 2 · 5/4 · 13 = 32.5
        assert_eq!(nested.value(&reading).unwrap().low(), &q(65, 2));
        bound.value(&reading).unwrap();
        assert_eq!(reading.cells_read().len(), 3);
    }

    #[test]
    fn a_sum_of_rounded_numbers_is_as_wide_as_their_rounding() {
        let paper = Paper::published();
        let sum = expr("[tab:thm7/K=2/epistemic] + [tab:thm7/K=2/aleatoric]");
        let value = sum.value(&Reading::new(&paper)).unwrap();
        // 0.0920 + 0.0383, each ± 0.00005
        assert_eq!(value.low(), &q(1302, 10_000));
        assert_eq!(value.high(), &q(1304, 10_000));
    }

    #[test]
    fn what_is_undefined_is_named() {
        let paper = Paper::published();
        let reading = Reading::new(&paper);
        let error = expr("1/[tab:thm5/eps=0.0/L1]").value(&reading).unwrap_err();
        assert!(error.to_string().contains("1/0.000"), "{error}");
        let error = expr("[nowhere]").value(&reading).unwrap_err();
        assert!(error.to_string().contains("`nowhere`"), "{error}");
        assert!(expr("ln(0)").value(&reading).is_err());
    }

    #[test]
    fn decimals_round_half_away_from_zero() {
        assert_eq!(decimal(&q(1, 2), 0), "1");
        assert_eq!(decimal(&q(-1, 3), 4), "-0.3333");
        assert_eq!(decimal(&q(-1, 30_000), 3), "0.000");
        assert_eq!(decimal(&q(12_345, 100), 1), "123.5");
        assert_eq!(
            shown(&Enclosure::between(q(1, 3), q(2, 3)), 2),
            "0.33 to 0.67"
        );
    }
}
