use super::*;

fn items(n: usize, seed: u64) -> Vec<GaussianPosterior> {
    let mut s = Stream::new(seed, 5, 0, 0);
    (0..n)
        .map(|_| {
            let mean = (0..4).map(|_| s.standard_normal()).collect();
            let sigma = (0..4).map(|_| 0.1 + s.uniform()).collect();
            GaussianPosterior::diagonal(mean, sigma).unwrap()
        })
        .collect()
}

fn shape(consistency: Consistency) -> AggregatorShape {
    AggregatorShape {
        latent: 4,
        hidden: 6,
        consistency,
    }
}

#[test]
fn order_of_the_items_cannot_be_seen_in_any_bit() {
    for consistency in [Consistency::Symmetric, Consistency::Directed] {
        let aggregator = Aggregator::new(shape(consistency), 1);
        for n in [1, 2, 5, 23] {
            let items = items(n, n as u64);
            let (attention, latent) = aggregator.aggregate(&items).unwrap();
            for shift in 1..n {
                let mut moved = items.clone();
                moved.rotate_left(shift);
                moved.swap(0, n - 1);
                let (mut expected, z) = aggregator.aggregate(&moved).unwrap();
                assert_eq!(z, latent);
                expected.swap(0, n - 1);
                expected.rotate_right(shift);
                assert_eq!(expected, attention);
            }
            let total: f64 = attention.iter().sum();
            // n quotients rounded to single precision, each at most one.
            assert!((total - 1.0).abs() <= n as f64 * f64::from(f32::EPSILON));
        }
    }
}

/// Negative control: a plain sum from first to last does show the order.
#[test]
fn a_plain_weighted_mean_would_show_the_order() {
    let mut s = Stream::new(1, 5, 0, 0);
    let differs = (0..100).any(|_| {
        let x: Vec<f32> = (0..5).map(|_| s.standard_normal() as f32).collect();
        let forward: f32 = x.iter().sum();
        let backward: f32 = x.iter().rev().sum();
        forward != backward
    });
    assert!(differs);
}

#[test]
fn symmetric_consistency_is_the_same_both_ways_and_the_directed_is_not() {
    let x = items(2, 9);
    let row =
        |i: usize| -> (Vec<f64>, Vec<f64>) { (x[i].mean().to_vec(), x[i].sigmas().collect()) };
    let (a, b) = (row(0), row(1));
    let features = |c: Consistency, swap: bool| {
        let aggregator = Aggregator::<f64>::new(shape(c), 1);
        let mut out = vec![0.0; 8];
        let (a, b) = if swap { (&b, &a) } else { (&a, &b) };
        aggregator.pair_features((&a.0, &a.1), (&b.0, &b.1), &mut out);
        out
    };
    let (s, d) = (Consistency::Symmetric, Consistency::Directed);
    assert_eq!(features(s, false), features(s, true));
    assert_ne!(features(d, false), features(d, true));
}

#[test]
fn one_item_gets_all_attention() {
    let aggregator = Aggregator::new(shape(Consistency::Symmetric), 3);
    let item = items(1, 1);
    let (attention, latent) = aggregator.aggregate(&item).unwrap();
    assert_eq!(attention, [1.0]);
    let rounded: Vec<f64> = item[0]
        .mean()
        .iter()
        .map(|&m| f64::from(m as f32))
        .collect();
    assert_eq!(latent, rounded);
}

#[test]
fn impossible_aggregations_are_named() {
    let aggregator = Aggregator::new(shape(Consistency::Symmetric), 3);
    assert_eq!(aggregator.aggregate(&[]), Err(AggregatorError::Empty));
    let flat = GaussianPosterior::diagonal(vec![0.0], vec![1.0]).unwrap();
    assert!(matches!(
        aggregator.aggregate(&[flat]),
        Err(AggregatorError::Dimension {
            item: 0,
            found: 1,
            expected: 4
        })
    ));
    let huge = GaussianPosterior::diagonal(vec![1e300; 4], vec![1.0; 4]).unwrap();
    assert!(matches!(
        aggregator.aggregate(&[items(1, 1)[0].clone(), huge]),
        Err(AggregatorError::Weight { .. })
    ));
    let many = vec![items(1, 1)[0].clone(); MAX_ITEMS + 1];
    let error = aggregator.aggregate(&many).unwrap_err();
    assert!(error.to_string().contains("spn"));
    // All weights vanish: softplus of a large negative score is zero in single precision.
    let mut zero = vec![0.0f32; aggregator.parameters().len()];
    *zero.last_mut().unwrap() = -1000.0;
    let zero = Aggregator::from_parameters(aggregator.shape(), zero).unwrap();
    assert!(matches!(
        zero.aggregate(&items(2, 1)),
        Err(AggregatorError::Weight { value: 0.0, .. })
    ));
}

#[test]
fn default_sizes_have_the_stated_number_of_parameters() {
    // 2·(128·16+16 + 16·8+8 + 8+1) + (2·8+8 + 8+1)
    assert_eq!(AggregatorShape::default().parameter_count(), 4451);
}
