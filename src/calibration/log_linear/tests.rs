use super::*;
use crate::latent::random::Stream;

/// Logarithms of predictions over `classes` classes, sharpened, with labels drawn from the
/// unsharpened ones.
fn drawn(classes: usize, rows: u64) -> (Vec<f64>, Vec<usize>) {
    let (mut logs, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let mut s = Stream::new(11, classes as u64, row, 0);
        let scores: Vec<f64> = (0..classes).map(|_| s.standard_normal()).collect();
        let mut p = scores.clone();
        softmax(&mut p).unwrap();
        let mut u = s.uniform();
        let label = p.iter().position(|p| {
            u -= p;
            u < 0.0
        });
        labels.push(label.unwrap_or(0));
        let mut sharp: Vec<f64> = scores.iter().map(|x| 2.5 * x).collect();
        softmax(&mut sharp).unwrap();
        logs.extend(sharp.iter().map(|&p| ln(p)));
    }
    (logs, labels)
}

fn cases() -> Vec<(Family, usize)> {
    vec![
        (Family::Platt, 2),
        (Family::Beta, 2),
        (Family::Vector, 2),
        (Family::Vector, 5),
        (Family::Dirichlet, 2),
        (Family::Dirichlet, 4),
    ]
}

/// At the minimum of a convex function, and nowhere else, the slope is zero.
#[test]
fn the_slope_is_zero_at_what_is_found() {
    for (family, classes) in cases() {
        let (logs, labels) = drawn(classes, 700);
        let map = LogLinear::fit(family, &logs, &labels).unwrap();
        for slope in map.gradient(&logs, &labels) {
            // Each of 700 terms of size below 20 is off by a few units of 2⁻⁵³.
            assert!(slope.abs() < 1e-12, "{family:?} {slope:e}");
        }
        // Negative control: a step away it is not.
        let mut off = map.clone();
        off.parameters[0] += 1e-6;
        let slopes = off.gradient(&logs, &labels);
        assert!(slopes.iter().any(|s| s.abs() > 1e-8), "{family:?}");
    }
}

/// The slope that is written out is the slope of the loss.
#[test]
fn the_slope_is_that_of_the_loss() {
    for (family, classes) in cases() {
        let (logs, labels) = drawn(classes, 60);
        let problem = Problem::new(family, classes, &logs, &labels);
        let at: Vec<f64> = (0..problem.layout.len())
            .map(|i| 0.3 + 0.1 * i as f64)
            .collect();
        let here = problem.evaluate(&at);
        for i in 0..at.len() {
            let moved = |h: f64| {
                let mut to = at.clone();
                to[i] += h;
                problem.evaluate(&to)
            };
            let (up, down) = (moved(1e-4), moved(-1e-4));
            let slope = (up.loss - down.loss) / 2e-4;
            assert!((slope - here.gradient[i]).abs() < 1e-4 * (1.0 + slope.abs()));
            let curvature = (up.gradient[i] - down.gradient[i]) / 2e-4;
            let written = here.hessian[i * (i + 3) / 2];
            assert!((curvature - written).abs() < 1e-4 * (1.0 + curvature.abs()));
        }
    }
}

#[test]
fn the_order_of_rows_changes_no_bit() {
    for (family, classes) in cases() {
        let (mut logs, mut labels) = drawn(classes, 300);
        let first = LogLinear::fit(family, &logs, &labels).unwrap();
        logs.rotate_left(classes * 77);
        labels.rotate_left(77);
        assert_eq!(LogLinear::fit(family, &logs, &labels).unwrap(), first);
    }
}

/// Separable rows, one label only, and a single row: finite, by the penalty or by Platt's targets.
#[test]
fn fits_stay_finite_where_the_data_would_not_hold_them() {
    let row = |p: f64| [ln(p), ln(1.0 - p)];
    let separable: Vec<f64> = [0.9, 0.8, 0.3, 0.2].iter().flat_map(|&p| row(p)).collect();
    for family in Family::ALL {
        for labels in [vec![0, 0, 1, 1], vec![0, 0, 0, 0], vec![1, 1, 1, 1]] {
            let map = LogLinear::fit(family, &separable, &labels).unwrap();
            assert!(map.parameters().iter().all(|x| x.abs() < 50.0), "{map:?}");
            let slopes = map.gradient(&separable, &labels);
            if family != Family::Beta {
                assert!(
                    slopes.iter().all(|s| s.abs() < 1e-12),
                    "{family:?} {slopes:?}"
                );
            }
        }
    }
    // Predictions that are all alike do not tell Platt's two numbers apart, and are refused.
    let alike = row(0.7).repeat(4);
    let error = LogLinear::fit(Family::Platt, &alike, &[0, 1, 0, 0]);
    let family = Family::Platt;
    assert_eq!(error, Err(MapError::NoMinimum { family }));
    assert!(LogLinear::fit(Family::Vector, &alike, &[0, 1, 0, 0]).is_ok());
}

#[test]
fn families_are_for_the_classes_they_are_for() {
    let three = vec![ln(0.5), ln(0.25), ln(0.25)];
    for family in [Family::Platt, Family::Beta] {
        let error = LogLinear::fit(family, &three, &[0]).unwrap_err();
        assert_eq!(error, MapError::TwoClasses { family, classes: 3 });
    }
    let many = vec![ln(0.02); 50];
    let error = LogLinear::fit(Family::Dirichlet, &many, &[0]).unwrap_err();
    assert!(error.to_string().contains("2550 parameters"), "{error}");
    for bad in [
        r#"{"family":"platt","classes":2,"parameters":[1]}"#,
        r#"{"family":"platt","classes":3,"parameters":[1,0]}"#,
        r#"{"family":"vector","classes":1,"parameters":[1,0]}"#,
        r#"{"family":"vector","classes":2,"parameters":[1,1,0,1e999]}"#,
        r#"{"family":"dirichlet","classes":18446744073709551615,"parameters":[]}"#,
    ] {
        assert!(serde_json::from_str::<LogLinear>(bad).is_err(), "{bad}");
    }
}
