use super::*;
use crate::learn::tests::matches_central_differences;
use proptest::prelude::*;

fn small() -> VaeShape {
    VaeShape {
        embedding: 5,
        encoder_hidden: vec![6, 4],
        latent: 3,
        predicate: 2,
        decoder_hidden: vec![5],
        classes: 3,
        sigma_floor: 1e-6,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// The complete loss, dropout and noise fixed, against central differences in double precision.
    #[test]
    fn gradient_of_the_complete_loss_matches_central_differences(seed in any::<u64>()) {
        let vae = Vae::<f64>::new(small(), seed);
        let mut s = Stream::new(seed, 1, 0, 0);
        let (mut x, mut noise) = ([0.0; 4 * 5], [0.0; 4 * 3]);
        s.fill_standard_normal(&mut x);
        s.fill_standard_normal(&mut noise);
        let labels = [0, 1, 2, 1];
        let beta = 0.3;
        let mut work = vae.work(4);
        let loss = |parameters: &[f64]| {
            let vae = Vae::from_parameters(small(), parameters.to_vec()).unwrap();
            let mut dropout = Dropout::new(0.2, Stream::new(seed, 2, 0, 0));
            let batch = Batch { inputs: &x, labels: &labels, noise: &noise };
            let loss = vae.loss(batch, beta, Some(&mut dropout), &mut work).unwrap();
            (loss.total(beta), work.gradients.clone())
        };
        matches_central_differences(vae.parameters(), loss)?;
    }
}

/// Negative control of the check above: leave out the part of the gradient that comes through the
/// divergence, or apply softmax twice, and the quotient no longer fits.
#[test]
fn a_wrong_gradient_is_seen_by_central_differences() {
    let vae = Vae::<f64>::new(small(), 3);
    let x = [0.3; 5];
    let batch = Batch {
        inputs: &x,
        labels: &[2],
        noise: &[0.5, -1.0, 0.2],
    };
    let mut work = vae.work(1);
    let mut total = |vae: &Vae<f64>, beta: f64| {
        let loss = vae.loss(batch, beta, None, &mut work).unwrap();
        (loss.total(1.0), work.gradients.clone())
    };
    let (_, right) = total(&vae, 1.0);
    let (_, without_divergence) = total(&vae, 0.0);
    let bias_of_mean = vae.shape().encoder().layers().last().unwrap().bias.start;
    let mut moved = vae.parameters().to_vec();
    moved[bias_of_mean] += 1e-5;
    let up = total(&Vae::from_parameters(small(), moved.clone()).unwrap(), 1.0).0;
    moved[bias_of_mean] -= 2e-5;
    let down = total(&Vae::from_parameters(small(), moved).unwrap(), 1.0).0;
    let quotient = (up - down) / 2e-5;
    assert!((quotient - right[bias_of_mean]).abs() < 1e-6);
    assert!((quotient - without_divergence[bias_of_mean]).abs() > 1e-3);
}

#[test]
fn default_shape_has_the_parameters_of_the_reference() {
    // 384·256+256 + 256·128+128 + 2·(128·64+64) + 96·128+128 + 128·64+64 + 64·3+3 + 32
    assert_eq!(VaeShape::default().parameter_count(), 168_867);
}

#[test]
fn wrong_or_unusable_parameters_are_refused() {
    let n = small().parameter_count();
    let error = Vae::from_parameters(small(), vec![0.0f32; n - 1]).unwrap_err();
    assert!(error.to_string().contains("parameters instead of"));
    let mut parameters = vec![0.0f32; n];
    parameters[7] = f32::NAN;
    let error = Vae::from_parameters(small(), parameters).unwrap_err();
    assert!(matches!(error, VaeError::Parameter { index: 7, .. }));
}

#[test]
fn embeddings_that_cannot_be_encoded_are_named() {
    let vae = Vae::<f32>::new(small(), 1);
    assert!(vae.posteriors(&[0.0; 7]).is_err());
    let mut rows = [0.1; 10];
    rows[9] = f32::NAN;
    let error = vae.posteriors(&rows).unwrap_err();
    assert!(matches!(
        error,
        VaeError::Embedding {
            item: 1,
            coordinate: 4,
            ..
        }
    ));
    // Finite, but the encoder overflows: no number may come out.
    let huge = Vae::from_parameters(small(), vec![1e30f32; small().parameter_count()]).unwrap();
    let error = huge.posteriors(&[1e30; 5]).unwrap_err();
    assert!(matches!(error, VaeError::Posterior { item: 0, .. }));
    assert!(vae.posteriors(&[]).unwrap().is_empty());
}

/// The decoder handed to inference computes what training computed, up to the rounding of the
/// predicate's part, which is added exactly there.
#[test]
fn decoder_of_inference_agrees_with_that_of_training() {
    use crate::latent::{Decoder, DecoderWorkspace};
    let vae = Vae::<f32>::new(small(), 11);
    let z = [0.25f32, -1.5, 0.75];
    let mut work = vae.decoder_work(1);
    vae.scores(&z, &mut work).unwrap();
    let mut expected: Vec<f64> = work.tape.outputs().iter().map(|&s| f64::from(s)).collect();
    crate::simplex::softmax(&mut expected).unwrap();
    let mut found = [0.0; 3];
    let latents = z.map(f64::from);
    let decoder = vae.decoder().unwrap();
    decoder
        .decode(&latents, &mut found, &mut DecoderWorkspace::default())
        .unwrap();
    for (a, b) in expected.iter().zip(found) {
        // Sums of up to seven terms of magnitude below ten, in single precision.
        assert!((a - b).abs() < 7.0 * 10.0 * f64::from(f32::EPSILON));
    }
}
