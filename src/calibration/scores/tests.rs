use super::*;
use crate::math::rational;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};
use proptest::prelude::*;

fn d(values: &[f64]) -> Distribution {
    Distribution::new(values.to_vec()).unwrap()
}

#[test]
fn hand_computed_scores() {
    let predictions = [
        d(&[0.5, 0.25, 0.25]),
        d(&[0.25, 0.25, 0.5]),
        d(&[0.0, 1.0, 0.0]),
        d(&[0.5, 0.5, 0.0]),
    ];
    let labels = [0, 0, 1, 1];
    let e = Evaluation::of(&predictions, &labels, 4).unwrap();
    // Right, wrong, right, wrong (a tie goes to class 0).
    assert_eq!(e.accuracy(), Ok(0.5));
    // (1/4+1/16+1/16) + (9/16+1/16+1/4) + 0 + (1/4+1/4) = 7/4, over 4.
    assert_eq!(e.brier(), Ok(7.0 / 16.0));
    // (ln 2 + ln 4 + 0 + ln 2)/4 = ln 2, here with libm's logarithms.
    let want = (ln(2.0) + ln(4.0) + ln(2.0)) / 4.0;
    assert!((e.log_loss().unwrap() - want).abs() <= f64::EPSILON);
    // Top label: bin (1/4, 1/2] holds three with mean confidence 1/2, one right: 3/2 − 1 = 1/2;
    // bin (3/4, 1] is perfect. ECE = (1/2)/4, MCE = (1/2)/3.
    assert_eq!(e.ece(), Ok(0.125));
    assert_eq!(e.mce(), Ok(0.5 / 3.0));
    // Class 0: bin 0 holds 1/4 (true) and 0 (false), gap 3/4; bin 1 holds 1/2 (true), 1/2 (false),
    // gap 0. Class 1: bin 0 holds 1/4, 1/4 (both false), gap 1/2; 1/2 (true), gap 1/2; 1 (true), 0.
    // Class 2: bin 0 holds 1/4, 0, 0 (all false), gap 1/4; 1/2 (false), gap 1/2.
    // Sums 3/4, 1, 3/4, each over 4, and their mean over 3.
    let classes: Vec<f64> = e.classwise().iter().map(|r| r.ece().unwrap()).collect();
    assert_eq!(classes, [0.1875, 0.25, 0.1875]);
    assert_eq!(e.classwise_ece(), Ok(0.625 / 3.0));
    assert_eq!((e.count(), e.impossible()), (4, 0));
}

#[test]
fn an_impossible_truth_makes_the_log_loss_infinite_and_is_counted() {
    let mut e = Evaluation::new(2, 10).unwrap();
    e.add(&d(&[1.0, 0.0]), 1).unwrap();
    e.add(&d(&[0.5, 0.5]), 1).unwrap();
    assert_eq!(e.log_loss(), Ok(f64::INFINITY));
    assert_eq!(e.impossible(), 1);
    assert_eq!(e.brier(), Ok(1.25));
}

#[test]
fn errors_name_the_culprit() {
    let p = d(&[0.5, 0.5]);
    let q = d(&[1.0]);
    let of = |p: &[Distribution], y: &[usize]| Evaluation::of(p, y, 10).unwrap_err();
    assert_eq!(of(&[], &[]), CalibrationError::Empty);
    assert!(matches!(
        of(std::slice::from_ref(&p), &[]),
        CalibrationError::Lengths { .. }
    ));
    assert_eq!(
        of(&[p.clone(), p.clone()], &[0, 2]),
        CalibrationError::Label {
            index: 1,
            label: 2,
            classes: 2
        }
    );
    assert!(matches!(
        of(&[p.clone(), q], &[0, 0]),
        CalibrationError::Classes {
            index: 1,
            expected: 2,
            found: 1
        }
    ));
    let empty = Evaluation::new(2, 10).unwrap();
    for score in [
        Evaluation::accuracy,
        Evaluation::brier,
        Evaluation::log_loss,
        Evaluation::ece,
        Evaluation::classwise_ece,
    ] {
        assert_eq!(score(&empty), Err(CalibrationError::Empty));
    }
    let mut two = empty.clone();
    assert!(matches!(
        two.merge(&Evaluation::new(3, 10).unwrap()),
        Err(CalibrationError::Shape { left: 2, right: 3 })
    ));
    // One unit above one is within a distribution's tolerance, but it is no confidence.
    let above = Distribution::new(vec![1f64.next_up(), 0.0]).unwrap();
    assert!(matches!(
        two.add(&above, 0),
        Err(CalibrationError::Confidence { index: 0, .. })
    ));
    assert_eq!(two, empty);
}

#[test]
fn one_class_is_always_right() {
    let e = Evaluation::of(&[d(&[1.0])], &[0], 15).unwrap();
    assert_eq!(
        (e.accuracy(), e.ece(), e.brier(), e.log_loss()),
        (Ok(1.0), Ok(0.0), Ok(0.0), Ok(0.0))
    );
}

proptest! {
    #[test]
    fn scores_equal_the_definition_and_merge_to_the_bit(
        rows in prop::collection::vec((prop::collection::vec(1e-6f64..1.0, 3), 0usize..3), 2..40),
        cut in 0usize..40,
    ) {
        let (p, y): (Vec<Distribution>, Vec<usize>) = rows
            .into_iter()
            .map(|(w, y)| (Distribution::from_weights(w).unwrap(), y))
            .unzip();
        let whole = Evaluation::of(&p, &y, 15).unwrap();
        let n = BigRational::from_integer(p.len().into());
        let brier: BigRational = p.iter().zip(&y).flat_map(|(p, &y)| {
            p.probabilities().iter().enumerate().map(move |(j, &q)| {
                let off = rational(q).unwrap() - if j == y { BigRational::one() } else { rational(0.0).unwrap() };
                &off * &off
            })
        }).sum::<BigRational>() / n;
        let bound = &brier * rational(4.0 * f64::EPSILON).unwrap();
        prop_assert!((rational(whole.brier().unwrap()).unwrap() - &brier).abs() <= bound);
        let right = p.iter().zip(&y).filter(|(p, y)| p.argmax() == **y).count();
        prop_assert_eq!(whole.accuracy().unwrap(), right as f64 / p.len() as f64);
        prop_assert!(brier.to_f64().unwrap() <= 2.0);

        let cut = cut % p.len();
        let mut merged = Evaluation::new(3, 15).unwrap();
        for i in (cut..p.len()).rev() {
            merged.add(&p[i], y[i]).unwrap();
        }
        let mut front = Evaluation::new(3, 15).unwrap();
        for i in 0..cut {
            front.add(&p[i], y[i]).unwrap();
        }
        merged.merge(&front).unwrap();
        prop_assert_eq!(&merged, &whole);
        for score in [Evaluation::ece, Evaluation::classwise_ece, Evaluation::brier, Evaluation::log_loss] {
            prop_assert_eq!(score(&merged).unwrap().to_bits(), score(&whole).unwrap().to_bits());
        }
        // Relabelling the classes changes no score but the identity of the classes.
        let relabelled: Vec<Distribution> = p
            .iter()
            .map(|d| { let q = d.probabilities(); Distribution::new(vec![q[2], q[0], q[1]]).unwrap() })
            .collect();
        let labels: Vec<usize> = y.iter().map(|&l| (l + 1) % 3).collect();
        let other = Evaluation::of(&relabelled, &labels, 15).unwrap();
        prop_assert_eq!(other.brier(), whole.brier());
        prop_assert_eq!(other.log_loss(), whole.log_loss());
        prop_assert_eq!(other.classwise_ece(), whole.classwise_ece());
    }
}

proptest! {
    /// Rows whose scores are computed and added together, entries that are zero, subnormal or nearly so among
    /// them.
    #[test]
    fn rows_added_together_are_those_added_one_by_one(
        rows in prop::collection::vec(
            (prop::array::uniform3(prop_oneof![
                4 => 0.0f64..=1.0,
                1 => Just(0.0),
                1 => Just(1.0),
                1 => (0u64..1 << 54).prop_map(f64::from_bits),
                1 => (0u32..40).prop_map(|k| 0.5f64.powi(k as i32)),
            ]), 0usize..3, 0usize..3),
            1..40,
        )
    ) {
        let mut one_by_one = Evaluation::new(3, 15).unwrap();
        let mut together = one_by_one.clone();
        for (p, named, label) in &rows {
            one_by_one.add_named(p, *named, *label).unwrap();
        }
        let p: Vec<f64> = rows.iter().flat_map(|(p, ..)| *p).collect();
        let mut scored: Vec<ScoredRow> = rows
            .iter()
            .map(|&(_, named, label)| ScoredRow { named, label, scores: RowScores::default() })
            .collect();
        RowScores::fill(&mut scored, &p, 3);
        for (row, (p, _, label)) in scored.iter().zip(&rows) {
            let want = RowScores::of(p, *label);
            // As text, which tells −0 from 0.
            prop_assert_eq!(format!("{:?}", row.scores), format!("{want:?}"));
        }
        together.add_rows(&p, &scored).unwrap();
        prop_assert_eq!(one_by_one, together);
    }
}
