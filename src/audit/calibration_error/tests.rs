//! The intervals against the formulas word for word, and in worlds where confidences vary too.

use super::*;
use crate::bounds::binomial_upper_tail;
use crate::latent::random::Stream;

const BINS: usize = 15;

/// A log of confidences and outcomes.
fn grid(rows: &[(f64, bool)]) -> Grid {
    let mut grid = Grid::default();
    for &(c, right) in rows {
        assert!(grid.add(c, right));
    }
    grid
}

fn top(rows: &[(f64, bool)]) -> Reliability {
    let mut top = Reliability::new(BINS).unwrap();
    for &(c, right) in rows {
        top.add(c, right).unwrap();
    }
    top
}

fn value(rows: &[(f64, bool)]) -> f64 {
    let mut gaps = [0.0; BINS];
    for &(c, right) in rows {
        gaps[bin_index(c, BINS).unwrap()] += c - f64::from(u8::from(right));
    }
    gaps.iter().map(|gap| gap.abs()).sum::<f64>() / rows.len() as f64
}

fn draw(kinds: &[(f64, f64)], rows: u64, stream: &mut Stream) -> Vec<(f64, bool)> {
    let mut row = |_| {
        let (c, q) = kinds[stream.below(kinds.len() as u64) as usize];
        (c, stream.uniform() < q)
    };
    (0..rows).map(&mut row).collect()
}

/// Word for word: the wealth at the upper end, with the signs that the population has, reaches its level,
/// and any signs leave at least as much as was counted on.
#[test]
fn the_upper_end_is_paid_for_by_any_signs() {
    let kinds = [(0.6, 0.75), (0.9, 0.75), (0.99, 0.95)];
    let mut stream = Stream::new(1, 2, 3, 4);
    let rows = draw(&kinds, 300, &mut stream);
    let estimate = ece(value(&rows), &grid(&rows), &top(&rows), None, 0.05);
    let high = estimate.ends.high(1.0);
    let q = (1.0 - high) / 2.0;
    for signs in 0..8u32 {
        let sign = |c: f64| {
            let kind = kinds.iter().position(|k| k.0 == c).unwrap();
            if signs >> kind & 1 == 1 { -1.0 } else { 1.0 }
        };
        let wealth = mixed(300.0, |theta| {
            let log = |&(c, right): &(f64, bool)| {
                let z = c - f64::from(u8::from(right));
                let x = (1.0 - sign(c) * z) / 2.0;
                (1.0 + theta * (x - q) / q).ln()
            };
            rows.iter().map(log).sum()
        });
        assert!(wealth >= -ln(0.025), "{signs}: {wealth}");
    }
    // Not much is given away.
    assert!(estimate.ends.high_reaches(1.0, high + 1e-6));
    assert!(!estimate.ends.high_reaches(1.0, high - 1e-4));
    let low = estimate.ends.low(1.0);
    assert!(low < value(&rows) && value(&rows) < high);
    assert!(
        estimate.ends.low_reaches(1.0, low - 1e-6) && !estimate.ends.low_reaches(1.0, low + 1e-4)
    );
}

/// Joining cells and knowing confidences to a cell costs little, and never helps.
#[test]
fn joined_cells_are_worth_a_little_less_than_their_rows() {
    let mut stream = Stream::new(1, 2, 3, 5);
    let mut row = |_: u32| {
        let c = 0.5 + 0.5 * stream.uniform();
        (c, stream.uniform() < c - 0.05)
    };
    let rows: Vec<(f64, bool)> = (0..20_000).map(&mut row).collect();
    let grid = grid(&rows);
    assert!(grid.cells().count() > FEW);
    let gap_of = |rows: &[(f64, bool)]| {
        let sum: f64 = rows.iter().map(|&(c, y)| c - f64::from(u8::from(y))).sum();
        sum / rows.len() as f64
    };
    let estimate = gap(gap_of(&rows), &grid, None, 0.05);
    let exact = |mirrored: bool| {
        let point = |&(c, right): &(f64, bool)| {
            let z = c - f64::from(u8::from(right));
            Point {
                value: (1.0 + if mirrored { -z } else { z }) / 2.0,
                count: 1.0,
                spread: 0.0,
            }
        };
        Seen::Points(rows.iter().map(point).collect()).lower(0.025, 1.0)
    };
    let (low, high) = (2.0 * exact(false) - 1.0, 1.0 - 2.0 * exact(true));
    let (got_low, got_high) = (estimate.ends.low(1.0), estimate.ends.high(1.0));
    assert!(got_low <= low && low - got_low < 1e-4, "{got_low} {low}");
    assert!(
        got_high >= high && got_high - high < 1e-4,
        "{got_high} {high}"
    );
}

/// Logs in which an interval of level 0.95 misses the population's value.
fn misses(kinds: &[(f64, f64)], rows: u64, logs: u64, of_error: bool) -> u64 {
    let share = 1.0 / kinds.len() as f64;
    let mut gaps = [0.0; BINS];
    for (c, q) in kinds {
        gaps[bin_index(*c, BINS).unwrap()] += share * (c - q);
    }
    let truth = match of_error {
        true => gaps.iter().map(|gap| gap.abs()).sum::<f64>(),
        false => gaps.iter().sum(),
    };
    let missed = |log: &u64| {
        let mut stream = Stream::new(9, rows, *log, u64::from(of_error));
        let drawn = draw(kinds, rows, &mut stream);
        let grid = grid(&drawn);
        let sum: f64 = drawn.iter().map(|&(c, y)| c - f64::from(u8::from(y))).sum();
        let estimate = match of_error {
            true => ece(value(&drawn), &grid, &top(&drawn), None, 0.05),
            false => gap(sum / rows as f64, &grid, None, 0.05),
        };
        !(estimate.ends.low(1.0) <= truth + 1e-12 && truth <= estimate.ends.high(1.0) + 1e-12)
    };
    (0..logs).filter(missed).count() as u64
}

/// The world in which an interval for given confidences misses in 4 of 10 logs.
#[test]
fn intervals_hold_the_population_where_confidences_vary_more_than_outcomes() {
    const LOGS: u64 = 300;
    for rows in [5, 60] {
        for of_error in [false, true] {
            let missed = misses(&[(0.99, 1.0), (0.6, 1.0)], rows, LOGS, of_error);
            let tail = binomial_upper_tail(missed, LOGS, 0.05).unwrap().high();
            assert!(tail > 1e-9, "{rows} {of_error}: {missed}");
        }
    }
}

/// Confidences on either side of a bin's edge, in one cell of the grid, with gaps of both signs: as one bin they
/// would cancel.
#[test]
fn an_edge_of_a_bin_inside_of_a_cell_hides_no_gap() {
    const LOGS: u64 = 300;
    for shift in [2e-6, 1e-12] {
        let kinds = [(0.6 - shift, 0.9), (0.6 + shift, 0.3)];
        for rows in [30, 200] {
            let missed = misses(&kinds, rows, LOGS, true);
            let tail = binomial_upper_tail(missed, LOGS, 0.05).unwrap().high();
            assert!(tail > 1e-9, "{shift} {rows}: {missed}");
        }
    }
}

/// Cells of all kinds: every row is in the bin that it was counted in.
#[test]
fn parts_of_cells_are_those_of_the_bins() {
    let mut stream = Stream::new(1, 2, 3, 7);
    for bins in [1, 7, 15, 1024] {
        for mut grid in [Grid::default(), Grid::of_slice()] {
            let mut top = Reliability::new(bins).unwrap();
            let mut edges = 0;
            for _ in 0..20_000 {
                let edge = stream.below(bins as u64 + 1) as f64 / bins as f64;
                let near = edge + (stream.uniform() - 0.5) * 1e-5;
                let c = match stream.below(3) {
                    0 => edge,
                    1 => near.clamp(0.0, 1.0),
                    _ => stream.uniform(),
                };
                edges += u32::from(c == edge);
                let right = stream.uniform() < 0.5;
                assert!(grid.add(c, right));
                top.add(c, right).unwrap();
            }
            assert!(edges > 5000);
            let mut found = vec![(0, 0); bins];
            for part in in_bins(&grid, &top) {
                found[part.bin].0 += part.cell.count;
                found[part.bin].1 += part.cell.correct;
            }
            let own = top.bins();
            let own: Vec<(u64, u64)> = own.iter().map(|b| (b.count, b.correct)).collect();
            assert_eq!(found, own, "{bins}");
        }
    }
}

/// McDiarmid's limit for given confidences is 0.0322 above the value at 5,000 rows; this one, for the
/// population, is nearer.
#[test]
fn the_upper_end_is_nearer_than_that_of_bounded_differences() {
    let mut stream = Stream::new(1, 2, 3, 6);
    let kinds = [
        (0.55, 0.55),
        (0.65, 0.65),
        (0.75, 0.75),
        (0.85, 0.85),
        (0.95, 0.95),
    ];
    let rows = draw(&kinds, 5000, &mut stream);
    let value = value(&rows);
    let estimate = ece(value, &grid(&rows), &top(&rows), None, 0.05);
    let high = estimate.ends.high(1.0);
    assert!(
        high > value && high - value < (ln(40.0) / 10_000.0).sqrt(),
        "{value} {high}"
    );
}

/// By hand: three rows with z = 1/4, −1/2 and −3/4, so Σ z² = 7/8 and their mean square 7/24.
#[test]
fn the_error_of_a_gap_is_that_of_its_rows() {
    let rows = [(0.25, false), (0.5, true), (0.25, true)];
    let rows = grid(&rows);
    assert_eq!(mean_square(&rows), 0.875 / 3.0);
    // (1/20 − 1/100)/100 = (1/50)²; what no row may have shown adds ln 10/1.2815…/100 across.
    let want = libm::hypot(
        0.02,
        std::f64::consts::LN_10 / 1.281_551_565_544_600_4 / 100.0,
    );
    let got = error_of_mean(0.1, 0.05, 100.0);
    assert!(
        (got - want).abs() <= 4.0 * f64::EPSILON * want,
        "{got} {want}"
    );
    // The mean confidence of 1/4, 1/2 and 3/4: their mean square is 7/24, their variance 1/24.
    let rows = [(0.25, false), (0.5, true), (0.75, true)];
    let got = confidence(0.5, &grid(&rows), 0.05).error;
    let unseen = std::f64::consts::LN_10 / 1.281_551_565_544_600_4 / 3.0;
    let want = libm::hypot(libm::sqrt(1.0 / 72.0), unseen);
    assert!(
        (got - want).abs() <= 8.0 * f64::EPSILON * want,
        "{got} {want}"
    );
    // Rounding may leave the mean square below the square of the mean; that is no spread.
    assert_eq!(
        error_of_mean(0.5, 0.25 - 1e-17, 100.0),
        error_of_mean(0.5, 0.25, 100.0)
    );
}

/// Word for word: two clusters' sums against the formula, rounding of 2⁻³² a row on the side that is certain.
#[test]
fn the_wealth_of_clusters_is_that_of_the_formula() {
    let sizes = GroupSums {
        groups: 2.0,
        count: 6.0,
        largest: 4.0,
        count_squares: 20.0,
        sum: 1.5,
        squares: 1.25,
        cross: 5.0,
    };
    let ends = ClusterEnds {
        gap: sizes,
        sizes,
        value: 0.25,
        shares: Shares::new(BINS, 0.05),
    };
    let unit = 2.0f64.powi(-32);
    let (q, e, distance) = (0.25, 0.5, 0.125);
    let first = (distance - unit) * 6.0 / 2.0;
    let size = e + unit;
    let second = (1.25 + 2.0 * size * 5.0 + size * size * 20.0) / 4.0;
    // q·4 = 1.
    let want = mixed(2.0, |theta| {
        theta * first - (-libm::log1p(-theta) - theta) * second
    });
    let got = ends.wealth(q, e, distance, 1.0);
    assert!(
        (got - want).abs() <= 16.0 * f64::EPSILON * want.abs(),
        "{got} {want}"
    );
    assert_eq!(ends.wealth(q, -e, distance, 1.0), got);
}
