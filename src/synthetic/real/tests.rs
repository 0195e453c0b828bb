use super::*;

fn digits() -> RealData {
    REAL[0].read().unwrap()
}

/// The columns of a view, by their position among all.
fn columns(set: &RealSet, view: usize) -> Range<usize> {
    let start = set.views[..view].iter().map(|v| v.columns).sum();
    start..start + set.views[view].columns
}

/// Sums of all numbers of each view, exact fractions from the CSV files inside the wheel (Python's
/// `fractions`), not from the packed file. Whole numbers must agree exactly. A rounded column of
/// 2,000 is off by at most 2,000 half steps.
#[test]
fn sums_of_the_digits_are_those_of_the_source() {
    let data = digits();
    let source = [
        20_068.876_446_72,
        137_492_808.0,
        6_794.852_859_76,
        1_452_834.0,
        8_331_825.075_158_8,
        12_632_390.634_8,
    ];
    let steps = [8, 0, 8, 0, 8, 16];
    for (view, (want, bits)) in source.into_iter().zip(steps).enumerate() {
        let mut slack = 0.0;
        let mut sum = 0.0;
        for column in columns(data.set, view) {
            let numbers = &data.numbers[column];
            sum += numbers.iter().sum::<f64>();
            let range = numbers.iter().fold(f64::MIN, |a: f64, &b| a.max(b))
                - numbers.iter().fold(f64::MAX, |a: f64, &b| a.min(b));
            slack += match bits {
                0 => 0.0,
                bits => 1000.0 * range / f64::from((1 << bits) - 1),
            };
        }
        // Rounding errors of the sum itself are below 2,000·240 ulps of it.
        assert!(
            (sum - want).abs() <= slack + 1e-10 * want,
            "{view}: {sum} {want}"
        );
    }
}

/// Rows 0 and 1234 of the source, as its files print them.
#[test]
fn single_rows_are_those_of_the_source() {
    let data = digits();
    for (row, label, profiles, morphology) in [
        (0, 0, [98.0, 236.0, 531.0, 673.0], [1.0, 0.0, 0.0, 133.15]),
        (
            1234,
            6,
            [313.0, 301.0, 845.0, 762.0],
            [1.0, 1.0, 1.0, 143.03],
        ),
    ] {
        let entity = data.source.iter().position(|&s| s == row).unwrap();
        assert_eq!(data.labels[entity], label);
        assert_eq!(data.entity_name(entity), format!("digits-{row}"));
        let numbers: Vec<f64> = data.numbers(entity).collect();
        assert_eq!(numbers[76..80], profiles);
        let view = columns(data.set, 5);
        for (found, want) in numbers[view].iter().zip(morphology) {
            // Sixteen bits of a column that goes from 71 to 250.
            assert!((found - want).abs() <= 0.002, "{found} {want}");
        }
    }
    let pages = REAL[1].read().unwrap();
    let entity = pages.source.iter().position(|&s| s == 777).unwrap();
    let numbers: Vec<f64> = pages.numbers(entity).collect();
    assert_eq!(numbers, [0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 1.0, 0.0]);
    assert_eq!(pages.labels[entity], 1);
    let sums: Vec<f64> = pages.numbers.iter().map(|c| c.iter().sum()).collect();
    let source = [
        787.5, 466.5, 820.5, 516.0, 623.5, 634.0, 571.0, 750.0, 142.0,
    ];
    assert_eq!(sums, source);
}

#[test]
fn every_row_is_there_once_and_classes_are_as_frequent_as_in_the_source() {
    for (set, counts) in REAL.iter().zip([vec![200; 10], vec![702, 548]]) {
        let data = set.read().unwrap();
        let mut rows = data.source.clone();
        rows.sort_unstable();
        assert_eq!(rows, (0..set.entities()).collect::<Vec<_>>());
        let count = |class| data.labels.iter().filter(|&&y| y == class).count();
        let found: Vec<usize> = (0..set.classes.len()).map(count).collect();
        assert_eq!(found, counts);
        // Learning and judging entities are all, each once.
        assert_eq!(data.learning().end, data.judging().start);
        assert_eq!(data.judging().end, set.entities());
    }
}

#[test]
fn an_item_fills_the_places_of_its_view_and_no_others() {
    for set in &REAL {
        let data = set.read().unwrap();
        let dimension = set.dimension();
        let mut start = 0;
        let rows = data.embeddings(7);
        for (view, row) in set.views.iter().zip(rows.chunks(dimension)) {
            let own = start..start + view.width();
            for (place, &x) in row.iter().enumerate() {
                assert!(own.contains(&place) || x == 0.0, "{} {place}", view.name);
            }
            let filled = row[own.clone()].iter().filter(|x| **x != 0.0).count();
            match view.kind {
                ViewKind::Answered => assert_eq!(filled, 1),
                ViewKind::Measured => assert!(filled > 0),
            }
            start = own.end;
        }
        assert_eq!(start, dimension);
        let record = data.record(7);
        let ids: Vec<_> = record
            .evidence
            .iter()
            .map(|e| e.id.clone().unwrap())
            .collect();
        let names: Vec<_> = set.views.iter().map(|v| v.name).collect();
        assert_eq!(ids, names);
    }
}

/// Where a model learns, every measured column has mean 0 and the same variance, so that a view's
/// squared length is 16 on average.
#[test]
fn measured_views_are_of_one_length_on_average() {
    let data = digits();
    let dimension = data.set.dimension();
    let mut squares = [0.0; 6];
    for entity in data.learning() {
        let rows = data.embeddings(entity);
        for (sum, row) in squares.iter_mut().zip(rows.chunks(dimension)) {
            *sum += row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        }
    }
    for (view, sum) in data.set.views.iter().zip(squares) {
        let mean = sum / data.learning().len() as f64;
        // Single precision, and columns that never vary: there are none among 900 numerals.
        assert!((mean - 16.0).abs() < 1e-4, "{} {mean}", view.name);
    }
}

/// As many right answers as scikit-learn counted when it was recorded.
#[test]
fn recorded_answers_are_right_as_often_as_when_they_were_recorded() {
    for (set, right) in REAL.iter().zip([[1075, 1072], [570, 569]]) {
        let data = set.read().unwrap();
        for (recorded, right) in set.recorded().unwrap().iter().zip(right) {
            assert_eq!(recorded.answers.len(), data.judging().len());
            let labels = data.judging().map(|e| data.labels[e]);
            let hits = recorded.answers.iter().zip(labels);
            let hits = hits.filter(|(answer, label)| answer.argmax() == *label);
            assert_eq!(hits.count(), right, "{} {}", set.name, recorded.name);
        }
    }
}

#[test]
fn packed_columns_are_read_bit_by_bit_and_wrong_files_are_refused() {
    // Three entries of three bits, 5, 2 and 7, mean 1 + ½·q.
    let mut file = vec![3];
    file.extend(1f64.to_le_bytes());
    file.extend(0.5f64.to_le_bytes());
    file.extend([0b11_010_101, 0b1]);
    assert_eq!(packed::columns(&file, 3, 1), Ok(vec![vec![3.5, 2.0, 4.5]]));
    assert_eq!(
        packed::columns(&file, 3, 2),
        Err(PackedError::Short { column: 1 })
    );
    assert_eq!(
        packed::columns(&file[..18], 3, 1),
        Err(PackedError::Short { column: 0 })
    );
    assert_eq!(
        packed::columns(&file, 2, 1),
        Err(PackedError::Long { bytes: 1 })
    );
    file[0] = 33;
    assert_eq!(
        packed::columns(&file, 3, 1),
        Err(PackedError::Bits {
            column: 0,
            bits: 33
        })
    );
}
