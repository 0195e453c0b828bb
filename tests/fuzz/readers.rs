//! The targets, one for each reader.

use super::*;
use lpf::audit::{
    CheckSettings, ScanError, ScanSettings, Tally, audit, read_state, scan, write_state,
};
use lpf::data::{
    Batch, CalibrationFile, ColumnNames, DEFAULT_TOLERANCE, Entity, Expectations, Gate, LineReader,
    Model, Prediction, Record, aggregator_from_bytes,
};
use lpf::latent::Confidence;
use lpf::report::{audit_html, audit_junit, audit_markdown, audit_sarif, audit_text};
use lpf::simplex::Distribution;

target!(record, |bytes: &[u8]| {
    let expect = Expectations {
        classes: None,
        tolerance: DEFAULT_TOLERANCE,
    };
    match Record::parse(bytes).and_then(|record| Entity::new(record, &expect)) {
        Ok(entity) => {
            assert!(
                entity
                    .label
                    .is_none_or(|label| label < entity.classes.len())
            );
            assert!(entity.weights.iter().all(|w| w.is_finite() && *w >= 0.0));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

target!(lines, |bytes: &[u8]| {
    let mut reader = LineReader::new(bytes);
    let mut batch = Batch::default();
    let mut last = 0;
    while reader.fill(&mut batch).unwrap() {
        for (number, line) in batch.lines() {
            assert!(number > last && !line.contains(&b'\n'));
            last = number;
        }
    }
    let ends = bytes.iter().filter(|b| **b == b'\n').count() as u64;
    assert!(last <= ends + 1);
});

target!(calibration_map, |bytes: &[u8]| {
    if let Ok(file) = CalibrationFile::from_bytes(bytes) {
        // What was read can be written and used.
        let again = CalibrationFile::from_bytes(file.to_json().as_bytes()).unwrap();
        assert_eq!(again, file);
        if file.classes <= 64 {
            let p = Distribution::uniform(file.classes).unwrap();
            if let Ok(calibrated) = file.apply(&p) {
                assert!((0.0..=1.0).contains(&calibrated.confidence));
            }
        }
    }
});

target!(gate, |bytes: &[u8]| {
    if let Err(error) = Gate::parse(bytes) {
        assert!(!error.to_string().is_empty());
    }
});

target!(model, |bytes: &[u8]| {
    if let Ok(model) = Model::from_bytes(bytes) {
        model.to_bytes().unwrap();
    }
    if let Err(error) = aggregator_from_bytes(bytes) {
        assert!(!error.to_string().is_empty());
    }
});

target!(prediction, |bytes: &[u8]| {
    if let Err(error) = Prediction::parse(bytes, "probs") {
        assert!(!error.to_string().is_empty());
    }
});

fn settings(csv: Option<ColumnNames>) -> ScanSettings {
    ScanSettings {
        csv,
        answer: "probs".to_string(),
        classes: None,
        bins: 15,
        tolerance: DEFAULT_TOLERANCE,
        method: "spn".to_string(),
        confidence: Some(Confidence::Reference),
        calibration: None,
    }
}

/// Whether a log is among the eighth that is audited to the end: simulating and writing reports
/// takes ten times as long as reading, which is where most faults would be.
fn in_full(bytes: &[u8]) -> bool {
    bytes.iter().map(|b| usize::from(*b)).sum::<usize>() % 8 == 0
}

/// A log, if it is one, read and, for some, audited down to every format.
fn audited(bytes: &[u8], scanned: Result<Tally, ScanError>) {
    match scanned {
        Ok(tally) => {
            // Every row is used or counted.
            for input in &tally.inputs {
                assert_eq!(input.rows, input.usable + tally.unusable.count());
            }
            if !in_full(bytes) {
                return;
            }
            let report = audit(&tally, None, &CheckSettings::default());
            for format in [
                audit_html,
                audit_junit,
                audit_markdown,
                audit_sarif,
                audit_text,
            ] {
                assert!(!format(&report).contains('\u{1b}'));
            }
            let state = write_state(&tally).unwrap();
            assert_eq!(read_state(&state[..]).unwrap(), tally);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A map after which some confidences are zero.
const MAP: &[u8] = br#"{"format":"lpf-calibration","version":1,"classes":2,"names":null,"rows":9,"split":0.5,"seed":0,"map":{"histogram":[[0,0],[0,4],[3,5]]}}"#;

target!(json_log, |bytes: &[u8]| {
    let mut settings = settings(None);
    if bytes.len() % 2 == 1 {
        settings.calibration = CalibrationFile::from_bytes(MAP).ok();
    }
    audited(bytes, scan("log", bytes, &settings, &|_| {}));
});

target!(csv_log, |bytes: &[u8]| {
    let settings = settings(Some(ColumnNames::default()));
    audited(bytes, scan("log", bytes, &settings, &|_| {}));
});

#[cfg(feature = "parquet")]
target!(parquet_log, |bytes: &[u8]| {
    let settings = settings(Some(ColumnNames::default()));
    let file = std::io::Cursor::new(bytes.to_vec());
    let scanned = lpf::audit::scan_parquet("log", file, &settings, &|_| {});
    audited(bytes, scanned);
});

target!(state, |bytes: &[u8]| {
    match read_state(bytes) {
        Ok(tally) => {
            audit(&tally, None, &CheckSettings::default());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
