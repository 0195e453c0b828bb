use super::super::conformal::SetScore;
use super::super::log_linear::Family;
use super::super::{choose, conformal::Robust};
use super::*;
use crate::latent::random::Stream;
use crate::math::{ExactSum, exp, ln};

/// Rows over so many classes that are too sure of themselves.
fn drawn(seed: u64, n: u64, classes: usize, named: bool) -> Vec<FitRow> {
    let row = |i: u64| {
        let mut s = Stream::new(seed, 1, i, 0);
        let logs: Vec<f64> = (0..classes).map(|_| 1.5 * s.standard_normal()).collect();
        let of = |scale: f64| {
            let weights = logs.iter().map(|x| exp(scale * x)).collect();
            Distribution::from_weights(weights).unwrap()
        };
        let (truth, u) = (of(0.6), s.uniform());
        let mut up_to = 0.0;
        let label = truth.probabilities().iter().position(|p| {
            up_to += p;
            u < up_to
        });
        FitRow {
            prediction: of(1.0),
            label: label.unwrap_or(classes - 1),
            key: text_key(&format!("{seed} {i}")),
            number: (!named).then_some(i + 1),
        }
    };
    (0..n).map(row).collect()
}

fn fitted(wanted: Wanted, rows: &[FitRow], numbers: u64, cells: usize) -> Fitted {
    let mut fitting = Fitting::within(wanted, numbers, cells).unwrap();
    for row in rows {
        fitting.add(row.clone()).unwrap();
    }
    fitting.finish().unwrap()
}

const HISTOGRAM: MapMethod = MapMethod::Histogram { bins: 15 };

fn methods(classes: usize) -> Vec<MapMethod> {
    let families = Family::ALL.into_iter().filter(|f| f.check(classes).is_ok());
    let others = [MapMethod::Temperature, MapMethod::Isotonic, HISTOGRAM];
    others
        .into_iter()
        .chain(families.map(MapMethod::LogLinear))
        .collect()
}

fn settings(score: SetScore, by_class: bool) -> ConformalSettings {
    ConformalSettings {
        coverage: 0.8,
        score,
        by_class,
        robust: None,
    }
}

#[test]
fn as_long_as_all_rows_are_kept_nothing_differs_from_a_fit_in_memory() {
    for classes in [2, 3] {
        let mut rows = drawn(1, 300, classes, classes == 2);
        let mut zero = vec![0.0; classes];
        zero[0] = 1.0;
        rows[7].prediction = Distribution::new(zero).unwrap();
        let (p, y) = apart(&rows);
        for method in methods(classes) {
            let got = fitted(Wanted::Map(method), &rows, 1 << 20, MOST);
            assert_eq!(got.map, CalibrationMap::fit(method, &p, &y).unwrap());
            assert_eq!(got.bounded, None);
        }
        let keys: Vec<u64> = rows.iter().map(|row| row.key).collect();
        let best = Wanted::Best {
            histogram: HISTOGRAM,
            seed: 3,
        };
        let got = fitted(best, &rows, 1 << 20, MOST);
        let (map, tried) = choose(HISTOGRAM, &p, &y, (3, &keys)).unwrap();
        assert_eq!((got.map, got.bounded), (map, None));
        let losses = |all: &[Candidate]| -> Vec<Option<f64>> {
            all.iter().map(|candidate| candidate.log_loss).collect()
        };
        assert_eq!(losses(&got.candidates.unwrap()), losses(&tried));
        for (score, by_class) in [(SetScore::Lead, true), (SetScore::Probability, false)] {
            let wanted = settings(score, by_class);
            let got = fitted(Wanted::Sets(wanted), &rows, 1, MOST);
            let sets = ConformalSets::fit(wanted, &p, &y).unwrap();
            assert_eq!(got.map, CalibrationMap::conformal(sets));
            assert_eq!(got.bounded, None);
        }
    }
}

#[test]
fn a_sample_of_named_rows_does_not_depend_on_their_order() {
    let mut rows = drawn(2, 500, 3, true);
    // Eleven numbers a row.
    let wanted = Wanted::Map(MapMethod::LogLinear(Family::Dirichlet));
    let got = fitted(wanted, &rows, 1100, MOST);
    let log_loss = 6.0 * (1.0 / 100.0 - 1.0 / 500.0);
    let bounded = Bounded::Sample {
        rows: 100,
        of: 500,
        log_loss,
    };
    assert_eq!(got.bounded, Some(bounded));
    rows.reverse();
    rows.rotate_left(123);
    assert_eq!(fitted(wanted, &rows, 1100, MOST).map, got.map);
    // Rows that say the same are told apart by their numbers: a sample has its share of them.
    let same: Vec<FitRow> = (0..1000)
        .map(|i| FitRow {
            number: Some(i),
            label: usize::from(i % 10 == 0),
            key: i % 10,
            ..rows[0].clone()
        })
        .collect();
    let mut sample = Sample::new(11 * 300);
    same.iter().for_each(|row| sample.add(row.clone()));
    let kept = sample.finish();
    let others = kept.iter().filter(|row| row.label == 1).count();
    // Hypergeometric: 30 are expected, with a standard deviation of 4.3; 7 of them: below 1e-9.
    assert_eq!(kept.len(), 300);
    assert!((1..=60).contains(&others), "{others}");
}

/// The loss on all rows of maps that were fitted to samples, against `p/2·(1/m − 1/n)`. The rows are drawn
/// from the family (its temperature), so that the first order is known; 100 samples, whose excess is half a
/// chi-square of two degrees: mean 1, standard deviation of the mean 0.1, so that 0.5 to 1.7 leaves more than
/// five of them, and room for the second order.
#[test]
fn a_sample_costs_what_is_said() {
    let rows = drawn(3, 4000, 2, false);
    let (p, y) = apart(&rows);
    let method = MapMethod::LogLinear(Family::Platt);
    let loss = |map: &CalibrationMap| {
        let losses = p.iter().zip(&y).map(|(p, &y)| {
            let answer = map.apply(p).unwrap().distribution;
            -ln(answer.probabilities()[y])
        });
        losses.collect::<ExactSum>().to_f64() / p.len() as f64
    };
    let least = loss(&CalibrationMap::fit(method, &p, &y).unwrap());
    let (mut total, mut said) = (0.0, 0.0);
    for i in 0..100u64 {
        let mut own = rows.clone();
        own.iter_mut().for_each(|row| row.key ^= i << 40);
        let got = fitted(Wanted::Map(method), &own, 10 * 200, MOST);
        total += loss(&got.map) - least;
        let Some(Bounded::Sample { log_loss, .. }) = got.bounded else {
            panic!("{:?}", got.bounded);
        };
        said = log_loss;
    }
    let ratio = total / 100.0 / said;
    assert!((0.5..1.7).contains(&ratio), "{ratio}");
}

#[test]
fn cells_cost_an_isotonic_map_no_more_than_is_said() {
    for seed in 0..20 {
        let rows = drawn(seed, 400, 3, false);
        let (p, y) = apart(&rows);
        let squared = |map: &CalibrationMap| -> f64 {
            let MapShape::Isotonic(map) = map.shape() else {
                panic!();
            };
            let off = |(p, &y): (&Distribution, &usize)| {
                // The rate itself, not kept off 0 and 1.
                let c = *p.confidence();
                let block = map
                    .blocks()
                    .iter()
                    .find(|b| b.from <= c && c <= b.to)
                    .unwrap();
                let right = f64::from(u8::from(p.argmax() == y));
                let off = right - block.hits as f64 / block.points as f64;
                off * off
            };
            p.iter().zip(&y).map(off).sum::<f64>() / p.len() as f64
        };
        let least = squared(&CalibrationMap::fit(MapMethod::Isotonic, &p, &y).unwrap());
        let mut costs = Vec::new();
        for cells in [200, 20, 4] {
            let got = fitted(Wanted::Map(MapMethod::Isotonic), &rows, 1, cells);
            let Some(Bounded::Confidences { squared_error }) = got.bounded else {
                panic!("{:?}", got.bounded);
            };
            let cost = squared(&got.map) - least;
            assert!(
                (-1e-12..=squared_error).contains(&cost),
                "{cost} {squared_error}"
            );
            costs.push(cost);
        }
        // It does cost something, else nothing would have been tested.
        assert!(costs[2] > 0.0);
    }
}

#[test]
fn cells_never_lower_a_coverage() {
    for seed in 0..20 {
        let rows = drawn(seed, 300, 3, false);
        let (p, y) = apart(&rows);
        let wanted = settings(SetScore::Lead, false);
        let exact = ConformalSets::fit(wanted, &p, &y).unwrap().thresholds()[0];
        let got = fitted(Wanted::Sets(wanted), &rows, 1, 16);
        let Some(Bounded::Scores { coverage }) = got.bounded else {
            panic!("{:?}", got.bounded);
        };
        let found = got.map.sets().unwrap().thresholds()[0];
        assert_eq!(found.points, 300);
        let (exact, found) = (exact.score.unwrap(), found.score.unwrap());
        assert!(found >= exact);
        let between = p.iter().zip(&y).filter(|(p, y)| {
            let score = SetScore::Lead.of(p, **y);
            exact < score && score <= found
        });
        assert!(between.count() as f64 <= coverage * 301.0 + 1e-9);
    }
}

#[test]
fn what_cannot_be_fitted_is_an_error() {
    let fitting = |wanted| Fitting::new(wanted, 100);
    let map = Wanted::Map(MapMethod::Temperature);
    assert_eq!(fitting(map).unwrap().finish().unwrap_err(), MapError::Empty);
    let none = Wanted::Map(MapMethod::Histogram { bins: 0 });
    assert_eq!(fitting(none).unwrap_err(), MapError::Bins { bins: 0 });
    let robust = Wanted::Sets(ConformalSettings {
        robust: Some(Robust {
            items: 0,
            distance: 1.0,
        }),
        ..settings(SetScore::Lead, false)
    });
    assert_eq!(fitting(robust).unwrap_err(), MapError::Robust);
    let mut one = fitting(map).unwrap();
    let row = FitRow {
        prediction: Distribution::new(vec![1.0]).unwrap(),
        label: 0,
        key: 0,
        number: None,
    };
    one.add(row.clone()).unwrap();
    let other = FitRow {
        prediction: Distribution::new(vec![0.5, 0.5]).unwrap(),
        ..row
    };
    let error = one.add(other).unwrap_err();
    assert_eq!(error, MapError::Row { row: 1, classes: 1 });
    assert_eq!(one.finish().unwrap_err(), MapError::OneClass);
}
