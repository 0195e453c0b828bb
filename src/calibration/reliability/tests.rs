use super::*;
use crate::math::rational;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use proptest::prelude::*;

/// The definition, literally, in exact rationals: `(count, correct, Σ confidence)` of each bin.
fn oracle(pairs: &[(f64, bool)], bins: usize) -> Vec<(u64, u64, BigRational)> {
    let edge = |i: usize| i as f64 / bins as f64;
    (0..bins)
        .map(|i| {
            let inside = |c: f64| edge(i) < c && c <= edge(i + 1) || i == 0 && c == 0.0;
            let held: Vec<_> = pairs.iter().filter(|p| inside(p.0)).collect();
            (
                held.len() as u64,
                held.iter().filter(|p| p.1).count() as u64,
                held.iter().map(|p| rational(p.0).unwrap()).sum(),
            )
        })
        .collect()
}

fn exact_ece(pairs: &[(f64, bool)], bins: usize) -> BigRational {
    let gaps: BigRational = oracle(pairs, bins)
        .into_iter()
        .map(|(_, correct, sum)| (sum - BigRational::from_integer(correct.into())).abs())
        .sum();
    gaps / BigRational::from_integer(pairs.len().into())
}

fn of(pairs: &[(f64, bool)], bins: usize) -> Reliability {
    let (c, t): (Vec<f64>, Vec<bool>) = pairs.iter().copied().unzip();
    Reliability::of(&c, &t, bins).unwrap()
}

/// Confidences of every kind: any bits in `[0, 1]`, edges of tenths, the ends, tiny ones.
fn confidence() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => 0.0f64..=1.0,
        2 => (0..=1f64.to_bits()).prop_map(f64::from_bits),
        2 => (0u32..=10).prop_map(|i| f64::from(i) / 10.0),
        1 => Just(SMALLEST_BINNED),
        1 => Just(SMALLEST_BINNED.next_down()),
        1 => Just(1f64.next_down()),
    ]
}

proptest! {
    #[test]
    fn totals_equal_the_definition_in_exact_rationals(
        pairs in prop::collection::vec((confidence(), any::<bool>()), 1..80),
        bins in 1usize..40,
    ) {
        let got = of(&pairs, bins);
        for (bin, (count, correct, sum)) in got.bins().iter().zip(oracle(&pairs, bins)) {
            prop_assert_eq!((bin.count, bin.correct), (count, correct));
            prop_assert_eq!(bin.means.is_some(), count > 0);
            if let Some(means) = bin.means {
                // The sum is exact and rounded once, the quotient once.
                let n = count as f64;
                prop_assert_eq!(means.confidence, sum.to_f64().unwrap() / n);
                let gap = sum - BigRational::from_integer(correct.into());
                prop_assert_eq!(means.gap, gap.to_f64().unwrap() / n);
            }
        }
        let want = exact_ece(&pairs, bins);
        let ece = got.ece().unwrap();
        // Three roundings, see `ece`; (1 + u)³ − 1 < 3.01u.
        let bound = &want * rational(3.01 * 2f64.powi(-53)).unwrap();
        prop_assert!((rational(ece).unwrap() - want).abs() <= bound);
        prop_assert!((0.0..=1.0).contains(&ece));
        prop_assert!((0.0..=1.0).contains(&got.mce().unwrap()));
        prop_assert!(ece <= got.mce().unwrap() * (1.0 + 4.0 * f64::EPSILON));
    }

    #[test]
    fn merge_is_associative_commutative_and_equals_the_whole(
        pairs in prop::collection::vec((confidence(), any::<bool>()), 3..60),
        cuts in (0usize..60, 0usize..60),
        bins in 1usize..20,
    ) {
        let (i, j) = (cuts.0 % pairs.len(), cuts.1 % pairs.len());
        let (i, j) = (i.min(j), i.max(j));
        let [a, b, c] = [&pairs[..i], &pairs[i..j], &pairs[j..]].map(|part| of(part, bins));
        let whole = of(&pairs, bins);
        let left = a.merged(&b).unwrap().merged(&c).unwrap();
        let right = c.merged(&b.merged(&a).unwrap()).unwrap();
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(&right, &whole);
        for sum in [left, right] {
            prop_assert_eq!(sum.ece().unwrap().to_bits(), whole.ece().unwrap().to_bits());
        }
        // One at a time, backwards.
        let mut streamed = Reliability::new(bins).unwrap();
        for &(c, t) in pairs.iter().rev() {
            streamed.add(c, t).unwrap();
        }
        prop_assert_eq!(streamed, whole);
    }
}

#[test]
fn hand_computed_bins() {
    // Tenths; dyadic confidences keep the arithmetic on paper exact:
    // 1/2 (twice: one right), 3/4 (wrong), 1 (right), 0 (wrong).
    let pairs = [
        (0.5, true),
        (0.5, false),
        (0.75, false),
        (1.0, true),
        (0.0, false),
    ];
    let r = of(&pairs, 10);
    let held: Vec<(usize, u64, u64)> = r
        .bins()
        .iter()
        .enumerate()
        .filter(|(_, b)| b.count > 0)
        .map(|(i, b)| (i, b.count, b.correct))
        .collect();
    // 1/2 is the upper edge of bin 4; 0 is in bin 0 and 1 in bin 9.
    assert_eq!(held, [(0, 1, 0), (4, 2, 1), (7, 1, 0), (9, 1, 1)]);
    // Gaps 0, |1 − 1| = 0, 3/4, 0: ECE = (3/4)/5, MCE = 3/4, accuracy 2/5.
    assert_eq!(r.ece(), Ok(0.15));
    assert_eq!(r.mce(), Ok(0.75));
    assert_eq!(r.accuracy(), Ok(0.4));
    assert_eq!(r.bins()[7].means.unwrap().gap, 0.75);
}

#[test]
fn edges_and_errors() {
    assert_eq!(Reliability::new(0), Err(CalibrationError::Bins { bins: 0 }));
    assert!(Reliability::new(MAX_BINS + 1).is_err());
    let empty = Reliability::of(&[], &[], 15).unwrap();
    assert_eq!(empty.ece(), Err(CalibrationError::Empty));
    assert_eq!(empty.mce(), Err(CalibrationError::Empty));
    assert_eq!(empty.accuracy(), Err(CalibrationError::Empty));
    assert_eq!(
        Reliability::of(&[0.5], &[], 15),
        Err(CalibrationError::Lengths {
            predictions: 1,
            outcomes: 0
        })
    );
    let mut one = of(&[(1.0, true)], 15);
    assert_eq!((one.ece(), one.mce()), (Ok(0.0), Ok(0.0)));
    assert!(matches!(
        one.add(f64::NAN, true),
        Err(CalibrationError::Confidence { index: 1, value }) if value.is_nan()
    ));
    assert_eq!(
        one.merge(&Reliability::new(10).unwrap()),
        Err(CalibrationError::Shape {
            left: 15,
            right: 10
        })
    );
    // −0 is zero.
    assert_eq!(of(&[(-0.0, false)], 3), of(&[(0.0, false)], 3));
}

#[test]
fn the_first_bad_confidence_is_named_whatever_the_threads_do() {
    let mut confidences = vec![0.5; 3 * BLOCK];
    let correct = vec![true; 3 * BLOCK];
    confidences[2 * BLOCK + 5] = 1.5;
    confidences[BLOCK + 7] = -0.25;
    assert_eq!(
        Reliability::of(&confidences, &correct, 10),
        Err(CalibrationError::Confidence {
            index: BLOCK + 7,
            value: -0.25
        })
    );
}

#[test]
fn doubling_until_it_overflows_is_an_error_and_changes_nothing() {
    let mut r = of(&[(1.0, true)], 1);
    for _ in 0..63 {
        r.merge(&r.clone()).unwrap();
    }
    let before = r.clone();
    assert_eq!(r.merge(&before), Err(CalibrationError::TooMany));
    assert_eq!(r, before);
    assert_eq!(r.ece(), Ok(0.0));
}

/// A million predictions of all magnitudes, from a multiplicative hash.
fn many() -> Vec<(f64, bool)> {
    (0..1_000_000u64)
        .map(|i| {
            let h = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let unit = (h >> 11) as f64 * 2f64.powi(-53);
            let tiny = h % 97 == 0;
            (if tiny { unit * 2f64.powi(-30) } else { unit }, h % 3 == 0)
        })
        .collect()
}

#[test]
fn threads_blocks_and_order_change_no_bit() {
    let pairs = many();
    let whole = of(&pairs, 15);
    let mut streamed = Reliability::new(15).unwrap();
    for &(c, t) in pairs.iter().rev() {
        streamed.add(c, t).unwrap();
    }
    assert_eq!(streamed, whole);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let other = pool.install(|| of(&pairs, 15));
        assert_eq!(other, whole);
        assert_eq!(
            other.ece().unwrap().to_bits(),
            whole.ece().unwrap().to_bits()
        );
    }
    // Independent of all fixed-point sums: one exact accumulator for each bin.
    let mut sums = vec![ExactSum::new(); 15];
    for &(c, _) in &pairs {
        sums[bin_index(c, 15).unwrap()].add(c);
    }
    for (i, sum) in sums.iter().enumerate() {
        assert_eq!(whole.bin_sum(i, false).to_bits(), sum.to_f64().to_bits());
    }
}

/// Groups whose bins are found at once, groups with one confidence too small for that, and a last one
/// that is not full.
#[test]
fn groups_change_no_bit() {
    let pairs: Vec<(f64, bool)> = many()
        .into_iter()
        .take(100_000 + 77)
        .enumerate()
        .map(|(i, (c, t))| {
            (
                if i / GROUP % 5 < 4 {
                    c.max(SMALLEST_BINNED)
                } else {
                    c
                },
                t,
            )
        })
        .collect();
    let small = pairs.iter().filter(|(c, _)| *c < SMALLEST_BINNED).count();
    assert!(small > 0, "one kind of group is not met");
    for bins in [1, 10, 15, 1000, MAX_BINS] {
        let mut one_by_one = Reliability::new(bins).unwrap();
        for &(c, t) in &pairs {
            one_by_one.add(c, t).unwrap();
        }
        assert_eq!(of(&pairs, bins), one_by_one, "{bins} bins");
    }
    // A confidence out of range is noticed within a group.
    for bad in [1f64.next_up(), -1e-300, f64::NAN, f64::INFINITY] {
        let mut c = vec![0.5; 3 * GROUP];
        c[GROUP + 5] = bad;
        let found = Reliability::of(&c, &vec![true; 3 * GROUP], 15);
        assert!(
            matches!(found, Err(CalibrationError::Confidence { index, .. }) if index == GROUP + 5)
        );
    }
}

#[test]
fn a_full_block_of_ones_does_not_overflow_its_fields() {
    let c = vec![1.0; BLOCK];
    let t = vec![true; BLOCK];
    let r = Reliability::of(&c, &t, 1).unwrap();
    assert_eq!(
        (r.count(), r.bins()[0].correct),
        (BLOCK as u64, BLOCK as u64)
    );
    assert_eq!(r.ece(), Ok(0.0));
    assert!(exact_ece(&[(1.0, true)], 1).is_zero());
}
