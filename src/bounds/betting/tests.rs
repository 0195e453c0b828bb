//! Limits against exact fractions, and in worlds where they must hold.

use super::*;
use crate::bounds::{binomial_upper_tail, clopper_pearson_lower};
use crate::latent::random::Stream;
use crate::math::rational;
use num_rational::BigRational;
use num_traits::{One, pow};

fn points(values: &[(f64, f64)]) -> Seen {
    let point = |&(value, count): &(f64, f64)| Point {
        value,
        count,
        spread: 0.0,
    };
    Seen::Points(values.iter().map(point).collect())
}

/// The wealth word for word, in exact fractions.
fn exact_wealth(values: &[(f64, usize)], q: f64) -> BigRational {
    let n: usize = values.iter().map(|(_, count)| count).sum();
    let bets: Vec<f64> = bets(n as f64).collect();
    let mut total = BigRational::from_integer(0.into());
    for &theta in &bets {
        let mut product = BigRational::one();
        for &(x, count) in values {
            let gain = rational(theta).unwrap() * (rational(x).unwrap() - rational(q).unwrap());
            product *= pow(BigRational::one() + gain / rational(q).unwrap(), count);
        }
        total += product;
    }
    total / BigRational::from_integer(bets.len().into())
}

#[test]
fn wealth_is_that_of_the_formula_and_never_above_it() {
    let values = [(0.25, 3), (0.5, 5), (1.0, 4), (0.0, 2)];
    let seen = points(&values.map(|(x, count)| (x, count as f64)));
    for q in [0.05, 0.25, 0.5, 0.53] {
        let got = seen.log_wealth(q, 1.0);
        let exact = exact_wealth(&values, q);
        let above = rational(exp(got)).unwrap() / &exact;
        let ratio = |x: f64| rational(x).unwrap();
        // The stated rounding is 8·14·2⁻⁵² and what the exponential above adds.
        assert!(
            above <= ratio(1.0 + 1e-15) && above > ratio(1.0 - 1e-12),
            "{q}"
        );
    }
    // Sums know less, and claim less.
    let (mut sum, mut squares) = (0.0, 0.0);
    for (x, count) in values {
        sum += x * count as f64;
        squares += x * x * count as f64;
    }
    let sums = Seen::Sums(GroupSums::of_singles(14, sum, squares));
    for q in [0.05, 0.25, 0.5] {
        assert!(sums.log_wealth(q, 1.0) <= seen.log_wealth(q, 1.0), "{q}");
    }
    assert!((sums.mean() - seen.mean()).abs() < 1e-15);
}

/// A group stands for any numbers of its mean in its interval, and is worth no more than they are.
#[test]
fn a_group_is_worth_no_more_than_its_numbers() {
    for (numbers, spread) in [
        (vec![0.4, 0.45, 0.5], 0.1),
        (vec![0.4, 0.4, 0.5, 0.5], 0.1),
        (vec![0.0, 0.001], 0.001),
    ] {
        let count = numbers.len() as f64;
        let group = Point {
            value: numbers.iter().sum::<f64>() / count,
            count,
            spread,
        };
        for theta in bets(1000.0) {
            for q in [0.01, 0.3, 0.449] {
                let exact: f64 = numbers
                    .iter()
                    .map(|x| (1.0 - theta + theta * x / q).ln())
                    .sum();
                let got = log_product(&[group], theta, q, 1.0);
                assert!(got <= exact + 1e-14, "{theta} {q}: {got} {exact}");
                // Negative control: without what is taken off for the spread it is worth more.
                let narrow = Point {
                    spread: 0.0,
                    ..group
                };
                assert!(log_product(&[narrow], theta, q, 1.0) > exact);
            }
        }
    }
}

#[test]
fn limits_are_where_the_wealth_reaches_its_level() {
    for values in [
        &[(0.7, 60.0)][..],
        &[(0.2, 40.0), (0.9, 60.0)],
        &[(1.0, 1.0)],
        &[(0.001, 5.0), (0.0, 4000.0)],
    ] {
        let seen = points(values);
        let limit = seen.lower(0.025, 1.0);
        assert!(limit >= 0.0 && limit < seen.mean());
        assert!(seen.log_wealth(limit, 1.0) >= -ln(0.025));
        assert!(seen.log_wealth(limit * 1.000_001, 1.0) < -ln(0.025));
        // With four times as much of the same the limit is nearer.
        assert!(seen.lower(0.025, 4.0) > limit);
    }
    assert_eq!(points(&[(0.0, 10.0)]).lower(0.05, 1.0), 0.0);
    assert_eq!(points(&[]).lower(0.05, 1.0), 0.0);
    // Coins: no better than Clopper and Pearson's limit, and not much worse.
    let coins = points(&[(1.0, 160.0), (0.0, 40.0)]);
    let exact = clopper_pearson_lower(160, 200, 0.025).unwrap();
    let (limit, reach) = (coins.lower(0.025, 1.0), 0.8 - exact);
    assert!(
        limit < exact && 0.8 - limit < 1.8 * reach,
        "{limit} {exact}"
    );
}

/// How often the limit of the mean is above it, over logs of `groups` groups of 1 to `most` equal numbers.
fn misses(most: u64, grouped: bool, groups: u64, logs: u64) -> u64 {
    let missed = |log: &u64| {
        let mut stream = Stream::new(5, most, *log, 0);
        let (mut sums, mut count) = ([0.0; 5], 0u64);
        let mut largest = 0.0f64;
        for _ in 0..groups {
            // Right three times in ten, and then nearly one.
            let x = if stream.uniform() < 0.3 {
                0.9
            } else {
                0.1 * stream.uniform()
            };
            let k = 1 + stream.below(most);
            let times = if grouped { 1 } else { k };
            let size = if grouped { k as f64 } else { 1.0 };
            for _ in 0..times {
                let total = x * size;
                for (sum, term) in
                    sums.iter_mut()
                        .zip([size, size * size, total, total * total, total * size])
                {
                    *sum += term;
                }
                count += 1;
            }
            largest = largest.max(size);
        }
        let seen = Seen::Sums(GroupSums {
            groups: count as f64,
            count: sums[0],
            largest,
            count_squares: sums[1],
            sum: sums[2],
            squares: sums[3],
            cross: sums[4],
        });
        // 0.3·0.9 + 0.7·0.05.
        seen.lower(0.05, 1.0) > 0.305
    };
    (0..logs).filter(missed).count() as u64
}

#[test]
fn limits_hold_for_groups_whose_numbers_are_all_alike() {
    const LOGS: u64 = 1000;
    for (most, groups) in [(1, 40), (12, 40), (12, 400)] {
        let missed = misses(most, true, groups, LOGS);
        let tail = binomial_upper_tail(missed, LOGS, 0.05).unwrap().high();
        assert!(tail > 1e-9, "{most} {groups}: {missed}");
    }
    // Negative control: their numbers taken one by one, as if they were independent.
    let missed = misses(12, false, 400, LOGS);
    let tail = binomial_upper_tail(missed, LOGS, 0.05).unwrap().high();
    assert!(tail < 1e-9, "{missed}");
}

#[test]
fn numbers_are_brought_to_the_unit_interval() {
    let values = [-1.0, 0.5, 2.0, 2.0];
    let square = |x: f64| x * x;
    let sums = GroupSums::of_singles(4, values.iter().sum(), values.iter().map(|x| x * x).sum());
    let unit: Vec<f64> = values.iter().map(|x| (x + 1.0) / 4.0).collect();
    let scaled = sums.rescaled(-1.0, 3.0);
    assert_eq!(scaled.sum, unit.iter().sum::<f64>());
    assert_eq!(scaled.squares, unit.iter().map(|x| square(*x)).sum::<f64>());
    assert_eq!(scaled.cross, scaled.sum);
    // Mirrored twice is the same.
    assert_eq!(scaled.rescaled(1.0, 0.0).rescaled(1.0, 0.0), scaled);
    let mean = unit.iter().sum::<f64>() / 4.0;
    let spread: f64 = unit.iter().map(|x| square(x - mean)).sum();
    assert!((scaled.standard_error() - spread.sqrt() / 4.0).abs() < 1e-15);
}

/// Where every group has exactly the mean, nothing is left of the formula but the allowance for rounding.
#[test]
fn sums_that_cancel_leave_the_allowance_for_rounding() {
    // Powers of two, so that every sum is exact; groups of four, so that the unit is not one.
    let (groups, size, q) = (256.0, 4.0, 0.25);
    let sums = GroupSums {
        groups,
        count: groups * size,
        largest: size,
        count_squares: groups * size * size,
        sum: groups * size * q,
        squares: groups * size * size * q * q,
        cross: groups * size * size * q,
    };
    for theta in [0.5f64, 63.0 / 64.0] {
        // By hand: Σ X + qΣ k = 512 in units of q·4 = 1; Σ X² + 2qΣ Xk + q²Σ k² = 4·256 in units of 1.
        let phi = -libm::log1p(-theta) - theta;
        let want = -16.0 * f64::EPSILON * (theta * 512.0 + phi * 1024.0);
        assert_eq!(sums.log_product(theta, q), want);
    }
    // And of what does not cancel, the formula word for word: twice the mean, q = 1/8, in units of 1/2.
    // d = k·q: Σ d = 128, Σ d² = 64; sizes 384 and 64·9.
    let theta = 0.5f64;
    let phi = -libm::log1p(-theta) - theta;
    let want = theta * 256.0 - phi * 256.0;
    let want = want - 16.0 * f64::EPSILON * (theta * 768.0 + phi * 2304.0);
    assert_eq!(sums.log_product(theta, 0.125), want);
}

#[test]
fn a_limit_is_found_as_near_as_promised_whatever_the_curve() {
    // Curves whose level is reached at a known place: straight, steep, flat before and after, curved either way.
    let delta = 0.05;
    let level = -ln(delta);
    for root in [0.9, 0.61, 0.3, 0.01, 1e-6] {
        let curves: [&dyn Fn(f64) -> f64; 7] = [
            &|x| 1.0 - x,
            &|x| 1e6 * (1.0 - x),
            &|x| libm::pow(x, -40.0) - 1.0,
            &|x| 1.0 - libm::pow(x, 40.0),
            &|x| libm::exp(500.0 * (1.0 - x)) - 1.0,
            &|x| 1.0 - libm::exp(500.0 * (x - 1.0)),
            // At the level itself as far as it goes, so that the chord never leaves its end.
            &|x| if x <= 1.0 { 0.0 } else { -1.0 },
        ];
        for (i, curve) in curves.iter().enumerate() {
            let found = lower_limit(1.0, delta, |q| level + curve(q / root));
            // On the side that is valid but for the rounding of the curve, and within the stated part of the
            // first place that is not.
            assert!(found <= root * (1.0 + 1e-14), "{i} {root}: {found}");
            assert!(root - found <= 1.000_001e-7 * root, "{i} {root}: {found}");
        }
    }
}

/// Where a number is the mean that is bet against, nothing is left of its product but the allowance.
#[test]
fn points_at_the_mean_leave_the_allowance_for_rounding() {
    let point = |value: f64, count: f64, spread: f64| Point {
        value,
        count,
        spread,
    };
    let unit = -8.0 * f64::EPSILON;
    // The factor is 1 − ½ + 2·¼ = 1, its logarithm 0.
    assert_eq!(
        log_product(&[point(0.25, 3.0, 0.0)], 0.5, 0.25, 2.0),
        unit * 3.0 * 2.0
    );
    // The factor is 1 − ½ + 2·1 = 5/2; then a group of four in an interval of ⅛ around ¼: the slope is 2, the
    // least factor ½ + 2·⅛ = ¾, and ln f bends by at most (2·⅛/¾)²/8 = 1/72.
    let log = ln(2.5);
    let got = log_product(&[point(1.0, 2.0, 0.0)], 0.5, 0.25, 1.0);
    let want = 2.0 * log + unit * 2.0 * (1.0 + log);
    assert!(
        (got - want).abs() <= 2.0 * f64::EPSILON * log,
        "{got} {want}"
    );
    let got = log_product(&[point(0.25, 4.0, 0.125)], 0.5, 0.25, 1.0);
    let want = -4.0 / 72.0 + unit * 4.0 * (1.0 + 1.0 / 72.0);
    assert!((got - want).abs() <= f64::EPSILON / 8.0, "{got} {want}");
}

/// What is imagined to be seen three times over is three times as much of everything but the largest group.
#[test]
fn repeated_sums_are_sums_of_more_groups() {
    let once = GroupSums {
        groups: 40.0,
        count: 100.0,
        largest: 4.0,
        count_squares: 300.0,
        sum: 60.0,
        squares: 130.0,
        cross: 190.0,
    };
    let thrice = GroupSums {
        groups: 120.0,
        count: 300.0,
        largest: 4.0,
        count_squares: 900.0,
        sum: 180.0,
        squares: 390.0,
        cross: 570.0,
    };
    for q in [0.25, 0.5, 0.59] {
        let imagined = Seen::Sums(once).log_wealth(q, 3.0);
        assert_eq!(imagined, Seen::Sums(thrice).log_wealth(q, 1.0), "{q}");
    }
}
