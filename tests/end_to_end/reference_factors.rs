//! The reference implementation's factors and weights, from its own tensors and normal draws.
//!
//! Origin of the data: `tests/fixtures/reference/README.md`. The reference computes in single
//! precision, in another order of additions than this library, so results agree up to rounding;
//! the bound is computed here for each sample, from the weights and activations themselves.

use std::path::Path;

use lpf::latent::decoder::DenseLayer;
use lpf::latent::{
    Confidence, Decoder, DecoderWorkspace, GaussianPosterior, MlpDecoder, factor_of_rows,
};
use safetensors::SafeTensors;
use serde_json::Value;

/// Half the distance from one to the next single: the largest relative error of a rounding.
const UNIT: f64 = 1.0 / 16_777_216.0;
const SAMPLES: usize = 16;
const LATENT: usize = 64;

fn fixture(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(root.join("tests/fixtures/reference").join(name)).unwrap()
}

fn singles(tensors: &SafeTensors, name: &str) -> Vec<f32> {
    let data = tensors.tensor(name).unwrap().data().to_vec();
    let number = |b: &[u8]| f32::from_le_bytes(b.try_into().unwrap());
    data.chunks_exact(4).map(number).collect()
}

fn doubles(tensors: &SafeTensors, name: &str) -> Vec<f64> {
    let data = tensors.tensor(name).unwrap().data().to_vec();
    let number = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap());
    data.chunks_exact(8).map(number).collect()
}

/// One layer as it is stored: `[outputs][inputs]` and bias.
struct Stored {
    inputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

struct Model {
    layers: Vec<Stored>,
    context: Vec<f32>,
}

impl Model {
    fn read() -> Self {
        let bytes = fixture("model.safetensors");
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let names = [
            "decoder.mlp.0",
            "decoder.mlp.3",
            "decoder.output_heads.compliance_level",
        ];
        let layers = names.map(|name| {
            let weight = tensors.tensor(&format!("{name}.weight")).unwrap();
            Stored {
                inputs: weight.shape()[1],
                weights: singles(&tensors, &format!("{name}.weight")),
                bias: singles(&tensors, &format!("{name}.bias")),
            }
        });
        Model {
            layers: layers.into(),
            context: singles(&tensors, "decoder.predicate_embedding.embedding.weight"),
        }
    }

    fn decoder(&self) -> MlpDecoder {
        let layers = self
            .layers
            .iter()
            .map(|l| DenseLayer::new(l.inputs, l.bias.len(), &l.weights, l.bias.clone()).unwrap());
        MlpDecoder::new(layers.collect(), &self.context).unwrap()
    }

    /// The scores of one latent in double precision, and the standard deviation of what single
    /// precision makes of the worst of them.
    ///
    /// Each rounding of a value `v` is taken as an independent error, uniform within `UNIT·|v|`,
    /// so of variance `(UNIT·v)²/3` (the model of Higham and Mary, 2019). Variances of inputs pass
    /// through squared weights; ReLU does not enlarge an error.
    fn scores(&self, z: &[f64]) -> (Vec<f64>, f64) {
        let rounding = |v: f64| (UNIT * v) * (UNIT * v) / 3.0;
        let context = self.context.iter().map(|&x| f64::from(x));
        let mut x: Vec<f64> = z
            .iter()
            .map(|&z| f64::from(z as f32))
            .chain(context)
            .collect();
        let mut variance = vec![0.0; x.len()];
        for (index, layer) in self.layers.iter().enumerate() {
            let last = index + 1 == self.layers.len();
            let rows = layer.weights.chunks_exact(layer.inputs);
            let outputs = rows.zip(&layer.bias).map(|(row, &bias)| {
                let (mut sum, mut spread) = (f64::from(bias), 0.0);
                for ((&w, &x), &v) in row.iter().zip(&x).zip(&variance) {
                    let product = f64::from(w) * x;
                    sum += product;
                    spread += f64::from(w) * f64::from(w) * v + rounding(product) + rounding(sum);
                }
                (if last { sum } else { sum.max(0.0) }, spread)
            });
            (x, variance) = outputs.unzip();
        }
        (x, variance.iter().copied().fold(0.0, f64::max).sqrt())
    }
}

fn predictions() -> Vec<Value> {
    let text = String::from_utf8(fixture("predictions.jsonl")).unwrap();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Row `i` of a `[K, 64]` tensor of singles, widened.
fn row(tensors: &SafeTensors, name: &str, i: usize) -> Vec<f64> {
    let all = singles(tensors, name);
    all[i * LATENT..][..LATENT]
        .iter()
        .map(|&x| f64::from(x))
        .collect()
}

/// Relative difference that rounding explains, for each class of a factor.
///
/// Both sides have scores with an error of standard deviation `s`, and a probability depends on
/// differences of two scores: 2·2·s² of variance. Seven standard deviations leave 3·10⁻¹² for
/// each of the 12·5·16·3 numbers, 10⁻⁸ in all. The reference exponentiates in single precision:
/// the argument `x − max` is rounded (`UNIT·|x − max|`), and exponential, sum and quotient add
/// some eight units.
fn tolerance(model: &Model, latents: &[f64]) -> Vec<f64> {
    let mut sums = [(0.0, 0.0); 3];
    for z in latents.chunks_exact(LATENT) {
        let (scores, s) = model.scores(z);
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|x| (x - max).exp()).sum();
        for (sum, x) in sums.iter_mut().zip(&scores) {
            let p = (x - max).exp() / total;
            sum.0 += p;
            sum.1 += p * ((7.0 * 2.0 * s).exp_m1() + ((max - x) + 8.0) * UNIT);
        }
    }
    sums.iter().map(|(p, off)| off / p).collect()
}

#[test]
fn factors_follow_from_means_spreads_and_draws() {
    let model = Model::read();
    let decoder = model.decoder();
    let bytes = fixture("tensors.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut workspace = DecoderWorkspace::default();
    let (mut factors, mut worst, mut largest, mut control) = (0, 0.0f64, 0.0f64, 0);
    for record in predictions() {
        let entity = record["entity"].as_str().unwrap();
        if tensors.tensor(&format!("{entity}.eps")).is_err() {
            continue;
        }
        let eps = doubles(&tensors, &format!("{entity}.eps"));
        for (i, item) in record["evidence"].as_array().unwrap().iter().enumerate() {
            let want = numbers(&item["factor"]);
            let mu = row(&tensors, &format!("{entity}.mu"), i);
            let sigma = row(&tensors, &format!("{entity}.sigma"), i);
            let mut factor_with = |sigma: Vec<f64>| {
                let posterior = GaussianPosterior::diagonal(mu.clone(), sigma).unwrap();
                let mut z = eps[i * SAMPLES * LATENT..][..SAMPLES * LATENT].to_vec();
                posterior.transform(&mut z);
                let mut rows = vec![0.0; SAMPLES * 3];
                decoder.decode(&z, &mut rows, &mut workspace).unwrap();
                (z, factor_of_rows(&rows, 3).unwrap().distribution)
            };
            let (z, got) = factor_with(sigma.clone());
            // Negative control: variances where standard deviations are meant.
            let (_, wrong) = factor_with(sigma.iter().map(|s| s * s).collect());
            // The stored factors were divided by something slightly off; their own sums say by
            // how much.
            let sum_off = (want.iter().sum::<f64>() - 1.0).abs();
            let bounds = tolerance(&model, &z);
            let off = |p: f64, want: f64| (p - want).abs() / want;
            for (y, (&want, bound)) in want.iter().zip(&bounds).enumerate() {
                let bound = bound + sum_off;
                let off_by = off(got.probabilities()[y], want);
                assert!(
                    off_by <= bound,
                    "{entity} item {i} class {y}: {off_by:e} > {bound:e}"
                );
                worst = worst.max(off_by);
                largest = largest.max(bound);
            }
            let caught = |y: usize| off(wrong.probabilities()[y], want[y]) > bounds[y] + sum_off;
            control += usize::from((0..3).any(caught));
            factors += 1;
        }
    }
    assert_eq!((factors, control), (60, 60));
    println!("largest relative difference {worst:.2e}, largest bound {largest:.2e}");
    // The bounds are of use: none is above 10⁻⁴.
    assert!(largest < 1e-4, "{largest:e}");
}

#[test]
fn weights_follow_from_spreads() {
    let bytes = fixture("tensors.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut weights = 0;
    for record in predictions() {
        let entity = record["entity"].as_str().unwrap();
        for (i, item) in record["evidence"].as_array().unwrap().iter().enumerate() {
            let sigma = row(&tensors, &format!("{entity}.sigma"), i);
            let posterior = GaussianPosterior::diagonal(vec![0.0; LATENT], sigma).unwrap();
            let want = item["weight"].as_f64().unwrap();
            let got = Confidence::Reference.weight(&posterior);
            // The reference's mean of 64 singles is off by at most 64 units relative; the weight
            // falls by at most 2 + 1 relative for each unit of the mean, which is s; its own
            // operations add some four units.
            let s = posterior.mean_sigma();
            let bound = (3.0 * s * 64.0 + 4.0) * UNIT;
            assert!(
                (got - want).abs() <= bound * want,
                "{entity} {i}: {got} {want}"
            );
            // Negative controls: other functions are not within the bound.
            for other in [Confidence::Reciprocal, Confidence::Exponential] {
                assert!((other.weight(&posterior) - want).abs() > bound * want);
            }
            weights += 1;
        }
    }
    assert_eq!(weights, 300);
}
