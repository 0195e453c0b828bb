//! The targets, one for each reader.

use super::*;
use lpf::audit::{Gate, Log, Monitor, MonitorSettings, read_state, write_state};
use lpf::ledger::{Records, evidence};
use lpf::log::{
    Batch, Entity, Expectations, Fields, Format, Kind, Limits, LineReader, LogReader, Prediction,
    Record,
};
use lpf::model::{CalibrationFile, Model, aggregator_from_bytes};
use lpf::report::escape_terminal;
use lpf::simplex::Distribution;
use lpf::{Answerer, Audit, Method};

target!(record, |bytes: &[u8], _: bool| {
    let expect = Expectations::default();
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

target!(lines, |bytes: &[u8], _: bool| {
    let mut reader = LineReader::new(bytes);
    let mut batch = Batch::default();
    let mut last = 0;
    loop {
        match reader.fill(&mut batch) {
            Ok(true) => {}
            Ok(false) => break,
            // Only what does not begin as text does is refused.
            Err(error) => return assert!(error.to_string().contains("it is "), "{error}"),
        }
        for (number, line) in batch.lines() {
            assert!(number > last && !line.contains(&b'\n'));
            last = number;
        }
    }
    let ends = bytes.iter().filter(|b| **b == b'\n').count() as u64;
    assert!(last <= ends + 1);
});

target!(calibration_map, |bytes: &[u8], _: bool| {
    if let Ok(file) = CalibrationFile::from_bytes(bytes) {
        // What was read can be written and used.
        let again = CalibrationFile::from_bytes(file.to_json().as_bytes()).unwrap();
        assert_eq!(again, file);
        if file.classes <= 64 {
            let p = Distribution::uniform(file.classes).unwrap();
            if let Ok(calibrated) = file.apply(&p) {
                assert!((0.0..=1.0).contains(&calibrated.confidence));
            }
            let set = file.set(&p, Some(&[0.5, 1.0])).unwrap_or_default();
            assert!(set.is_none_or(|set| set.len() <= file.classes));
        }
    }
});

target!(gate, |bytes: &[u8], _: bool| {
    if let Err(error) = Gate::parse(bytes) {
        assert!(!error.to_string().is_empty());
    }
});

target!(model, |bytes: &[u8], _: bool| {
    if let Ok(model) = Model::from_bytes(bytes) {
        model.to_bytes().unwrap();
    }
    if let Err(error) = aggregator_from_bytes(bytes) {
        assert!(!error.to_string().is_empty());
    }
});

target!(prediction, |bytes: &[u8], _: bool| {
    if let Err(error) = Prediction::parse(bytes, "probs") {
        assert!(!error.to_string().is_empty());
    }
});

/// What was read of a log, if it is one, and its audit down to every format.
fn audited(audit: Audit<'_>, in_full: bool) {
    let tally = match audit.tally() {
        Ok(tally) => tally,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    // Every row is used or counted.
    for input in &tally.inputs {
        assert_eq!(input.rows, input.usable + tally.unusable.count());
    }
    if !in_full {
        return;
    }
    let state = write_state(&tally).unwrap();
    assert_eq!(read_state(&state[..], &Limits::default()).unwrap(), tally);
    match Audit::of(Log::state("state", &state[..])).run() {
        Ok(report) => {
            // Every page has one script of its own, the same in all.
            let empty = lpf::report::page("", "");
            let own = &empty[empty.find("<script>").unwrap()..empty.find("</script>").unwrap()];
            for text in [
                report.to_html().replacen(own, "", 1),
                report.to_junit(),
                report.to_markdown(),
                report.to_sarif(),
                report.to_json(),
            ] {
                // The corpus has both in names and labels.
                assert!(!text.contains('\u{1b}') && !text.contains("<script"));
            }
            assert!(!report.to_text().contains('\u{1b}'));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A map after which some confidences are small.
const MAP: &[u8] = br#"{"format":"lpf-calibration","version":2,"classes":2,"names":null,"rows":9,"split":0.5,"seed":0,"sources":[],"map":{"least":0.001,"shape":{"histogram":[[0,0],[0,4],[3,5]]}}}"#;

target!(json_log, |bytes: &[u8], in_full: bool| {
    let audit = Audit::of(Log::stream("log", bytes));
    if bytes.len().is_multiple_of(2) {
        return audited(audit, in_full);
    }
    let map = CalibrationFile::from_bytes(MAP).unwrap();
    let mapped = Answerer::builder(Method::Spn).calibration(map).build();
    audited(audit.answerer(&mapped.unwrap()), in_full);
});

target!(csv_log, |bytes: &[u8], in_full: bool| {
    let format = Format::of(Kind::Csv);
    audited(Audit::of(Log::stream("log", bytes)).format(format), in_full);
});

#[cfg(feature = "parquet")]
target!(parquet_log, |bytes: &[u8], in_full: bool| {
    let file = std::io::Cursor::new(bytes.to_vec());
    match LogReader::parquet(file, &Fields::default()) {
        Ok(reader) => audited(Audit::of(Log::reader("log", reader)), in_full),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

#[cfg(feature = "parquet")]
target!(arrow_log, |bytes: &[u8], in_full: bool| {
    let format = Format::of(Kind::Arrow);
    audited(Audit::of(Log::stream("log", bytes)).format(format), in_full);
});

target!(json_array, |bytes: &[u8], in_full: bool| {
    let format = Format::of(Kind::Json);
    audited(Audit::of(Log::stream("log", bytes)).format(format), in_full);
});

#[cfg(feature = "parquet")]
target!(packed_log, |bytes: &[u8], in_full: bool| {
    audited(Audit::of(Log::stream("log", bytes)), in_full);
});

target!(records, |bytes: &[u8], _: bool| {
    // They are named by their folder, of which each process has its own.
    let folder = std::env::temp_dir().join(format!("lpf-records-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["proofs.json", "properties.json", "theory.json"] {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let records = Records::read(&folder).with_texts(escape_terminal);
    std::fs::remove_dir_all(&folder).unwrap();
    for piece in evidence(&records) {
        assert!(!piece.name.contains('\u{1b}') && !piece.file.contains('\u{1b}'));
    }
});

target!(monitor, |bytes: &[u8], _: bool| {
    let settings = MonitorSettings {
        alpha: 0.05,
        margin: 0.02,
        by_class: true,
        by: Some("site".to_string()),
        calibration: None,
    };
    let classes = ["a".to_string(), "b".to_string()];
    match Monitor::read(bytes, &settings, &classes) {
        Ok(mut monitor) => {
            for i in 0..8 {
                let confidence = f64::from(i) / 8.0;
                monitor
                    .add(confidence, 0, i % 3 == 0, Some("north"))
                    .unwrap();
            }
            let page = lpf::report::monitor_html(&monitor);
            assert!(!page.contains('\u{1b}'));
            let again = monitor.to_json();
            assert!(Monitor::read(again.as_bytes(), &settings, &classes).is_ok());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

/// Of a state that is not read, no change would get past the first check.
#[test]
fn the_states_of_the_corpus_are_read() {
    for file in corpus("state") {
        read_state(&file[..], &Limits::default()).unwrap();
    }
}

target!(state, |bytes: &[u8], in_full: bool| {
    match read_state(bytes, &Limits::default()) {
        Ok(_) if in_full => {
            let _ = Audit::of(Log::state("state", bytes)).run();
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
