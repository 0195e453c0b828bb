//! Means, spreads, percentiles and straight lines, the same bits for any order of the numbers.

use std::borrow::Borrow;

use crate::exhibit::{Cell, Role, Series, Shape};
use crate::math::ExactSum;

/// What several runs of the same measurement gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Their mean; NaN for none.
    pub mean: f64,
    /// Their standard deviation `√(Σ (x − x̄)²/(n − 1))`; `None` for fewer than two.
    pub deviation: Option<f64>,
}

impl Summary {
    /// Summarizes `values`.
    pub fn of(values: impl IntoIterator<Item: Borrow<f64>>) -> Self {
        let values: Vec<f64> = values.into_iter().map(|x| *x.borrow()).collect();
        let count = values.len();
        let mean = mean(values.iter().copied());
        let deviation = (count > 1).then(|| {
            let squares: ExactSum = values.iter().map(|x| (x - mean) * (x - mean)).collect();
            libm::sqrt(squares.to_f64() / (count - 1) as f64)
        });
        Summary {
            count,
            mean,
            deviation,
        }
    }

    /// A number that is computed, not measured: it has no spread.
    pub fn exact(value: f64) -> Self {
        Summary {
            count: 1,
            mean: value,
            deviation: None,
        }
    }

    /// Standard error of the mean, `deviation/√n`; `None` for fewer than two values.
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.deviation? / libm::sqrt(self.count as f64))
    }

    /// Standard error of the difference between this mean and one more run, `deviation·√(1 + 1/n)`;
    /// `None` for fewer than two values.
    pub fn error_of_difference(&self) -> Option<f64> {
        Some(self.deviation? * libm::sqrt(1.0 + 1.0 / self.count as f64))
    }

    /// The mean, with the standard deviation behind the ± sign where there is one.
    pub fn cell(&self, digits: u8) -> Cell {
        match self.deviation {
            Some(deviation) => Cell::spread(self.mean, deviation, digits),
            None => Cell::number(self.mean, digits),
        }
    }

    /// Means at their abscissae, with the standard deviations as error bars.
    pub fn series(
        name: &str,
        role: Role,
        shape: Shape,
        at: impl IntoIterator<Item = (f64, Summary)>,
    ) -> Series {
        let points = at.into_iter();
        let points = points.map(|(x, s)| ((x, s.mean), s.deviation.unwrap_or(0.0)));
        let (points, errors): (Vec<_>, Vec<_>) = points.unzip();
        Series::new(name, role, shape, points).with_errors(errors)
    }
}

/// The mean of some numbers, from their exact sum; NaN for none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut count = 0usize;
    let counted = values.into_iter().inspect(|_| count += 1);
    let sum: ExactSum = counted.collect();
    sum.to_f64() / count as f64
}

/// The `percent`-th percentile: the value at rank `(n − 1)·percent/100`, counted from zero in
/// order of size, between two of them by linear interpolation. NaN for no values.
pub fn percentile(values: &[f64], percent: u32) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let hundredths = last * percent.min(100) as usize;
    let (below, rest) = (hundredths / 100, hundredths % 100);
    match sorted.get(below + 1) {
        Some(above) if rest > 0 => sorted[below] + (above - sorted[below]) * (rest as f64 / 100.0),
        _ => sorted[below],
    }
}

/// A straight line fitted by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Slope.
    pub slope: f64,
    /// Value at zero.
    pub intercept: f64,
    /// `R²`, the share of the ordinates' variance that the line explains; NaN where they do not
    /// vary.
    pub r_squared: f64,
}

impl Line {
    /// The line through `points` with the least squared vertical distances; NaN everywhere unless
    /// the abscissae take two values.
    pub fn fit(points: &[(f64, f64)]) -> Self {
        let x_mean = mean(points.iter().map(|p| p.0));
        let y_mean = mean(points.iter().map(|p| p.1));
        let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            let terms = points.iter().map(|p| f(p.0 - x_mean, p.1 - y_mean));
            terms.collect::<ExactSum>().to_f64()
        };
        let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
        let slope = xy / xx;
        let left = sum(&|x, y| (y - slope * x) * (y - slope * x));
        Line {
            slope,
            intercept: y_mean - slope * x_mean,
            r_squared: 1.0 - left / yy,
        }
    }

    /// The line's value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_known_by_hand() {
        // Mean 3, squares 4 + 1 + 1 + 4 = 10 over n − 1 = 4.
        let s = Summary::of([1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((s.count, s.mean), (5, 3.0));
        assert_eq!(s.deviation, Some(2.5f64.sqrt()));
        assert_eq!(s.standard_error(), Some(2.5f64.sqrt() / 5f64.sqrt()));
        assert_eq!(s.error_of_difference(), Some(2.5f64.sqrt() * 1.2f64.sqrt()));
        assert_eq!(Summary::of([7.0]).deviation, None);
        assert!(Summary::of([0.0; 0]).mean.is_nan());
        assert_eq!(Summary::of([1e16, 1.0, -1e16]).mean, 1.0 / 3.0);
    }

    #[test]
    fn percentiles_interpolate_between_neighbours() {
        let values = [30.0, 10.0, 20.0, 40.0, 50.0];
        for (percent, want) in [(0, 10.0), (25, 20.0), (50, 30.0), (95, 48.0), (100, 50.0)] {
            assert_eq!(percentile(&values, percent), want, "{percent}");
        }
        assert_eq!(percentile(&[1.0], 95), 1.0);
        assert!(percentile(&[], 50).is_nan());
    }

    #[test]
    fn a_line_is_found_again_and_a_bend_lowers_its_share() {
        let line = Line::fit(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0), (5.0, 11.0)]);
        assert_eq!(
            (line.slope, line.intercept, line.r_squared),
            (2.0, 1.0, 1.0)
        );
        assert_eq!(line.at(10.0), 21.0);
        // y = x² at −1, 0, 1: slope 0, mean 2/3; nothing is explained.
        let bend = Line::fit(&[(-1.0, 1.0), (0.0, 0.0), (1.0, 1.0)]);
        assert_eq!(bend.slope, 0.0);
        assert!(bend.r_squared.abs() <= f64::EPSILON, "{}", bend.r_squared);
        assert!(Line::fit(&[(1.0, 2.0), (1.0, 3.0)]).slope.is_nan());
    }
}
