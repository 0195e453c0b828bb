//! Our metrics, maps and sets against netcal, scikit-learn, relplot, SciPy, uncertainty-calibration and
//! MAPIE, as recorded by `metrics.py` and `maps.py` in `tests/fixtures/peers` (versions and differences
//! of convention are told there).

use lpf::calibration::{
    CalibrationMap, ConformalSets, ConformalSettings, Evaluation, Family, IsotonicMap, MapMethod,
    MapShape, SetScore, SmoothCell, smooth_ece, smooth_ece_at,
};
use lpf::learn::fit_temperature;
use lpf::simplex::Distribution;
use serde_json::Value;

/// Both sides add up fewer than 10³ terms of at most 1 in double precision: 10³·2⁻⁵³ ≈ 1e-13.
const ROUNDING: f64 = 1e-12;
/// Of relplot with the finer mesh of 200001 points: it gives the two ends full weight where the
/// trapezoidal rule gives half, and the density there is at most 20 times its mean on these rows
/// (5e-5); and its kernel ends at a distance of 1/2, which is four bandwidths at the widest (6e-5).
const FINE_MESH: f64 = 1.1e-4;

struct Peer {
    recorded: Value,
    predictions: Vec<Distribution>,
    labels: Vec<usize>,
}

impl Peer {
    fn read() -> Self {
        let text = include_str!("../../fixtures/peers/metrics.json");
        let recorded: Value = serde_json::from_str(text).unwrap();
        let rows = recorded["probs"].as_array().unwrap();
        let predictions = rows
            .iter()
            .map(|row| Distribution::new(numbers(row)).unwrap())
            .collect();
        let labels = recorded["labels"].as_array().unwrap();
        let labels = labels
            .iter()
            .map(|y| y.as_u64().unwrap() as usize)
            .collect();
        Peer {
            predictions,
            labels,
            recorded,
        }
    }

    fn number(&self, path: &str) -> f64 {
        let found = self.recorded.pointer(path).and_then(Value::as_f64);
        found.unwrap_or_else(|| panic!("{path} is not recorded"))
    }

    fn scores(&self, bins: usize) -> Evaluation {
        Evaluation::of(&self.predictions, &self.labels, bins).unwrap()
    }

    /// Confidence of the named class, and whether it is right.
    fn pairs(&self) -> Vec<(f64, bool)> {
        let rows = self.predictions.iter().zip(&self.labels);
        rows.map(|(p, &y)| (*p.confidence(), p.argmax() == y))
            .collect()
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn cells(pairs: &[(f64, bool)]) -> Vec<SmoothCell> {
    let cell = |&(confidence, right): &(f64, bool)| SmoothCell {
        confidence,
        residual: confidence - f64::from(u8::from(right)),
        count: 1,
    };
    pairs.iter().map(cell).collect()
}

#[track_caller]
fn close(ours: f64, theirs: f64, tolerance: f64) {
    assert!(
        (ours - theirs).abs() <= tolerance,
        "{ours} against {theirs}"
    );
}

#[test]
fn binned_errors_equal_netcal_and_scikit_learn() {
    let peer = Peer::read();
    for bins in [1, 10, 15, 20] {
        let theirs = peer.number(&format!("/ece/{bins}"));
        close(peer.scores(bins).ece().unwrap(), theirs, ROUNDING);
    }
    for bins in [10, 15] {
        let ours = peer.scores(bins);
        let theirs = |name: &str| peer.number(&format!("/{name}/{bins}"));
        close(ours.ece().unwrap(), theirs("ece_sklearn"), ROUNDING);
        close(ours.mce().unwrap(), theirs("mce"), ROUNDING);
        close(ours.classwise_ece().unwrap(), theirs("classwise"), ROUNDING);
        // The side of an edge matters on these rows, so the equality above is no accident.
        assert!((theirs("ece_as_netcal_bins") - theirs("ece")).abs() > 1e-3);
    }
}

#[test]
fn the_rows_lie_on_edges_and_at_zero_and_one() {
    let peer = Peer::read();
    let on = |bins: u32| {
        let edges: Vec<f64> = (1..bins).map(|i| f64::from(i) / f64::from(bins)).collect();
        let top = |p: &&Distribution| edges.contains(p.confidence());
        peer.predictions.iter().filter(top).count()
    };
    assert!(on(10) >= 45 && on(15) >= 45);
    let certain = |p: &&Distribution| p.probabilities().contains(&1.0);
    assert!(peer.predictions.iter().filter(certain).count() >= 30);
}

#[test]
fn scores_equal_scikit_learn() {
    let peer = Peer::read();
    let ours = peer.scores(15);
    close(ours.accuracy().unwrap(), peer.number("/accuracy"), 0.0);
    close(ours.brier().unwrap(), peer.number("/brier"), ROUNDING);
    close(ours.log_loss().unwrap(), peer.number("/log_loss"), ROUNDING);
}

#[test]
fn maps_equal_scikit_learn_netcal_and_scipy() {
    let peer = Peer::read();
    let isotonic = IsotonicMap::fit(&peer.pairs()).unwrap();
    let at = numbers(&peer.recorded["isotonic"]["at"]);
    let rates = numbers(&peer.recorded["isotonic"]["rate"]);
    assert!(at.len() == 65 && rates.len() == 65);
    // Ours never answers 0 or 1.
    let n = peer.labels.len() as f64;
    for (at, rate) in at.into_iter().zip(rates) {
        let rate = rate.clamp(0.5 / (n + 1.0), (n + 0.5) / (n + 1.0));
        close(isotonic.rate(at).unwrap(), rate, ROUNDING);
    }
    // There zeros are impossible at every temperature, as they are for the plain search.
    let scores = peer.predictions.iter().flat_map(|p| p.probabilities());
    let scores: Vec<f64> = scores.map(|p| p.ln()).collect();
    let t = fit_temperature(&scores, &peer.labels).unwrap();
    close(t, peer.number("/temperature"), ROUNDING);
    let method = MapMethod::Histogram { bins: 10 };
    let histogram = CalibrationMap::fit(method, &peer.predictions, &peer.labels).unwrap();
    let MapShape::Histogram(counted) = histogram.shape() else {
        panic!();
    };
    let at = numbers(&peer.recorded["histogram"]["at"]);
    let rates = numbers(&peer.recorded["histogram"]["rate"]);
    for (at, rate) in at.into_iter().zip(rates) {
        let (hits, points) = counted.counts()[(at * 10.0) as usize];
        close(hits as f64 / points as f64, rate, ROUNDING);
        let p = Distribution::new(vec![at, (1.0 - at) / 2.0, (1.0 - at) / 2.0]).unwrap();
        let smoothed = (hits as f64 + 0.5) / (points as f64 + 1.0);
        assert_eq!(histogram.apply(&p).unwrap().confidence, smoothed);
    }
}

fn maps() -> Value {
    serde_json::from_str(include_str!("../../fixtures/peers/maps.json")).unwrap()
}

/// Both minimize the same convex function to a slope of about 1e-9 in all; the curvature is above 1.
const MINIMUM: f64 = 1e-8;

#[test]
fn log_linear_maps_equal_scikit_learn_and_scipy() {
    let peer = Peer::read();
    let recorded = maps();
    let fit = |method, p: &[Distribution], y: &[usize]| CalibrationMap::fit(method, p, y).unwrap();
    let map = fit(MapMethod::Temperature, &peer.predictions, &peer.labels);
    let MapShape::Temperature(t) = map.shape() else {
        panic!();
    };
    close(
        f64::from(*t),
        recorded["temperature"].as_f64().unwrap(),
        MINIMUM,
    );
    let parameters = |family, p: &[Distribution], y: &[usize]| {
        let map = fit(MapMethod::LogLinear(family), p, y);
        match map.shape() {
            MapShape::LogLinear(map) => map.parameters().to_vec(),
            other => panic!("{other:?}"),
        }
    };
    let compare = |ours: Vec<f64>, name: &str, tolerance: f64| {
        let theirs = numbers(&recorded[name]);
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            close(ours, theirs, tolerance);
        }
    };
    for (family, name) in [(Family::Vector, "vector"), (Family::Dirichlet, "dirichlet")] {
        let ours = parameters(family, &peer.predictions, &peer.labels);
        compare(ours, name, MINIMUM);
    }
    // Whether it is class 0, called 1, or another.
    let two = |p: &Distribution| {
        let p = p.probabilities()[0];
        Distribution::new(vec![1.0 - p, p]).unwrap()
    };
    let predictions: Vec<Distribution> = peer.predictions.iter().map(two).collect();
    let labels: Vec<usize> = peer.labels.iter().map(|&y| usize::from(y == 0)).collect();
    // scikit-learn stops at a relative change of the loss of 1e-9·64, some 1e-5 in the parameters.
    compare(
        parameters(Family::Platt, &predictions, &labels),
        "platt",
        1e-4,
    );
    compare(
        parameters(Family::Beta, &predictions, &labels),
        "beta",
        MINIMUM,
    );
    // The answers the wrong way round: a and b end at zero.
    let turned = |p: &Distribution| {
        let p = p.probabilities();
        Distribution::new(vec![p[1], p[0]]).unwrap()
    };
    let turned: Vec<Distribution> = predictions.iter().map(turned).collect();
    let ours = parameters(Family::Beta, &turned, &labels);
    assert_eq!(ours[..2], [0.0, 0.0]);
    compare(ours, "beta_flipped", 1e-5);
}

/// Calibrated on the first 400 rows and asked about the other 320: the same classes in every set.
#[test]
fn prediction_sets_equal_mapie() {
    let peer = Peer::read();
    let recorded = maps();
    for (score, name) in [
        (SetScore::Probability, "probability"),
        (SetScore::Lead, "lead"),
    ] {
        for coverage in [0.5, 0.8, 0.9, 0.95] {
            for (by_class, sets, rate) in [
                (false, "sets", "coverage"),
                (true, "by_class", "by_class_coverage"),
            ] {
                let settings = ConformalSettings {
                    coverage,
                    score,
                    by_class,
                    robust: None,
                };
                let (p, y) = (&peer.predictions, &peer.labels);
                let ours = ConformalSets::fit(settings, &p[..400], &y[..400]).unwrap();
                let theirs = &recorded["conformal"][name][coverage.to_string()];
                let rows = theirs[sets].as_array().unwrap();
                assert_eq!(rows.len(), 320);
                let mut hits = 0;
                for ((p, y), theirs) in p[400..].iter().zip(&y[400..]).zip(rows) {
                    let set = ours.set(p, None).unwrap();
                    let theirs: Vec<usize> = numbers(theirs)
                        .iter()
                        .enumerate()
                        .filter(|(_, x)| **x == 1.0)
                        .map(|(i, _)| i)
                        .collect();
                    assert_eq!(set, theirs, "{settings:?} {p:?}");
                    hits += usize::from(set.contains(y));
                }
                close(hits as f64 / 320.0, theirs[rate].as_f64().unwrap(), 1e-15);
            }
        }
    }
}

#[test]
fn smooth_error_equals_relplot() {
    let peer = Peer::read();
    let pairs = peer.pairs();
    let ours = smooth_ece(&cells(&pairs)).unwrap();
    assert_eq!(ours.bandwidth, peer.number("/smooth/bandwidth"));
    let theirs = peer.number("/smooth/value");
    close(ours.value, theirs, FINE_MESH * theirs);
    for sigma in [0.03125, 0.125] {
        let ours = smooth_ece_at(&cells(&pairs), sigma).unwrap();
        let theirs = peer.number(&format!("/smooth/at/{sigma}"));
        close(ours, theirs, FINE_MESH * theirs);
    }
    // As installed, on a mesh of 200 points, away from 1: three digits and the same bandwidth.
    let inner: Vec<_> = pairs.into_iter().filter(|(c, _)| *c <= 0.98).collect();
    let ours = smooth_ece(&cells(&inner)).unwrap();
    assert_eq!(ours.bandwidth, peer.number("/smooth_inner_as_is/bandwidth"));
    let theirs = peer.number("/smooth_inner_as_is/value");
    close(ours.value, theirs, 5e-3 * theirs);
}

/// Some of the rows, audited with these arguments.
fn audited(peer: &Peer, rows: std::ops::Range<usize>, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, rows: std::ops::Range<usize>| {
        let pairs = peer.predictions[rows.clone()]
            .iter()
            .zip(&peer.labels[rows]);
        let log: String = pairs
            .map(|(p, y)| format!("{{\"label\":{y},\"probs\":{:?}}}\n", p.probabilities()))
            .collect();
        std::fs::write(folder.path().join(name), log).unwrap();
    };
    write("old.jsonl", 0..400);
    write("log.jsonl", rows);
    let args = [&["audit", "log.jsonl", "--format", "json"], more].concat();
    let out = super::lpf(&args, folder.path()).stdout;
    serde_json::from_slice(&out).unwrap()
}

/// A check of a report.
fn check_of<'a>(report: &'a Value, id: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|c| c["id"] == id).unwrap()
}

fn value(report: &Value, id: &str) -> f64 {
    check_of(report, id)["value"].as_f64().unwrap()
}

/// What is read off the grid of 2¹⁶ cells of an audit moves each confidence by less than this, and can
/// tie neighbours within one cell.
const GRID: f64 = 1.0 / 65536.0;

#[test]
fn audits_equal_the_peers() {
    let peer = Peer::read();
    let report = audited(&peer, 0..peer.labels.len(), &[]);
    for (id, path) in [
        ("accuracy", "/accuracy"),
        ("ece", "/ece/15"),
        ("classwise_ece", "/classwise/15"),
        ("gap", "/gap"),
        ("brier", "/brier"),
        ("brier_calibration", "/brier_parts/calibration"),
        ("brier_refinement", "/brier_parts/refinement"),
        ("log_loss", "/log_loss"),
        ("log_loss_excess", "/log_loss_excess"),
        ("log_loss_floor", "/log_loss_floor"),
        ("risk_at_coverage", "/risk_at_80"),
    ] {
        close(value(&report, id), peer.number(path), ROUNDING);
    }
    // The root of a sum that is off by ROUNDING.
    let debiased = peer.number("/debiased");
    let found = value(&report, "debiased_error");
    close(found, debiased, ROUNDING / debiased);
    let interval = &check_of(&report, "accuracy")["interval"];
    for (end, path) in [
        ("low", "/accuracy_interval/0"),
        ("high", "/accuracy_interval/1"),
    ] {
        // Found there by Brent's method to 1e-12.
        close(interval[end].as_f64().unwrap(), peer.number(path), 2e-12);
    }
    let smooth = peer.number("/smooth/value");
    let found = value(&report, "smooth_ece");
    close(found, smooth, FINE_MESH * smooth + GRID);
    // A tie of two rows changes the error rate at one of them by at most 1/kept: four of 720 rows
    // among the last half are below 4/360/720.
    close(value(&report, "aurc"), peer.number("/aurc"), 2e-5);
    let report = audited(&peer, 0..600, &[]);
    let adaptive = value(&report, "adaptive_ece");
    close(adaptive, peer.number("/adaptive_600"), ROUNDING);
}

#[test]
fn drift_equals_scipy() {
    let peer = Peer::read();
    let report = audited(&peer, 500..720, &["--baseline", "old.jsonl"]);
    for (i, id) in ["accuracy", "confidence", "brier", "labels", "confidences"]
        .into_iter()
        .enumerate()
    {
        let (check, path) = (format!("drift_{id}"), format!("/drift/{id}"));
        close(value(&report, &check), peer.number(&path), ROUNDING);
        // The sentence has three digits. There are 999 random divisions here and 39,999 there: six
        // standard deviations of a share, times five for the smallest of five p-values.
        let sentence = check_of(&report, &check)["sentence"].as_str().unwrap();
        let shown = sentence.split("p-value ").nth(1).unwrap();
        let shown: f64 = shown[..5].parse().unwrap();
        let want = peer.number(&format!("/drift/holm/{i}"));
        let share = (want / 5.0).max(1.0 / 999.0);
        close(
            shown,
            want,
            5e-4 + 30.0 * (share * (1.0 - share) / 999.0).sqrt(),
        );
    }
}
