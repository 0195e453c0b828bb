//! Least squares on printed numbers: every value that the rounding of the data leaves open.
//!
//! Arguments are the abscissae followed by as many ordinates.

use num_rational::BigRational;
use num_traits::{Signed, Zero};

use super::expr::BITS;
use crate::math::Enclosure;

/// Sums of a straight-line fit that do not depend on the ordinates.
struct Design {
    mean: Enclosure,
    centred: Vec<Enclosure>,
    /// `Σ (xᵢ − x̄)²`.
    spread: Enclosure,
}

fn ratio(n: i64, d: i64) -> Enclosure {
    Enclosure::exact(BigRational::new(n.into(), d.into()))
}

fn total<'a>(terms: impl IntoIterator<Item = &'a Enclosure>) -> Enclosure {
    terms
        .into_iter()
        .fold(Enclosure::integer(0), |sum, term| &sum + term)
}

fn mean(values: &[Enclosure]) -> Option<Enclosure> {
    total(values).divide(&Enclosure::integer(values.len() as u64))
}

fn halves(arguments: &[Enclosure]) -> Option<(&[Enclosure], &[Enclosure])> {
    (arguments.len() >= 4 && arguments.len().is_multiple_of(2))
        .then(|| arguments.split_at(arguments.len() / 2))
}

fn design(x: &[Enclosure]) -> Option<Design> {
    let mean = mean(x)?;
    let centred: Vec<Enclosure> = x.iter().map(|v| v - &mean).collect();
    let squares: Vec<Enclosure> = centred.iter().map(|v| v * v).collect();
    Some(Design {
        mean,
        spread: total(&squares),
        centred,
    })
}

/// The slope `Σ (xᵢ − x̄)·yᵢ / Σ (xᵢ − x̄)²`.
///
/// Linear in the ordinates, so the enclosure is as tight as their rounding allows.
pub(super) fn slope(arguments: &[Enclosure]) -> Option<Enclosure> {
    let (x, y) = halves(arguments)?;
    let design = design(x)?;
    let products: Vec<Enclosure> = design.centred.iter().zip(y).map(|(c, y)| c * y).collect();
    total(&products).divide(&design.spread)
}

/// The intercept `Σ (1/n − x̄·(xᵢ − x̄)/Σ(xⱼ − x̄)²)·yᵢ`, linear in the ordinates too.
pub(super) fn intercept(arguments: &[Enclosure]) -> Option<Enclosure> {
    let (x, y) = halves(arguments)?;
    let design = design(x)?;
    let share = ratio(1, i64::try_from(x.len()).ok()?);
    let lever = design.mean.divide(&design.spread)?;
    let products: Vec<Enclosure> = design
        .centred
        .iter()
        .zip(y)
        .map(|(c, y)| &(&share - &(&lever * c)) * y)
        .collect();
    Some(total(&products))
}

/// `R² = 1 − S/T` of the fitted line, `S` the squared length of the residuals and `T` that of the
/// centred ordinates.
///
/// Both lengths are seminorms of the ordinates, projections of their Euclidean length. So when the
/// ordinates move by a vector of length at most `ρ` from the middle of their rounding box, `√S` and
/// `√T` move by at most `ρ` each, and
/// `((√S − ρ)⁺/(√T + ρ))² ≤ 1 − R² ≤ ((√S + ρ)/(√T − ρ))²`.
/// Evaluating the quotient directly would count the same rounding several times over.
///
/// `None` where `√T ≤ ρ`: the points may then be all equal.
pub(super) fn r_squared(arguments: &[Enclosure]) -> Option<Enclosure> {
    let (x, y) = halves(arguments)?;
    let design = design(x)?;
    let two = BigRational::from_integer(2.into());
    let middle: Vec<Enclosure> = y
        .iter()
        .map(|v| Enclosure::exact((v.low() + v.high()) / &two))
        .collect();
    let radii: Vec<Enclosure> = y
        .iter()
        .map(|v| Enclosure::exact((v.high() - v.low()) / &two))
        .map(|r| &r * &r)
        .collect();
    let centre = mean(&middle)?;
    let deviations: Vec<Enclosure> = middle.iter().map(|v| v - &centre).collect();
    let products: Vec<Enclosure> = design
        .centred
        .iter()
        .zip(&deviations)
        .map(|(c, d)| c * d)
        .collect();
    let squares: Vec<Enclosure> = deviations.iter().map(|d| d * d).collect();
    let (sxy, syy) = (total(&products), total(&squares));
    let residual = &syy - &(&sxy * &sxy).divide(&design.spread)?;
    let (s, t) = (not_negative(&residual).sqrt(BITS)?, syy.sqrt(BITS)?);
    let rho = total(&radii).sqrt(BITS)?;
    let most = (&s + &rho).divide(&positive(&(&t - &rho))?)?;
    let least = not_negative(&(&s - &rho)).divide(&(&t + &rho))?;
    let one = Enclosure::integer(1);
    Some(Enclosure::between(
        (&one - &(&most * &most)).low().clone(),
        (&one - &(&least * &least)).high().clone(),
    ))
}

/// The part of an enclosure that is not below zero, for a number known not to be negative.
fn not_negative(x: &Enclosure) -> Enclosure {
    let zero = BigRational::zero();
    Enclosure::between(x.low().max(&zero).clone(), x.high().max(&zero).clone())
}

fn positive(x: &Enclosure) -> Option<Enclosure> {
    x.low().is_positive().then(|| x.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[(i64, i64)]) -> Vec<Enclosure> {
        values.iter().map(|&(n, d)| ratio(n, d)).collect()
    }

    #[test]
    fn a_line_is_found_exactly() {
        // y = 3x − 1/2 on x = 1, 2, 4
        let data = points(&[(1, 1), (2, 1), (4, 1), (5, 2), (11, 2), (23, 2)]);
        assert_eq!(slope(&data), Some(ratio(3, 1)));
        assert_eq!(intercept(&data), Some(ratio(-1, 2)));
        assert_eq!(r_squared(&data), Some(ratio(1, 1)));
    }

    #[test]
    fn scattered_points_give_the_textbook_values() {
        // x = 0 1 2 3, y = 0 2 1 3: slope 4/5, intercept 3/10, R² = 16/25, by hand.
        let data = points(&[
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 1),
            (0, 1),
            (2, 1),
            (1, 1),
            (3, 1),
        ]);
        assert_eq!(slope(&data), Some(ratio(4, 5)));
        assert_eq!(intercept(&data), Some(ratio(3, 10)));
        // The roots inside are dyadic enclosures, so the exact value is enclosed to 2⁻⁶⁰.
        let r2 = r_squared(&data).unwrap();
        let exact = BigRational::new(16.into(), 25.into());
        assert!(r2.low() <= &exact && &exact <= r2.high());
        let width = BigRational::new(1.into(), (1i64 << 60).into());
        assert!(r2.high() - r2.low() < width);
    }

    #[test]
    fn the_enclosure_contains_every_corner_of_the_rounding_box() {
        let x = points(&[(0, 1), (1, 1), (2, 1), (3, 1)]);
        let y = [(0, 10), (20, 10), (10, 10), (30, 10)];
        let boxed: Vec<Enclosure> = y
            .iter()
            .map(|&(n, d)| {
                Enclosure::between(
                    BigRational::new((2 * n - 1).into(), (2 * d).into()),
                    BigRational::new((2 * n + 1).into(), (2 * d).into()),
                )
            })
            .collect();
        let all = r_squared(&[x.clone(), boxed].concat()).unwrap();
        for corner in 0..16i64 {
            let ends: Vec<Enclosure> = y
                .iter()
                .enumerate()
                .map(|(i, &(n, d))| ratio(2 * n - 1 + 2 * ((corner >> i) & 1), 2 * d))
                .collect();
            let at = r_squared(&[x.clone(), ends].concat()).unwrap();
            assert!(all.low() <= at.low() && at.high() <= all.high(), "{corner}");
        }
    }

    #[test]
    fn too_few_or_equal_points_have_no_line() {
        assert_eq!(slope(&points(&[(1, 1), (2, 1)])), None);
        assert_eq!(slope(&points(&[(1, 1), (1, 1), (2, 1), (3, 1)])), None);
        assert_eq!(r_squared(&points(&[(1, 1), (2, 1), (3, 1), (3, 1)])), None);
    }
}
