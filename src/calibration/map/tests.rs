use super::super::MAX_BINS;
use super::*;
use crate::calibration::Evaluation;
use crate::latent::random::Stream;

fn d(values: &[f64]) -> Distribution {
    Distribution::new(values.to_vec()).unwrap()
}

/// Predictions from a softmax of normal scores, sharpened by `power`, with labels drawn from the
/// unsharpened ones.
fn sharpened(rows: u64, power: f64) -> (Vec<Distribution>, Vec<usize>) {
    (0..rows)
        .map(|row| {
            let mut s = Stream::new(5, 0, row, 0);
            let mut p: Vec<f64> = (0..3).map(|_| s.standard_normal()).collect();
            crate::simplex::softmax(&mut p).unwrap();
            let u = s.uniform();
            let label = usize::from(u >= p[0]) + usize::from(u >= p[0] + p[1]);
            (temper(&d(&p), power).unwrap(), label)
        })
        .unzip()
}

#[test]
fn histogram_answers_the_smoothed_hit_rate_of_the_bin() {
    // Four bins. Confidences 0.75 lie in the third, 0.875 in the fourth.
    let predictions = [
        d(&[0.75, 0.125, 0.125]),
        d(&[0.125, 0.75, 0.125]),
        d(&[0.875, 0.125, 0.0]),
        d(&[0.75, 0.25, 0.0]),
        d(&[0.125, 0.125, 0.75]),
    ];
    let method = MapMethod::Histogram { bins: 4 };
    let map = CalibrationMap::fit(method, &predictions, &[0, 0, 0, 0, 2]).unwrap();
    let MapShape::Histogram(counts) = map.shape() else {
        panic!("{map:?}");
    };
    assert_eq!(counts.counts(), [(0, 0), (0, 0), (3, 4), (1, 1)]);
    // 0.625 lies in the third bin, with 3 of 4: 3.5/5; the rest is shared 2:1.
    let got = map.apply(&d(&[0.25, 0.625, 0.125])).unwrap();
    assert_eq!((got.class, got.confidence), (1, 0.7));
    let third = 0.3 / 3.0;
    for (x, want) in got
        .distribution
        .probabilities()
        .iter()
        .zip([2.0 * third, 0.7, third])
    {
        assert!((x - want).abs() <= 2.0 * f64::EPSILON, "{x} {want}");
    }
    // A bin without points leaves the prediction alone.
    let same = d(&[0.375, 0.3125, 0.3125]);
    let kept = map.apply(&same).unwrap();
    assert_eq!((kept.confidence, kept.distribution), (0.375, same));
}

#[test]
fn certainty_that_was_wrong_is_shared_among_the_impossible() {
    let predictions = vec![d(&[1.0, 0.0, 0.0]); 4];
    for (method, half, never) in [
        // (2 + ½)/5 and (0 + ½)/5.
        (MapMethod::Histogram { bins: 10 }, 0.5, 0.1),
        (MapMethod::Isotonic, 0.5, 0.1),
    ] {
        let map = CalibrationMap::fit(method, &predictions, &[0, 0, 1, 2]).unwrap();
        let got = map.apply(&predictions[0]).unwrap();
        let rest = (1.0 - half) / 2.0;
        assert_eq!(got.distribution.probabilities(), [half, rest, rest]);
        // Never right: the named class becomes improbable, not impossible.
        let map = CalibrationMap::fit(method, &predictions, &[1, 1, 1, 2]).unwrap();
        let got = map.apply(&predictions[0]).unwrap();
        assert_eq!((got.class, got.confidence), (0, never));
        assert_eq!(got.distribution.probabilities(), [0.1, 0.45, 0.45]);
    }
}

/// Zeros, ones, and numbers that would round to them: the answer of every map lies between.
#[test]
fn no_map_answers_zero_or_one() {
    let certain = [
        d(&[1.0, 0.0]),
        d(&[0.0, 1.0]),
        d(&[1.0 - 1e-16, 1e-16]),
        d(&[1.0, 5e-324]),
        d(&[0.875, 0.125]),
    ];
    let right: Vec<Distribution> = (0..60).map(|i| certain[i % 5].clone()).collect();
    // Right but for every eleventh.
    let labels: Vec<usize> = (0..60)
        .map(|i| (right[i].argmax() + usize::from(i % 11 == 0)) % 2)
        .collect();
    let always: Vec<usize> = right.iter().map(Distribution::argmax).collect();
    let smooth: Vec<Distribution> = (0..60)
        .map(|i| d(&[0.9 - f64::from(i) / 200.0, 0.1 + f64::from(i) / 200.0]))
        .collect();
    let mut answered = 0;
    for method in ALL {
        for (p, y) in [
            (&right, &labels),
            (&right, &always),
            (&smooth, &vec![0; 60]),
        ] {
            let Ok(map) = CalibrationMap::fit(method, p, y) else {
                // Only a temperature has no minimum, where everything is right.
                assert_eq!(method, MapMethod::Temperature);
                continue;
            };
            for q in &certain {
                let got = map.apply(q).unwrap();
                let inside = |p: &f64| 0.0 < *p && *p < 1.0;
                assert!(
                    got.distribution.probabilities().iter().all(inside),
                    "{method:?} {got:?}"
                );
                assert!(inside(&got.confidence));
                answered += 1;
            }
        }
    }
    assert!(answered > 90, "{answered}");
}

/// A zero does not stop a temperature: it is read as a small number that the map states.
#[test]
fn zeros_are_read_as_the_least_probability() {
    let mut predictions = vec![d(&[0.75, 0.25]); 9];
    predictions.push(d(&[1.0, 0.0]));
    let labels = [0, 0, 0, 0, 0, 0, 1, 1, 0, 1];
    let map = CalibrationMap::fit(MapMethod::Temperature, &predictions, &labels).unwrap();
    // Of ten rows: 1/22, which is below 1/4.
    assert_eq!(map.least(), 0.5 / 11.0);
    predictions.pop();
    let map = CalibrationMap::fit(MapMethod::Temperature, &predictions, &labels[..9]).unwrap();
    assert_eq!(map.least(), SMALLEST);
}

const ALL: [MapMethod; 7] = [
    MapMethod::Temperature,
    MapMethod::Histogram { bins: 15 },
    MapMethod::Isotonic,
    MapMethod::LogLinear(Family::Platt),
    MapMethod::LogLinear(Family::Beta),
    MapMethod::LogLinear(Family::Vector),
    MapMethod::LogLinear(Family::Dirichlet),
];

#[test]
fn temperature_undoes_sharpening_and_keeps_the_order_of_classes() {
    let (predictions, labels) = sharpened(4000, 2.0);
    let map = CalibrationMap::fit(MapMethod::Temperature, &predictions, &labels).unwrap();
    let MapShape::Temperature(t) = *map.shape() else {
        panic!("{map:?}");
    };
    // Six standard errors of 2/√(4000·0.6) each; see the test of fit_temperature.
    assert!((f64::from(t) - 2.0).abs() < 0.25, "{t:?}");
    for p in &predictions[..100] {
        let got = map.apply(p).unwrap();
        assert_eq!(got.class, got.distribution.argmax());
        assert_eq!(got.confidence, *got.distribution.confidence());
    }
}

#[test]
fn on_the_fitting_data_what_is_promised_holds() {
    let (predictions, labels) = sharpened(3000, 3.0);
    let before = Evaluation::of(&predictions, &labels, 15).unwrap();
    for method in [
        MapMethod::Temperature,
        MapMethod::Histogram { bins: 15 },
        MapMethod::Isotonic,
        MapMethod::LogLinear(Family::Vector),
        MapMethod::LogLinear(Family::Dirichlet),
    ] {
        let map = CalibrationMap::fit(method, &predictions, &labels).unwrap();
        let mut by_value: std::collections::BTreeMap<u64, (u64, u64)> = Default::default();
        let (mut squares, mut squares_before) = (0.0, 0.0);
        let mut repaired = Vec::new();
        for (p, &label) in predictions.iter().zip(&labels) {
            let got = map.apply(p).unwrap();
            let right = got.class == label;
            let cell = by_value.entry(got.confidence.to_bits()).or_default();
            cell.0 += u64::from(right);
            cell.1 += 1;
            let y = f64::from(u8::from(right));
            squares += (got.confidence - y) * (got.confidence - y);
            squares_before += (p.confidence() - y) * (p.confidence() - y);
            repaired.push(got.distribution);
        }
        assert!(squares < squares_before, "{method:?}");
        match method {
            MapMethod::Temperature | MapMethod::LogLinear(_) => {
                let after = Evaluation::of(&repaired, &labels, 15).unwrap();
                assert!(after.log_loss().unwrap() < before.log_loss().unwrap());
            }
            // Each answer is the hit rate of those who got it, smoothed.
            MapMethod::Histogram { .. } => {
                for (bits, (hits, points)) in by_value {
                    let rate = (hits as f64 + 0.5) / (points as f64 + 1.0);
                    assert_eq!(f64::from_bits(bits), rate);
                }
            }
            // Exactly calibrated, but for rates of 0 and 1.
            MapMethod::Isotonic => {
                for (bits, (hits, points)) in by_value {
                    let rate = hits as f64 / points as f64;
                    let rate = rate.clamp(0.5 / 3001.0, 3000.5 / 3001.0);
                    assert_eq!(f64::from_bits(bits), rate);
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_by_name() {
    let fit =
        |method, p: &[Distribution], y: &[usize]| CalibrationMap::fit(method, p, y).unwrap_err();
    let methods = [
        MapMethod::Temperature,
        MapMethod::Histogram { bins: 3 },
        MapMethod::Isotonic,
    ];
    let p = d(&[0.5, 0.5]);
    for method in methods {
        assert_eq!(fit(method, &[], &[]), MapError::Empty);
        assert_eq!(fit(method, &[d(&[1.0])], &[0]), MapError::OneClass);
        assert_eq!(
            fit(method, std::slice::from_ref(&p), &[]),
            MapError::Lengths {
                predictions: 1,
                labels: 0
            }
        );
        assert_eq!(
            fit(method, &[p.clone(), p.clone()], &[0, 2]),
            MapError::Row { row: 1, classes: 2 }
        );
        assert_eq!(
            fit(method, &[p.clone(), d(&[1.0])], &[0, 0]),
            MapError::Row { row: 1, classes: 2 }
        );
    }
    // All uniform: every temperature is as good as any other.
    let flat = vec![p.clone(); 6];
    assert_eq!(
        fit(MapMethod::Temperature, &flat, &[0, 1, 0, 1, 1, 0]),
        MapError::NoTemperature
    );
    for bins in [0, MAX_BINS + 1] {
        let error = fit(MapMethod::Histogram { bins }, &flat, &[0; 6]);
        assert_eq!(error, MapError::Bins { bins });
    }
    // More bins than rows is no problem.
    let one = CalibrationMap::fit(MapMethod::Histogram { bins: MAX_BINS }, &flat[..1], &[0]);
    assert_eq!(one.unwrap().apply(&p).unwrap().confidence, 0.75);
}

#[test]
fn a_map_reads_back_as_it_was_and_refuses_what_no_fit_gives() {
    let two = |p: &Distribution| d(&[p.probabilities()[0], 1.0 - p.probabilities()[0]]);
    let (predictions, labels) = sharpened(200, 2.0);
    let predictions: Vec<Distribution> = predictions.iter().map(two).collect();
    let labels: Vec<usize> = labels.iter().map(|&y| y.min(1)).collect();
    for method in ALL {
        let map = CalibrationMap::fit(method, &predictions, &labels).unwrap();
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<CalibrationMap>(&text).unwrap(), map);
        assert_eq!(map.name(), method.name());
    }
    let good = r#"{"least":0.125,"shape":{"temperature":2.0}}"#;
    assert!(serde_json::from_str::<CalibrationMap>(good).is_ok());
    for least in ["0", "-1", "0.75", "1e-20", "null"] {
        let bad = good.replace("0.125", least);
        assert!(
            serde_json::from_str::<CalibrationMap>(&bad).is_err(),
            "{bad}"
        );
    }
    for bad in [
        r#"{"temperature":0}"#,
        r#"{"temperature":-1}"#,
        r#"{"temperature":1e-320}"#,
        r#"{"histogram":[]}"#,
        r#"{"histogram":[[2,1]]}"#,
        r#"{"histogram":[[-1,1]]}"#,
        r#"{"histogram":[[0,18446744073709551615],[0,1]]}"#,
        r#"{"isotonic":[]}"#,
        r#"{"isotonic":[{"from":0,"to":1,"hits":1,"points":0}]}"#,
        r#"{"isotonic":[{"from":0,"to":1,"hits":1,"points":1,"more":1}]}"#,
        r#"{"magic":1}"#,
    ] {
        assert!(serde_json::from_str::<MapShape>(bad).is_err(), "{bad}");
    }
}
