use super::*;

fn settings() -> MonitorSettings {
    MonitorSettings {
        alpha: 0.05,
        margin: 0.02,
        by_class: true,
        by: Some("site".to_string()),
        calibration: None,
    }
}

fn classes() -> Vec<String> {
    vec!["low".to_string(), "high".to_string()]
}

/// Rows of two groups and classes; group `b` is right half as often as it says.
fn feed(monitor: &mut Monitor, rows: std::ops::Range<u64>) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    for i in rows {
        let group = if i % 3 == 0 { "b" } else { "a" };
        let right = if group == "b" {
            i % 2 == 0
        } else {
            i % 10 != 1
        };
        let found = monitor.add(0.9, (i / 30 % 2) as usize, right, Some(group));
        alarms.extend(found.unwrap());
    }
    alarms
}

#[test]
fn the_part_that_is_wrong_is_named_once() {
    let mut monitor = Monitor::new(settings(), classes()).unwrap();
    let alarms = feed(&mut monitor, 0..600);
    let named = |part: &Part| alarms.iter().filter(|a| a.part == *part).count();
    assert_eq!(named(&Part::Group("b".to_string())), 1);
    assert_eq!(named(&Part::Group("a".to_string())), 0);
    assert!(
        alarms
            .iter()
            .all(|a| a.direction == Direction::OverConfident)
    );
    assert!(alarms.iter().all(|a| a.log_evidence >= a.log_threshold));
    assert!(monitor.has_alarm());
    // 1/α, over two directions and three families; the second group a sixth of that.
    let threshold = monitor.log_threshold(&Part::Group("b".to_string()));
    assert!((threshold - (2.0 * 3.0 * 2.0 / 0.05f64).ln()).abs() < 1e-14);
    assert!((monitor.log_threshold(&Part::All) - (6.0 / 0.05f64).ln()).abs() < 1e-14);
}

#[test]
fn a_saved_state_goes_on_to_the_bit() {
    let mut whole = Monitor::new(settings(), classes()).unwrap();
    let all = feed(&mut whole, 0..1500);
    for cut in [0, 1, 700, 1500] {
        let mut first = Monitor::new(settings(), classes()).unwrap();
        let mut alarms = feed(&mut first, 0..cut);
        let text = first.to_json();
        let mut resumed = Monitor::read(text.as_bytes(), &settings(), &classes()).unwrap();
        assert_eq!(resumed, first);
        alarms.extend(feed(&mut resumed, cut..1500));
        assert_eq!((&resumed, &alarms), (&whole, &all), "{cut}");
    }
}

#[test]
fn the_path_is_thin_and_in_order() {
    let mut monitor = Monitor::new(settings(), classes()).unwrap();
    feed(&mut monitor, 0..5000);
    for watch in monitor.watches() {
        let path: Vec<(u64, f64)> = watch.path(Direction::OverConfident).collect();
        assert!(
            path.len() <= POINTS && path.len() >= POINTS / 2 - 1,
            "{}",
            path.len()
        );
        assert!(path.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}

#[test]
fn other_settings_and_states_that_are_none_are_refused_by_name() {
    let mut monitor = Monitor::new(settings(), classes()).unwrap();
    feed(&mut monitor, 0..10);
    let text = monitor.to_json();
    let read = |text: &str, settings: &MonitorSettings, classes: &[String]| {
        let error = Monitor::read(text.as_bytes(), settings, classes).unwrap_err();
        error.to_string()
    };
    let other = |change: fn(&mut MonitorSettings)| {
        let mut other = settings();
        change(&mut other);
        read(&text, &other, &classes())
    };
    assert!(other(|s| s.alpha = 0.01).contains("another alpha (0.05)"));
    assert!(other(|s| s.margin = 0.0).contains("another margin (0.02)"));
    assert!(other(|s| s.by = None).contains("another by (site)"));
    assert!(other(|s| s.by_class = false).contains("another by-class"));
    assert!(other(|s| s.calibration = Some("x".into())).contains("another calibration"));
    assert!(read(&text, &settings(), &["x".to_string()]).contains("another classes (low, high)"));
    for (from, to) in [
        ("lpf-monitor", "other"),
        ("\"version\":1", "\"version\":2"),
        ("\"rows\":10", "\"rows\":1"),
        // One more could not be counted.
        ("\"rows\":10", "\"rows\":18446744073709551615"),
        ("{\"class\":\"low\"}", "{\"class\":\"high\"}"),
        ("\"part\":\"all\"", "\"part\":{\"group\":\"x\"}"),
        ("\"stride\":1", "\"stride\":0"),
        ("\"errors\":[\"", "\"errors\":[\"-"),
        ("\"alpha\":0.05", "\"alpha\":5"),
    ] {
        let changed = text.replace(from, to);
        assert!(changed != text, "{from}");
        assert!(
            Monitor::read(changed.as_bytes(), &settings(), &classes()).is_err(),
            "{from}"
        );
    }
    for cut in [0, 1, text.len() / 2] {
        assert!(read(&text[..cut], &settings(), &classes()).contains("not the state of a monitor"));
    }
    let mut full = Monitor::new(settings(), classes()).unwrap();
    let too_many =
        (0..=MAX_GROUPS).find_map(|i| full.add(0.5, 0, true, Some(&i.to_string())).err());
    assert!(
        too_many
            .unwrap()
            .to_string()
            .contains("more than 1000 values")
    );
    assert!(full.add(1.5, 0, true, None).is_err() && full.add(0.5, 2, true, None).is_err());
}
