//! The reference implementation's model and data: what it computed, computed here.
//!
//! The reference works in single precision with other orders of summation, so results agree within
//! the rounding of float32 only; each comparison says what it allows.

use std::path::{Path, PathBuf};

use lpf::latent::{DecoderWorkspace, GaussianPosterior};
use lpf::learn::{Aggregator, AggregatorShape, Consistency};
use lpf::log::Limits;
use lpf::model::{Model, aggregator_from_bytes, read_aggregator};
use safetensors::SafeTensors;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/reference")
        .join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

fn singles(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let data = file.tensor(name).unwrap();
    let chunks = data.data().as_chunks::<4>().0;
    chunks.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

fn predictions() -> Vec<Value> {
    let text = String::from_utf8(bytes("predictions.jsonl")).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 60);
    lines
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Largest difference, relative to the largest magnitude of the expected values: entries of a row
/// are sums of terms of either sign, so an entry near zero carries the rounding of its terms.
fn difference(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    let gaps = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    gaps.fold(0.0, f32::max) / scale
}

/// Some 400 terms, each rounded to 2⁻²⁴, errors of either sign: 20 roundings in the mean, 3e-6
/// allowing for two and a half times that.
const FLOAT32: f32 = 3e-6;

#[test]
fn encodings_of_all_300_items_are_those_of_the_reference() {
    let model = Model::read(&fixture("model.safetensors")).unwrap();
    let raw = bytes("tensors.safetensors");
    let tensors = SafeTensors::deserialize(&raw).unwrap();
    let mut items = 0;
    for line in predictions() {
        let id = line["entity"].as_str().unwrap().to_owned();
        let embeddings = singles(&tensors, &format!("{id}.embedding"));
        let (mean, sigma) = model.vae.encode(&embeddings).unwrap();
        let (mu, sd) = (
            singles(&tensors, &format!("{id}.mu")),
            singles(&tensors, &format!("{id}.sigma")),
        );
        for k in 0..5 {
            let row = k * 64..(k + 1) * 64;
            let gap = difference(&mean[row.clone()], &mu[row.clone()]);
            assert!(gap < FLOAT32, "{id} item {k}: mean off by {gap}");
            let gap = difference(&sigma[row.clone()], &sd[row]);
            assert!(gap < FLOAT32, "{id} item {k}: sigma off by {gap}");
            items += 1;
        }
    }
    assert_eq!(items, 300);
}

fn posteriors(tensors: &SafeTensors<'_>, id: &str) -> Vec<GaussianPosterior> {
    let wide = |name: &str| -> Vec<f64> {
        let narrow = singles(tensors, &format!("{id}.{name}"));
        narrow.into_iter().map(f64::from).collect()
    };
    let (mu, sigma) = (wide("mu"), wide("sigma"));
    let rows = mu.chunks(64).zip(sigma.chunks(64));
    rows.map(|(m, s)| GaussianPosterior::diagonal(m.to_vec(), s.to_vec()).unwrap())
        .collect()
}

/// Largest differences of attention and of the learned prediction over all 60 entities.
fn learned_differences(aggregator: &Aggregator) -> (f64, f64) {
    let model = Model::read(&fixture("model.safetensors")).unwrap();
    let decoder = model.vae.decoder().unwrap();
    let raw = bytes("tensors.safetensors");
    let tensors = SafeTensors::deserialize(&raw).unwrap();
    let (mut attention, mut prediction) = (0.0f64, 0.0f64);
    for line in predictions() {
        let id = line["entity"].as_str().unwrap();
        let items = posteriors(&tensors, id);
        let learned = aggregator
            .predict(&decoder, &items, &mut DecoderWorkspace::default())
            .unwrap();
        let worst = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            let gaps = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            gaps.fold(0.0, f64::max)
        };
        attention = attention.max(worst(&learned.attention, &numbers(&line["attention"])));
        let p = learned.distribution.probabilities();
        prediction = prediction.max(worst(p, &numbers(&line["learned"])));
    }
    (attention, prediction)
}

#[test]
fn attention_and_learned_prediction_of_all_60_entities_are_those_of_the_reference() {
    let aggregator =
        read_aggregator(&fixture("aggregator.safetensors"), &Limits::default()).unwrap();
    assert_eq!(aggregator.shape().consistency, Consistency::Directed);
    let (attention, prediction) = learned_differences(&aggregator);
    // Weights pass four small nets in single precision; scores of magnitude ten have roundings of
    // 10·2⁻²⁴ = 6e-7, a few of which add up in a probability.
    assert!(attention < 1e-5, "{attention}");
    assert!(prediction < 1e-5, "{prediction}");
}

/// Negative control: with the symmetric reading the reference's weights give other answers, so the
/// comparison above does see which one is used.
#[test]
fn the_symmetric_reading_of_the_reference_is_told_apart() {
    let directed = aggregator_from_bytes(&bytes("aggregator.safetensors")).unwrap();
    let mut shape = directed.shape();
    shape.consistency = Consistency::Symmetric;
    let symmetric = Aggregator::from_parameters(shape, directed.parameters().to_vec()).unwrap();
    let (attention, _) = learned_differences(&symmetric);
    assert!(attention > 1e-4, "{attention}");
}

#[test]
fn sizes_are_those_of_the_reference() {
    let model = Model::read(&fixture("model.safetensors")).unwrap();
    assert_eq!(model.vae.shape(), &lpf::learn::VaeShape::default());
    let raw = bytes("model.safetensors");
    let stored: usize = SafeTensors::deserialize(&raw)
        .unwrap()
        .iter()
        .map(|(_, t)| t.shape().iter().product::<usize>())
        .sum();
    assert_eq!(model.vae.parameters().len(), stored);
    let aggregator =
        read_aggregator(&fixture("aggregator.safetensors"), &Limits::default()).unwrap();
    assert_eq!(
        aggregator.parameters().len(),
        AggregatorShape::default().parameter_count()
    );
}

/// Reading and writing a reference model loses nothing.
#[test]
fn a_reference_model_survives_being_written() {
    let model = Model::read(&fixture("model.safetensors")).unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.vae, model.vae);
}

#[test]
fn truncated_reference_files_are_errors() {
    for name in ["model.safetensors", "aggregator.safetensors"] {
        let whole = bytes(name);
        for part in [0, 7, 8, 100, whole.len() / 2, whole.len() - 1] {
            assert!(Model::from_bytes(&whole[..part]).is_err());
            assert!(aggregator_from_bytes(&whole[..part]).is_err());
        }
    }
}
