//! What is counted: small calls of every kernel that the commands spend their time in.
//!
//! Each makes its inputs anew from a fixed seed, runs once unobserved, so that tables and look-ups of the
//! processor's abilities are there, and is then counted.

use std::hint::black_box;
use std::ops::ControlFlow;

use crate::aggregate::{Accumulator, Method, leave_one_out};
use crate::calibration::{Evaluation, Reliability, RowScores, ScoredRow};
use crate::latent::decoder::DenseLayer;
use crate::latent::random::Stream;
use crate::latent::{
    Confidence, DecoderWorkspace, FACTOR_PURPOSE, FactorWorkspace, GaussianPosterior, MlpDecoder,
    monte_carlo_factors,
};
use crate::learn::{
    Aggregator, AggregatorShape, Epoch, Labelled, TrainSettings, VaeShape, train_vae,
};
use crate::log::{
    ClassNames, Entity, Expectations, Format, Kind, LogBatch, LogReader, Record, Tolerance,
};
use crate::simplex::{Distribution, log_pool};
use crate::spn::{Builder, Compiled, Evidence, Network, NodeId, Workspace};

/// A call to be counted.
pub type Kernel = Box<dyn FnMut() + Send>;

/// A name, and what makes the call.
type Named = (&'static str, fn() -> Kernel);

/// Every kernel, in the order of the counts.
pub const KERNELS: &[Named] = &[
    ("product K=5", || product(5)),
    ("product K=100", || product(100)),
    ("leave-one-out K=5", || without_each(5)),
    ("leave-one-out K=100", || without_each(100)),
    ("grid, evaluate", || evaluate(grid(32))),
    ("grid, marginals", || marginals(grid(32))),
    ("grid, nothing seen", || marginals_of_nothing(grid(32))),
    ("mixture, evaluate", || evaluate(mixture(1000))),
    ("mixture, marginals", || marginals(mixture(1000))),
    ("mixture, nothing seen", || {
        marginals_of_nothing(mixture(1000))
    }),
    ("query K=5 M=16 d=64", query),
    ("learned query K=5 d=64", || learned(5)),
    ("ECE of 10^5", calibration_error),
    ("training, one epoch of 256", training),
    ("CSV, 1000 rows", || rows(Kind::Csv)),
    ("JSON lines, 1000 rows", || rows(Kind::JsonLines)),
    ("records with factors, 100", || records(100)),
    ("scores, 1000 rows", || scores(1000)),
];

pub const CLASSES: usize = 3;

/// Doubles in (0, 1), the same for ever.
fn units(purpose: u64) -> impl FnMut() -> f64 {
    let mut stream = Stream::new(7, purpose, 0, 0);
    move || (stream.standard_normal().abs() + 1e-3) / 8.0
}

pub fn evidence(items: usize) -> (Vec<Distribution>, Vec<f64>) {
    evidence_over(items, CLASSES)
}

pub fn evidence_over(items: usize, classes: usize) -> (Vec<Distribution>, Vec<f64>) {
    let mut unit = units(1);
    (0..items)
        .map(|_| {
            let weights = (0..classes).map(|_| unit()).collect();
            (Distribution::from_weights(weights).unwrap(), unit())
        })
        .unzip()
}

fn product(items: usize) -> Kernel {
    let (factors, weights) = evidence(items);
    Box::new(move || {
        let mut all = Accumulator::new(Method::Spn, CLASSES, None).unwrap();
        all.add_all(black_box(&factors), &weights).unwrap();
        black_box(all.distribution().unwrap());
    })
}

fn without_each(items: usize) -> Kernel {
    let (factors, weights) = evidence(items);
    Box::new(move || {
        black_box(leave_one_out(Method::Spn, black_box(&factors), &weights, None).unwrap());
    })
}

/// Pairs of blocks of 16 nodes, multiplied node by node and mixed again.
pub fn grid(variables: usize) -> Network {
    const WIDTH: usize = 16;
    let mut unit = units(2);
    let mut builder = Builder::new(&vec![4; variables]).unwrap();
    let mut blocks: Vec<Vec<NodeId>> = (0..variables)
        .map(|v| {
            let leaf = |_| builder.leaf(v, &[unit(), unit(), unit(), unit()]).unwrap();
            (0..WIDTH).map(leaf).collect()
        })
        .collect();
    while blocks.len() > 1 {
        let merged = blocks.chunks(2).map(|pair| {
            let products: Vec<NodeId> = (0..WIDTH)
                .map(|i| builder.product(&[pair[0][i], pair[1][i]]).unwrap())
                .collect();
            let sum = |i: usize| {
                let terms: Vec<(NodeId, f64)> = (0..4)
                    .map(|t| (products[(i + t * 3) % WIDTH], unit()))
                    .collect();
                builder.sum(&terms).unwrap()
            };
            (0..WIDTH).map(sum).collect()
        });
        blocks = merged.collect();
    }
    let top: Vec<(NodeId, f64)> = blocks[0].iter().map(|&node| (node, 1.0)).collect();
    let root = builder.sum(&top).unwrap();
    builder.build(root).unwrap()
}

/// A sum over three classes of products over one leaf an item: the shape of LPF-SPN.
pub fn mixture(items: usize) -> Network {
    let mut unit = units(3);
    let mut cardinalities = vec![2; items];
    cardinalities.push(CLASSES);
    let mut builder = Builder::new(&cardinalities).unwrap();
    let classes: Vec<(NodeId, f64)> = (0..CLASSES)
        .map(|class| {
            let mut children = vec![builder.indicator(items, class).unwrap()];
            for item in 0..items {
                children.push(builder.leaf(item, &[unit(), unit()]).unwrap());
            }
            (builder.product(&children).unwrap(), 1.0)
        })
        .collect();
    let root = builder.sum(&classes).unwrap();
    builder.build(root).unwrap()
}

/// All variables but the last are seen.
pub fn seen(network: &Network) -> Evidence {
    let mut evidence = Evidence::none(network);
    for variable in 0..network.variables() - 1 {
        evidence.observe(variable, variable % 2).unwrap();
    }
    evidence
}

pub fn evaluate(network: Network) -> Kernel {
    let evidence = seen(&network);
    let (compiled, mut workspace) = (Compiled::new(network), Workspace::new());
    Box::new(move || {
        let value = compiled.log_value(black_box(&evidence), &mut workspace);
        black_box(value.unwrap());
    })
}

pub fn marginals(network: Network) -> Kernel {
    let evidence = seen(&network);
    marginals_given(network, evidence)
}

/// Nothing can be passed over.
pub fn marginals_of_nothing(network: Network) -> Kernel {
    let evidence = Evidence::none(&network);
    marginals_given(network, evidence)
}

fn marginals_given(network: Network, evidence: Evidence) -> Kernel {
    let (compiled, mut workspace) = (Compiled::new(network), Workspace::new());
    Box::new(move || {
        let marginals = compiled.marginals(black_box(&evidence), &mut workspace);
        black_box(marginals.unwrap().probabilities(0)[0]);
    })
}

/// The dimension of the latent space, and of what the decoder takes beside it.
const LATENT: usize = 64;
const CONTEXT: usize = 32;

/// The reference's decoder.
pub fn decoder() -> MlpDecoder {
    let mut stream = Stream::new(0, 1, 0, 0);
    let mut singles = |n: usize, scale: f64| -> Vec<f32> {
        let draws = (0..n).map(|_| (stream.standard_normal() * scale) as f32);
        draws.collect()
    };
    let mut layer = |inputs: usize, outputs: usize| {
        let weights = singles(inputs * outputs, 1.0 / (inputs as f64).sqrt());
        DenseLayer::new(inputs, outputs, &weights, singles(outputs, 0.1)).unwrap()
    };
    let layers = vec![layer(LATENT + CONTEXT, 128), layer(128, 64), layer(64, 3)];
    MlpDecoder::new(layers, &[0.1; CONTEXT]).unwrap()
}

fn posteriors(items: usize) -> Vec<GaussianPosterior> {
    let mut stream = Stream::new(0, 0, 0, 0);
    let mut draws = || -> Vec<f64> { (0..LATENT).map(|_| stream.standard_normal()).collect() };
    (0..items)
        .map(|_| {
            let sigma = draws().iter().map(|x| x.abs() + 0.1).collect();
            GaussianPosterior::diagonal(draws(), sigma).unwrap()
        })
        .collect()
}

/// Five posteriors, sixteen samples each, decoded by the reference's network, weighed and multiplied.
pub fn query() -> Kernel {
    let (posteriors, decoder) = (posteriors(5), decoder());
    let mut workspace = FactorWorkspace::default();
    Box::new(move || {
        let items: Vec<&GaussianPosterior> = black_box(&posteriors).iter().collect();
        let stream = |item| Stream::new(1, FACTOR_PURPOSE, 2, item as u64);
        let drawn = monte_carlo_factors(&items, &decoder, 16, stream, &mut workspace).unwrap();
        let factors: Vec<Distribution> = drawn.into_iter().map(|f| f.distribution).collect();
        let weight = |posterior| Confidence::Reference.weight(posterior);
        let weights: Vec<f64> = posteriors.iter().map(weight).collect();
        black_box(log_pool(&factors, &weights).unwrap());
    })
}

/// Posteriors weighed by what a learned aggregator makes of them and of every pair, averaged and decoded.
pub fn learned(items: usize) -> Kernel {
    let (posteriors, decoder) = (posteriors(items), decoder());
    let aggregator = Aggregator::new(AggregatorShape::default(), 1);
    let mut workspace = DecoderWorkspace::default();
    Box::new(move || {
        let answer = aggregator.predict(&decoder, black_box(&posteriors), &mut workspace);
        black_box(answer.unwrap());
    })
}

/// Confidences of a three-class model and whether it was right, which it is that often.
pub fn predictions(rows: usize) -> (Vec<f64>, Vec<bool>) {
    let mut bits = 1u64;
    let mut unit = || {
        // Marsaglia's xorshift: fast, and random enough for the times of bins.
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 11) as f64 / (1u64 << 53) as f64
    };
    let row = |_| {
        let confidence = 1.0 - unit() * 2.0 / 3.0;
        (confidence, unit() < confidence)
    };
    (0..rows).map(row).unzip()
}

fn calibration_error() -> Kernel {
    let (confidences, correct) = predictions(100_000);
    Box::new(move || {
        let bins = Reliability::of(black_box(&confidences), black_box(&correct), 15);
        black_box(bins.and_then(|bins| bins.ece()).unwrap());
    })
}

fn training() -> Kernel {
    let shape = VaeShape::default();
    let mut unit = units(5);
    let inputs: Vec<f32> = (0..256 * shape.embedding).map(|_| unit() as f32).collect();
    let labels: Vec<usize> = (0..256).map(|i| i % shape.classes).collect();
    let settings = TrainSettings {
        epochs: 1,
        ..TrainSettings::default()
    };
    Box::new(move || {
        let data = Labelled {
            inputs: black_box(&inputs),
            labels: &labels,
        };
        let few = Labelled {
            inputs: &inputs[..16 * shape.embedding],
            labels: &labels[..16],
        };
        let observe = |_: &Epoch<'_>| ControlFlow::Continue(());
        black_box(train_vae(shape.clone(), data, few, &settings, observe).unwrap());
    })
}

fn rows(kind: Kind) -> Kernel {
    let mut unit = units(6);
    let mut text = String::new();
    if kind == Kind::Csv {
        text.push_str("label,prob_0,prob_1,prob_2\n");
    }
    for row in 0..1000 {
        let weights = (0..CLASSES).map(|_| unit()).collect();
        let p = Distribution::from_weights(weights).unwrap();
        let p: Vec<String> = p
            .probabilities()
            .iter()
            .map(|p| format!("{p:.9}"))
            .collect();
        let (label, p) = (row % CLASSES, p.join(","));
        if kind == Kind::Csv {
            text.push_str(&format!("{label},{p}\n"));
        } else {
            text.push_str(&format!("{{\"label\":{label},\"probs\":[{p}]}}\n"));
        }
    }
    // Digests are not counted: processors have instructions for them that Valgrind does not.
    let mut log = LogReader::new(text.as_bytes(), &Format::of(kind)).unwrap();
    let mut batch = LogBatch::default();
    log.fill(&mut batch).unwrap();
    let classes = ClassNames::Numbered(CLASSES);
    let mut numbers = Vec::new();
    Box::new(move || {
        let rules = batch.rules(&classes, Tolerance::default(), false);
        let mut plain = batch.plain(0..batch.len(), rules).unwrap();
        let mut read = 0;
        for row in 0..batch.len() {
            numbers.clear();
            read += usize::from(plain.read(row, &mut numbers).is_some());
        }
        assert_eq!(read, 1000);
    })
}

/// Predictions scored and added up, as audits do it a thousand at a time.
fn scores(rows: usize) -> Kernel {
    let mut unit = units(8);
    let mut p = Vec::new();
    for _ in 0..rows {
        let weights = (0..CLASSES).map(|_| unit()).collect();
        p.extend_from_slice(Distribution::from_weights(weights).unwrap().probabilities());
    }
    let row = |row: usize| ScoredRow {
        named: row % CLASSES,
        label: row % 2,
        scores: RowScores::default(),
    };
    let mut scored: Vec<ScoredRow> = (0..rows).map(row).collect();
    let mut all = Evaluation::new(CLASSES, 15).unwrap();
    Box::new(move || {
        RowScores::fill(&mut scored, black_box(&p), CLASSES);
        all.add_rows(&p, &scored).unwrap();
        black_box(&all);
    })
}

/// Lines of records of five items each.
pub fn lines(count: usize) -> Vec<String> {
    let mut unit = units(7);
    let mut item = || {
        let weights = (0..CLASSES).map(|_| unit()).collect();
        let p = Distribution::from_weights(weights).unwrap();
        format!(
            "{{\"weight\":{},\"factor\":{:?}}}",
            unit(),
            p.probabilities()
        )
    };
    (0..count)
        .map(|entity| {
            let items: Vec<String> = (0..5).map(|_| item()).collect();
            let items = items.join(",");
            format!("{{\"entity\":\"e{entity}\",\"label\":1,\"evidence\":[{items}]}}")
        })
        .collect()
}

pub fn records(count: usize) -> Kernel {
    let lines = lines(count);
    Box::new(move || {
        for line in black_box(&lines) {
            let record = Record::parse(line.as_bytes()).unwrap();
            black_box(Entity::new(record, &Expectations::default()).unwrap());
        }
    })
}
