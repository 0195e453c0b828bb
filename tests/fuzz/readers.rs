//! The targets, one for each reader.

use super::*;
use lpf::data::{
    Batch, CalibrationFile, DEFAULT_TOLERANCE, Entity, Expectations, Gate, LineReader, Model,
    Record, aggregator_from_bytes,
};
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
