use super::*;
use crate::latent::GaussianPosterior;
use crate::learn::VaeShape;
use crate::learn::tests::matches_central_differences;
use proptest::prelude::*;

fn small_vae<T: Number>(seed: u64) -> Vae<T> {
    let shape = VaeShape {
        embedding: 2,
        encoder_hidden: vec![],
        latent: 3,
        predicate: 1,
        decoder_hidden: vec![5],
        classes: 3,
        sigma_floor: 1e-6,
    };
    Vae::new(shape, seed)
}

fn shape(consistency: Consistency) -> AggregatorShape {
    AggregatorShape {
        latent: 3,
        hidden: 8,
        consistency,
    }
}

/// Entities with one to four items, numbered through.
fn entities<T: Number>(count: usize, seed: u64) -> Entities<T> {
    let mut s = Stream::new(seed, 3, 0, 0);
    let mut data = Entities::default();
    let mut rows = 0;
    for e in 0..count {
        let n = 1 + e % 4;
        data.items.push(rows..rows + n);
        data.labels.push(e % 3);
        rows += n;
        for _ in 0..n * 3 {
            data.means.push(T::from_f64(s.standard_normal()));
            data.log_variances.push(T::from_f64(s.uniform() - 1.0));
        }
    }
    data
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// The complete loss of the aggregator, dropout fixed, against central differences in double
    /// precision, for both kinds of consistency.
    #[test]
    fn gradient_of_the_complete_loss_matches_central_differences(
        seed in any::<u64>(),
        directed in any::<bool>(),
    ) {
        let kind = if directed { Consistency::Directed } else { Consistency::Symmetric };
        let vae = small_vae::<f64>(seed);
        let model = Aggregator::<f64>::new(shape(kind), seed);
        let data = entities::<f64>(6, seed);
        let all: Vec<usize> = (0..6).collect();
        let mut work = Work::new(&model, &vae, 6, &data);
        let mut loss = |parameters: &[f64]| {
            let model = Aggregator::from_parameters(shape(kind), parameters.to_vec()).unwrap();
            let mut dropout = Dropout::new(0.2, Stream::new(seed, 2, 0, 0));
            let scale = dropout.scale();
            model.forward(&vae, &data, &all, Some(&mut dropout), &mut work).unwrap();
            let loss = work.loss(&data, &all, 3) / 6.0;
            model.backward(&vae, &data, &all, scale, &mut work).unwrap();
            (loss, work.gradients.clone())
        };
        // A start where all ReLUs of the weight net are off has no gradient to check.
        prop_assume!(loss(model.parameters()).1.iter().any(|g| g.abs() > 1e-3));
        matches_central_differences(model.parameters(), loss)?;
    }
}

/// Training and inference compute the same attention, through different loops.
#[test]
fn batched_forward_equals_inference_to_the_bit() {
    for kind in [Consistency::Symmetric, Consistency::Directed] {
        let vae = small_vae::<f32>(1);
        let model = Aggregator::<f32>::new(shape(kind), 2);
        let data = entities::<f32>(5, 3);
        let mut work = Work::new(&model, &vae, 5, &data);
        model
            .forward(&vae, &data, &[3, 0, 4], None, &mut work)
            .unwrap();
        let mut row = 0;
        for entity in [3, 0, 4] {
            let range = data.items[entity].clone();
            let posteriors: Vec<GaussianPosterior> = range
                .clone()
                .map(|i| {
                    let (mean, spread) = data.item(i, 3);
                    let wide = mean.iter().map(|&m| f64::from(m)).collect();
                    let sigma = spread.iter().map(|&s| crate::math::exp(f64::from(s) / 2.0));
                    GaussianPosterior::diagonal(wide, sigma.collect()).unwrap()
                })
                .collect();
            let (attention, _) = model.aggregate(&posteriors).unwrap();
            for a in attention {
                assert_eq!(a, f64::from(work.attention[row]));
                row += 1;
            }
        }
    }
}

/// Evidence of which one item tells the class and the others are noise with large variance: the
/// aggregator must learn whom to trust.
#[test]
fn attention_learns_to_prefer_the_item_that_knows() {
    let mut s = Stream::new(8, 3, 0, 0);
    let mut make = |count: usize| {
        let mut data = Entities::<f32>::default();
        for e in 0..count {
            let label = e % 3;
            data.items.push(3 * e..3 * e + 3);
            data.labels.push(label);
            for k in 0..3 {
                for j in 0..3 {
                    let signal = if k == e % 2 && j == label { 3.0 } else { 0.0 };
                    let noise = if k == e % 2 { 0.1 } else { 3.0 };
                    data.means
                        .push((signal + noise * s.standard_normal()) as f32);
                    data.log_variances.push(if k == e % 2 { -3.0 } else { 1.0 });
                }
            }
        }
        data
    };
    let (training, validation) = (make(120), make(40));
    // A decoder that reads the class off the latent: a single layer with unit weights.
    let vae_shape = VaeShape {
        embedding: 1,
        encoder_hidden: vec![],
        latent: 3,
        predicate: 0,
        decoder_hidden: vec![],
        classes: 3,
        sigma_floor: 1e-6,
    };
    let mut parameters = vec![0.0f32; vae_shape.parameter_count()];
    let start = vae_shape.encoder().parameter_count();
    for class in 0..3 {
        parameters[start + 3 * class + class] = 1.0;
    }
    let vae = Vae::from_parameters(vae_shape, parameters).unwrap();
    let settings = TrainSettings {
        epochs: 30,
        batch: 10,
        adam: AdamSettings {
            rate: 1e-2,
            ..AdamSettings::default()
        },
        ..aggregator_settings(1)
    };
    let mut losses = Vec::new();
    let run = |losses: &mut Vec<f64>| {
        let kind = shape(Consistency::Symmetric);
        train_aggregator(kind, &vae, &training, &validation, &settings, |e| {
            losses.push(e.validation);
            ControlFlow::Continue(())
        })
        .unwrap()
    };
    let outcome = run(&mut losses);
    // Equal weights leave most of the noise: the loss starts near 1 and must fall far below.
    assert!(losses[0] > 2.0 * outcome.validation, "{losses:?}");
    assert!(outcome.validation < 0.35, "{}", outcome.validation);
    assert_eq!(outcome.model, run(&mut Vec::new()).model);
}

#[test]
fn unusable_entities_are_refused() {
    let vae = small_vae::<f32>(1);
    let good = entities::<f32>(6, 1);
    let run = |data: &Entities<f32>| {
        let kind = shape(Consistency::Symmetric);
        train_aggregator(kind, &vae, data, &good, &aggregator_settings(1), |_| {
            ControlFlow::Break(())
        })
    };
    assert!(run(&good).is_ok());
    assert!(matches!(
        run(&Entities::default()),
        Err(TrainError::Empty { .. })
    ));
    let mut bad = good.clone();
    bad.labels[2] = 9;
    assert!(matches!(run(&bad), Err(TrainError::Label { index: 2, .. })));
    let mut bad = good.clone();
    bad.items[1].end = 1000;
    assert!(matches!(run(&bad), Err(TrainError::Sizes(_))));
    let mut bad = good.clone();
    bad.means[4] = f32::NAN;
    assert!(matches!(run(&bad), Err(TrainError::Input { index: 4 })));
}
