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
fn histogram_answers_the_hit_rate_of_the_bin() {
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
    let CalibrationMap::Histogram(counts) = &map else {
        panic!("{map:?}");
    };
    assert_eq!(counts.counts(), [(0, 0), (0, 0), (3, 4), (1, 1)]);
    // 0.625 lies in the third bin, with rate 3/4; 1/4 is shared 2:1.
    let got = map.apply(&d(&[0.25, 0.625, 0.125])).unwrap();
    assert_eq!((got.class, got.confidence), (1, 0.75));
    let third = 1.0 / 3.0;
    for (x, want) in got
        .distribution
        .probabilities()
        .iter()
        .zip([0.5 * third, 0.75, 0.25 * third])
    {
        assert!((x - want).abs() <= 2.0 * f64::EPSILON);
    }
    // A bin without points leaves the prediction alone.
    let same = d(&[0.375, 0.3125, 0.3125]);
    let kept = map.apply(&same).unwrap();
    assert_eq!((kept.confidence, kept.distribution), (0.375, same));
}

#[test]
fn certainty_that_was_wrong_is_shared_among_the_impossible() {
    let predictions = vec![d(&[1.0, 0.0, 0.0]); 4];
    for method in [MapMethod::Histogram { bins: 10 }, MapMethod::Isotonic] {
        let map = CalibrationMap::fit(method, &predictions, &[0, 0, 1, 2]).unwrap();
        let got = map.apply(&predictions[0]).unwrap();
        assert_eq!(got.distribution.probabilities(), [0.5, 0.25, 0.25]);
        // Never right: the named class becomes impossible.
        let never = CalibrationMap::fit(method, &predictions, &[1, 1, 1, 2]).unwrap();
        let got = never.apply(&predictions[0]).unwrap();
        assert_eq!(got.distribution.probabilities(), [0.0, 0.5, 0.5]);
        assert_eq!((got.class, got.confidence), (0, 0.0));
    }
    let error = CalibrationMap::fit(MapMethod::Temperature, &predictions, &[0, 0, 1, 2]);
    assert_eq!(error, Err(MapError::Impossible { row: 2 }));
}

#[test]
fn temperature_undoes_sharpening_and_keeps_the_order_of_classes() {
    let (predictions, labels) = sharpened(4000, 2.0);
    let map = CalibrationMap::fit(MapMethod::Temperature, &predictions, &labels).unwrap();
    let CalibrationMap::Temperature(t) = map else {
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
            MapMethod::Temperature => {
                let after = Evaluation::of(&repaired, &labels, 15).unwrap();
                assert!(after.log_loss().unwrap() < before.log_loss().unwrap());
            }
            // Exactly calibrated: each answer is the hit rate of those who got it.
            _ => {
                for (bits, (hits, points)) in by_value {
                    assert_eq!(f64::from_bits(bits), hits as f64 / points as f64);
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
    assert_eq!(one.unwrap().apply(&p).unwrap().confidence, 1.0);
}

#[test]
fn a_map_reads_back_as_it_was_and_refuses_what_no_fit_gives() {
    let (predictions, labels) = sharpened(200, 2.0);
    for method in [
        MapMethod::Temperature,
        MapMethod::Histogram { bins: 15 },
        MapMethod::Isotonic,
    ] {
        let map = CalibrationMap::fit(method, &predictions, &labels).unwrap();
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<CalibrationMap>(&text).unwrap(), map);
    }
    for bad in [
        r#"{"temperature":0}"#,
        r#"{"temperature":-1}"#,
        r#"{"temperature":1e-320}"#,
        r#"{"histogram":[]}"#,
        r#"{"histogram":[[2,1]]}"#,
        r#"{"histogram":[[-1,1]]}"#,
        r#"{"isotonic":[]}"#,
        r#"{"isotonic":[{"from":0,"to":1,"hits":1,"points":0}]}"#,
        r#"{"isotonic":[{"from":0,"to":1,"hits":1,"points":1,"more":1}]}"#,
        r#"{"magic":1}"#,
    ] {
        assert!(
            serde_json::from_str::<CalibrationMap>(bad).is_err(),
            "{bad}"
        );
    }
}
