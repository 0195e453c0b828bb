use super::*;

fn d(values: &[f64]) -> Distribution {
    Distribution::new(values.to_vec()).unwrap()
}

fn asked(coverage: f64) -> ConformalSettings {
    ConformalSettings {
        coverage,
        score: SetScore::Probability,
        by_class: false,
        robust: None,
    }
}

/// `⌈(n + 1)·c⌉` in decimal numbers, where doubles would ask for one row more.
#[test]
fn ranks_are_those_of_the_decimal_coverage() {
    for (coverage, n, rank) in [
        (0.9, 9, 9),
        (0.9, 10, 10),
        (0.9, 19, 18),
        (0.9, 999, 900),
        (0.95, 19, 19),
        (0.7, 9, 7),
        (0.07, 99, 7),
        (0.999, 999, 999),
        (0.5, 0, 1),
        (1e-9, 5, 1),
    ] {
        assert_eq!(asked(coverage).rank(n), Ok(rank), "{coverage} {n}");
    }
    // In doubles: 0.07·100 = 7.000000000000001, so that the ceiling is 8.
    assert!(std::hint::black_box(0.07) * 100.0 > 7.0);
    for value in [0.0, 1.0, -0.5, f64::NAN, 1.5, 1e-30] {
        assert!(asked(value).rank(5).is_err(), "{value}");
    }
}

#[test]
fn thresholds_by_hand() {
    // Scores of the true class: 0.1, 0.2, 0.3, 0.6.
    let rows = [
        d(&[0.9, 0.1]),
        d(&[0.2, 0.8]),
        d(&[0.7, 0.3]),
        d(&[0.6, 0.4]),
    ];
    let labels = [0, 1, 0, 1];
    // 0.6·5 = 3: the third smallest.
    let sets = ConformalSets::fit(asked(0.6), &rows, &labels).unwrap();
    let score = sets.thresholds()[0].score.unwrap();
    assert!((score - 0.3).abs() < 1e-15, "{score}");
    assert_eq!(sets.set(&d(&[0.75, 0.25]), None), Ok(vec![0]));
    // Nobody is sure enough: an empty set, which is right for this score.
    assert_eq!(sets.set(&d(&[0.5, 0.5]), None), Ok(vec![]));
    // 0.9·5 = 4.5: the fifth of four, so that every class is in.
    let sets = ConformalSets::fit(asked(0.9), &rows, &labels).unwrap();
    assert_eq!(sets.thresholds()[0].score, None);
    assert_eq!(sets.set(&d(&[1.0, 0.0]), None), Ok(vec![0, 1]));
    // By class: of two rows each, 0.6·3 = 1.8, the second: 0.3 and 0.6.
    let by_class = ConformalSettings {
        by_class: true,
        ..asked(0.6)
    };
    let sets = ConformalSets::fit(by_class, &rows, &labels).unwrap();
    assert_eq!(sets.set(&d(&[0.55, 0.45]), None), Ok(vec![1]));
    assert_eq!(sets.set(&d(&[0.72, 0.28]), None), Ok(vec![0]));
    assert!(matches!(
        sets.set(&d(&[0.5, 0.25, 0.25]), None),
        Err(MapError::Classes {
            expected: 2,
            found: 3
        })
    ));
}

/// An impossible true class has an infinite lead; with enough of them every class is in the set.
#[test]
fn impossible_classes_are_infinitely_far() {
    let lead = ConformalSettings {
        score: SetScore::Lead,
        ..asked(0.5)
    };
    let rows = [d(&[1.0, 0.0]), d(&[1.0, 0.0]), d(&[0.5, 0.5])];
    // Leads 0, ∞, 0: the second smallest of three is 0.
    let sets = ConformalSets::fit(lead, &rows, &[0, 1, 0]).unwrap();
    assert_eq!(sets.thresholds()[0].score, Some(0.0));
    assert_eq!(sets.set(&d(&[0.5, 0.5]), None), Ok(vec![0, 1]));
    assert_eq!(sets.set(&d(&[0.75, 0.25]), None), Ok(vec![0]));
    let sets = ConformalSets::fit(lead, &rows, &[1, 1, 0]).unwrap();
    assert_eq!(sets.thresholds()[0].score, None);
    assert_eq!(sets.set(&d(&[1.0, 0.0]), None), Ok(vec![0, 1]));
}

#[test]
fn robust_sets_grow_by_the_largest_weights() {
    let robust = ConformalSettings {
        score: SetScore::Lead,
        robust: Some(Robust {
            items: 2,
            distance: 0.5,
        }),
        ..asked(0.5)
    };
    let rows = [d(&[0.75, 0.25]), d(&[0.75, 0.25]), d(&[0.75, 0.25])];
    let sets = ConformalSets::fit(robust, &rows, &[0, 0, 0]).unwrap();
    assert_eq!(sets.thresholds()[0].score, Some(0.0));
    // R = 0.5·(2 + 1): classes up to a factor e^{1.5} behind the best.
    let weights = [0.25, 2.0, 1.0];
    let ratio = |r: f64| d(&[1.0 / (1.0 + r), r / (1.0 + r)]);
    assert_eq!(sets.set(&ratio(0.2231), Some(&weights)), Ok(vec![0]));
    assert_eq!(sets.set(&ratio(0.2232), Some(&weights)), Ok(vec![0, 1]));
    assert_eq!(sets.set(&ratio(0.5), None), Err(MapError::NoWeights));
    assert_eq!(sets.set(&ratio(0.5), Some(&[])), Ok(vec![0]));
    let plain = ConformalSettings {
        score: SetScore::Probability,
        ..robust
    };
    let error = ConformalSets::fit(plain, &rows, &[0, 0, 0]);
    assert_eq!(error, Err(MapError::RobustScore));
    for (items, distance) in [(0, 1.0), (1, -1.0), (1, f64::NAN), (1, f64::INFINITY)] {
        let robust = ConformalSettings {
            robust: Some(Robust { items, distance }),
            ..robust
        };
        let error = ConformalSets::fit(robust, &rows, &[0, 0, 0]);
        assert_eq!(error, Err(MapError::Robust));
    }
}

#[test]
fn sets_read_back_as_they_were_and_refuse_what_no_fit_gives() {
    let rows = [d(&[0.75, 0.25]), d(&[0.5, 0.5])];
    for by_class in [false, true] {
        let settings = ConformalSettings {
            by_class,
            ..asked(0.3)
        };
        let sets = ConformalSets::fit(settings, &rows, &[0, 1]).unwrap();
        let text = serde_json::to_string(&sets).unwrap();
        assert_eq!(serde_json::from_str::<ConformalSets>(&text).unwrap(), sets);
    }
    let good = r#"{"settings":{"coverage":0.9,"score":"lead","by_class":false,"robust":null},"thresholds":[{"score":1.5,"points":20}]}"#;
    assert!(serde_json::from_str::<ConformalSets>(good).is_ok());
    for (from, to) in [
        ("1.5", "-1.5"),
        ("0.9", "1.9"),
        ("false", "true"),
        ("null", r#"{"items":0,"distance":1}"#),
        ("lead", "other"),
        ("[{\"score\":1.5,\"points\":20}]", "[]"),
    ] {
        let bad = good.replace(from, to);
        assert!(
            serde_json::from_str::<ConformalSets>(&bad).is_err(),
            "{bad}"
        );
    }
}
