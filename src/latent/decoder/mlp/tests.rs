use super::*;
use crate::latent::random::Stream;
use proptest::prelude::*;

fn layer(inputs: usize, outputs: usize, stream: &mut Stream) -> DenseLayer {
    let scale = 1.0 / (inputs as f64).sqrt();
    let mut draw = |n: usize| -> Vec<f32> {
        (0..n)
            .map(|_| (stream.standard_normal() * scale) as f32)
            .collect()
    };
    let (weights, bias) = (draw(inputs * outputs), draw(outputs));
    DenseLayer::new(inputs, outputs, &weights, bias).unwrap()
}

/// The formula word for word, in double precision, with a bound on what single precision may
/// differ from it: the scores, and for each the error bound.
///
/// A dot product of `n` terms in sequence is off by at most `γ_n·Σ|w||x|` with
/// `γ_n = n·2⁻²⁴/(1 − n·2⁻²⁴)` (Higham, section 3.1); errors of the inputs pass through `|W|`, and
/// ReLU does not enlarge them.
fn literal(decoder: &MlpDecoder, z: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let unit = 2f64.powi(-24);
    let mut x: Vec<f64> = z.to_vec();
    let mut error: Vec<f64> = z.iter().map(|z| z.abs() * unit).collect();
    for (index, layer) in decoder.layers.iter().enumerate() {
        let n = (layer.inputs + 1) as f64 * unit;
        let gamma = n / (1.0 - n);
        let (mut next, mut next_error) = (Vec::new(), Vec::new());
        for o in 0..layer.outputs {
            let w = |i: usize| f64::from(layer.weights[i * layer.outputs + o]);
            let b = f64::from(layer.bias[o]);
            let sum: f64 = (0..layer.inputs).map(|i| w(i) * x[i]).sum::<f64>() + b;
            let passed: f64 = (0..layer.inputs).map(|i| w(i).abs() * error[i]).sum();
            let magnitude: f64 = (0..layer.inputs)
                .map(|i| w(i).abs() * (x[i].abs() + error[i]))
                .sum::<f64>()
                + b.abs();
            let hidden = index + 1 < decoder.layers.len();
            next.push(if hidden { sum.max(0.0) } else { sum });
            next_error.push(passed + gamma * magnitude);
        }
        (x, error) = (next, next_error);
    }
    (x, error)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn equals_the_formula_in_double_precision(
        seed in any::<u64>(),
        sizes in prop::collection::vec(1usize..40, 2..5),
        rows in 1usize..40,
        temperature in 0.1f64..10.0,
    ) {
        let mut stream = Stream::new(seed, 0, 0, 0);
        let layers: Vec<DenseLayer> =
            sizes.windows(2).map(|s| layer(s[0], s[1], &mut stream)).collect();
        let decoder = MlpDecoder::new(layers, &[]).unwrap().with_temperature(temperature).unwrap();
        let (d, n) = (decoder.dimension(), decoder.classes());
        let mut z = vec![0.0; rows * d];
        stream.fill_standard_normal(&mut z);
        let mut p = vec![0.0; rows * n];
        let mut workspace = DecoderWorkspace::default();
        decoder.decode(&z, &mut p, &mut workspace).unwrap();
        for (z, p) in z.chunks_exact(d).zip(p.chunks_exact(n)) {
            let (mut want, error) = literal(&decoder, z);
            want.iter_mut().for_each(|x| *x /= temperature);
            softmax(&mut want).unwrap();
            // Scores off by at most e change a softmax by a factor of at most exp(2e).
            let e = error.iter().copied().fold(0.0, f64::max) / temperature;
            let bound = (2.0 * e).exp_m1() + 16.0 * f64::EPSILON;
            for (&got, want) in p.iter().zip(want) {
                prop_assert!((got - want).abs() <= bound * want, "{got} {want} {bound:e}");
            }
            // A row alone gives the bits that it has in a batch.
            let mut alone = vec![0.0; n];
            decoder.decode(z, &mut alone, &mut workspace).unwrap();
            prop_assert_eq!(&alone, p);
        }
    }
}

#[test]
fn fixed_inputs_are_those_of_the_full_first_layer() {
    let mut stream = Stream::new(5, 0, 0, 0);
    let first = layer(6, 4, &mut stream);
    let last = layer(4, 3, &mut stream);
    let context = [0.5f32, -0.25];
    let folded = MlpDecoder::new(vec![first.clone(), last.clone()], &context).unwrap();
    let full = MlpDecoder::new(vec![first, last], &[]).unwrap();
    assert_eq!((folded.dimension(), full.dimension()), (4, 6));
    assert_eq!(folded.multiply_adds(), 4 * 4 + 4 * 3);
    let z = [0.3, -1.0, 2.0, 0.7];
    let with_context = [0.3, -1.0, 2.0, 0.7, 0.5, -0.25];
    let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
    folded.decode(&z, &mut a, &mut Default::default()).unwrap();
    full.decode(&with_context, &mut b, &mut Default::default())
        .unwrap();
    let error = literal(&full, &with_context)
        .1
        .into_iter()
        .fold(0.0, f64::max);
    for (a, b) in a.iter().zip(b) {
        // Both are within the bound of the formula: twice the bound apart at most.
        assert!((a - b).abs() <= (4.0 * error).exp_m1() * b);
    }
}

#[test]
fn temperature_does_what_it_says() {
    let weights = [40.0, 0.0, -40.0];
    let one = |d: MlpDecoder| {
        let mut p = [0.0; 3];
        d.decode(&[1.0], &mut p, &mut Default::default()).unwrap();
        p
    };
    let decoder = || {
        let layer = DenseLayer::new(1, 3, &weights, vec![0.0; 3]).unwrap();
        MlpDecoder::new(vec![layer], &[]).unwrap()
    };
    assert!(one(decoder())[2] < 1e-30);
    let flat = one(decoder().with_temperature(1e9).unwrap());
    assert!(flat.iter().all(|&p| (p - 1.0 / 3.0).abs() < 1e-7));
    assert!(matches!(
        decoder().with_temperature(0.0),
        Err(MlpError::Temperature { .. })
    ));
    let cold = decoder().with_temperature(5e-324).unwrap();
    let error = cold.decode(&[1.0], &mut [0.0; 3], &mut Default::default());
    assert!(matches!(error, Err(DecodeError::Scores { row: 0, .. })));
}

#[test]
fn overflow_is_refused_and_not_turned_into_a_wrong_answer() {
    // Two huge products of opposite sign: ∞ − ∞ inside, which ReLU would turn into zero.
    let first = DenseLayer::new(2, 1, &[1e30, -1e30], vec![0.0]).unwrap();
    let last = DenseLayer::new(1, 2, &[1.0, -1.0], vec![0.0; 2]).unwrap();
    let decoder = MlpDecoder::new(vec![first, last.clone()], &[]).unwrap();
    let decode = |z: &[f64]| decoder.decode(z, &mut [0.0; 2], &mut Default::default());
    assert!(decode(&[8e7, 8e7]).is_ok());
    for bad in [1e9, f64::INFINITY, f64::NAN, -1e300] {
        let error = decode(&[0.0, bad]).unwrap_err();
        assert!(
            matches!(
                error,
                DecodeError::Latent {
                    row: 0,
                    coordinate: 1,
                    ..
                }
            ),
            "{bad}"
        );
    }
    assert!(matches!(decode(&[1.0]), Err(DecodeError::Shape { .. })));
    let huge = DenseLayer::new(1, 1, &[1.0], vec![3e38]).unwrap();
    assert_eq!(
        MlpDecoder::new(vec![huge, last], &[]),
        Err(MlpError::Overflow {
            layer: 0,
            output: 0
        })
    );
}

#[test]
fn refuses_layers_that_do_not_fit() {
    let new = |i, o, w: &[f32], b: &[f32]| DenseLayer::new(i, o, w, b.to_vec()).unwrap_err();
    assert!(matches!(
        new(2, 1, &[1.0], &[0.0]),
        MlpError::LayerShape { .. }
    ));
    assert!(matches!(
        new(0, 1, &[], &[0.0]),
        MlpError::LayerShape { .. }
    ));
    assert!(matches!(
        new(2, 2, &[0.0, 0.0, f32::NAN, 0.0], &[0.0; 2]),
        MlpError::Weight {
            output: 1,
            input: 0,
            ..
        }
    ));
    assert!(matches!(
        new(1, 1, &[0.0], &[f32::INFINITY]),
        MlpError::Bias { output: 0, .. }
    ));
    assert_eq!(MlpDecoder::new(vec![], &[]), Err(MlpError::NoLayers));
    let l = |i, o| DenseLayer::new(i, o, &vec![0.1; i * o], vec![0.0; o]).unwrap();
    assert_eq!(
        MlpDecoder::new(vec![l(2, 3), l(4, 2)], &[]),
        Err(MlpError::Chain {
            layer: 1,
            inputs: 4,
            given: 3
        })
    );
    for context in [&[1.0f32; 2][..], &[1.0; 3], &[f32::NAN]] {
        let error = MlpDecoder::new(vec![l(2, 3)], context).unwrap_err();
        assert!(matches!(error, MlpError::Context { inputs: 2, .. }));
    }
}
