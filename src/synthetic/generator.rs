//! Synthetic evidence whose Bayes posterior is known exactly.
//!
//! An item of evidence about an entity of class `y` comes about in four steps:
//!
//! 1. With the missing rate it has no content: its embedding is the zero vector, whatever `y`.
//! 2. Otherwise it speaks for a class `a`: for `y`, or, with the contradiction rate, for one of the
//!    other classes, each alike.
//! 3. It does so in one of [`VARIANTS`] ways `t`, each alike: a point `u ~ N(m_{a,t}, noise²·I)` in
//!    the [`MEANING`] dimensions that carry meaning.
//! 4. These are laid into the embedding space along orthonormal directions, and independent noise is
//!    added in all directions orthogonal to them.
//!
//! So `u` can be read back off the embedding by projection, the noise of step 4 says nothing about
//! `y`, and
//!
//! ```text
//! p(e∣y) ∝ Σ_a P(a∣y) · Σ_t exp(−‖u − m_{a,t}‖²/(2·noise²))      (one for all y if missing)
//! ```
//!
//! with a factor that is the same for all `y`. Items are independent given `y`, so the posterior of
//! a whole set is `π(y)·Π p(e_i∣y)`, normalized.

use super::domain::Domain;
use crate::latent::random::{Stream, text_key};
use crate::log::{Evidence, Label, Record};
use crate::math::{ExactSum, ln, log_sum_exp};
use crate::model::Corpus;
use crate::simplex::{Distribution, SimplexError, softmax};

/// Dimension of the embeddings, that of the sentence encoder used with the reference.
pub const EMBEDDING: usize = 384;

/// How many directions of an embedding carry meaning.
const MEANING: usize = 16;

/// In how many ways an item can speak for a class.
const VARIANTS: usize = 3;

/// Length of the part of a centre that tells the ways apart, against one for the class.
const VARIANT_LENGTH: f64 = 0.5;

/// Standard deviation of the noise orthogonal to all meaning: over 368 directions its length is
/// 0.4, less than half that of the meaning.
const BACKGROUND: f64 = 0.02;

/// An entity with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticEntity {
    /// The class, by number.
    pub label: usize,
    /// Embeddings of its items, row by row.
    pub embeddings: Vec<f32>,
}

impl SyntheticEntity {
    /// The record that `lpf generate` writes: items are called `e0`, `e1`, … and have embeddings.
    pub fn record(&self, name: String) -> Record<'static> {
        let items = self.embeddings.chunks(EMBEDDING).enumerate();
        let item = |(i, row): (usize, &[f32])| Evidence {
            id: Some(format!("e{i}").into()),
            embedding: Some(row.iter().map(|&x| f64::from(x)).collect()),
            ..Evidence::default()
        };
        Record {
            entity: name.into(),
            label: Some(Label::Number(self.label as u64)),
            classes: None,
            evidence: items.map(item).collect(),
        }
    }
}

/// Makes entities of a domain, and knows what their evidence is worth.
///
/// ```
/// use lpf::synthetic::{Domain, Generator};
/// let generator = Generator::new(Domain::named("compliance")?);
/// let entity = generator.entity(1, 0);
/// let posterior = generator.posterior(&entity.embeddings)?; // exact, by Bayes' rule
/// assert_eq!(posterior.argmax(), entity.label);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    domain: &'static Domain,
    /// Rows: orthonormal directions of meaning in the embedding space.
    basis: Vec<f64>,
    /// Rows: `m_{a,t}`, ways within classes.
    centres: Vec<f64>,
}

impl Generator {
    /// The generator of a domain. Directions and centres depend on the domain only, so that all
    /// data of a domain speak the same language.
    pub fn new(domain: &'static Domain) -> Self {
        let mut stream = Stream::new(text_key(domain.name), GEOMETRY, 0, 0);
        let basis = orthonormal_rows(&mut stream);
        let mut centres = Vec::with_capacity(domain.classes.len() * VARIANTS * MEANING);
        for _ in domain.classes {
            let class = unit_vector(&mut stream);
            for _ in 0..VARIANTS {
                let way = unit_vector(&mut stream);
                centres.extend(class.iter().zip(way).map(|(c, w)| c + VARIANT_LENGTH * w));
            }
        }
        Generator {
            domain,
            basis,
            centres,
        }
    }

    /// The domain whose entities are made.
    pub fn domain(&self) -> &'static Domain {
        self.domain
    }

    /// What entity number `index` is called in records: the name that its draws depend on.
    pub fn entity_name(&self, index: u64) -> String {
        format!("{}-{index}", self.domain.name)
    }

    /// Entity number `index` of the data with this seed; independent of all other entities.
    pub fn entity(&self, seed: u64, index: u64) -> SyntheticEntity {
        let purpose = text_key(self.domain.name);
        // Item streams are numbered from one; zero belongs to the entity itself.
        let mut stream = Stream::new(seed, purpose, index, 0);
        let label = pick(stream.uniform(), &self.domain.prior());
        let mut embeddings = Vec::with_capacity(self.domain.items * EMBEDDING);
        for item in 0..self.domain.items {
            let mut stream = Stream::new(seed, purpose, index, item as u64 + 1);
            self.item(label, &mut stream, &mut embeddings);
        }
        SyntheticEntity { label, embeddings }
    }

    fn item(&self, label: usize, stream: &mut Stream, out: &mut Vec<f32>) {
        let classes = self.domain.classes.len() as u64;
        if stream.uniform() < self.domain.missing {
            out.resize(out.len() + EMBEDDING, 0.0);
            return;
        }
        let contradicts = stream.uniform() < self.domain.contradiction;
        let shift = if contradicts {
            1 + stream.below(classes - 1)
        } else {
            0
        };
        let says = (label as u64 + shift) % classes;
        let way = stream.below(VARIANTS as u64);
        let centre = &self.centres[(says as usize * VARIANTS + way as usize) * MEANING..];
        let mut meaning = [0.0; MEANING];
        stream.fill_standard_normal(&mut meaning);
        for (u, m) in meaning.iter_mut().zip(centre) {
            *u = m + self.domain.noise * *u;
        }
        let mut embedding = [0.0; EMBEDDING];
        stream.fill_standard_normal(&mut embedding);
        for x in &mut embedding {
            *x *= BACKGROUND;
        }
        // Replace what the background has along the directions of meaning.
        let along = self.project(&embedding);
        for ((direction, u), a) in self.basis.chunks_exact(EMBEDDING).zip(meaning).zip(along) {
            for (x, b) in embedding.iter_mut().zip(direction) {
                *x += (u - a) * b;
            }
        }
        out.extend(embedding.iter().map(|&x| x as f32));
    }

    fn project(&self, embedding: &[f64; EMBEDDING]) -> [f64; MEANING] {
        let mut u = [0.0; MEANING];
        for (u, direction) in u.iter_mut().zip(self.basis.chunks_exact(EMBEDDING)) {
            *u = direction
                .iter()
                .zip(embedding)
                .fold(0.0, |s, (b, x)| s + b * x);
        }
        u
    }

    /// `ln p(e∣y)` of one item for each class, up to a term that is the same for all classes.
    ///
    /// Domain: an embedding of [`EMBEDDING`] finite numbers; missing entries count as zero, further
    /// ones are not looked at.
    pub fn log_likelihoods(&self, embedding: &[f32]) -> Vec<f64> {
        let classes = self.domain.classes.len();
        if embedding.iter().all(|&x| x == 0.0) {
            return vec![0.0; classes];
        }
        let mut wide = [0.0; EMBEDDING];
        for (w, &x) in wide.iter_mut().zip(embedding) {
            *w = f64::from(x);
        }
        let u = self.project(&wide);
        let scale = -0.5 / (self.domain.noise * self.domain.noise);
        let spoken: Vec<f64> = self
            .centres
            .chunks_exact(VARIANTS * MEANING)
            .map(|ways| {
                let mut terms = [0.0; VARIANTS];
                for (term, centre) in terms.iter_mut().zip(ways.chunks_exact(MEANING)) {
                    let distance = u.iter().zip(centre).map(|(u, m)| (u - m) * (u - m));
                    *term = scale * distance.sum::<f64>();
                }
                log_sum_exp(&terms)
            })
            .collect();
        let truthful = ln(1.0 - self.domain.contradiction);
        let contrary = ln(self.domain.contradiction / (classes - 1) as f64);
        (0..classes)
            .map(|y| {
                let terms: Vec<f64> = spoken
                    .iter()
                    .enumerate()
                    .map(|(a, s)| s + if a == y { truthful } else { contrary })
                    .collect();
                log_sum_exp(&terms)
            })
            .collect()
    }

    /// Entities `first..first + count`, to train on.
    pub fn corpus(&self, seed: u64, first: u64, count: u64) -> Corpus {
        let mut corpus = Corpus {
            classes: self.domain.classes.iter().map(|&c| c.to_owned()).collect(),
            dimension: EMBEDDING,
            ..Corpus::default()
        };
        for index in first..first + count {
            let entity = self.entity(seed, index);
            corpus.push(&entity.embeddings, entity.label);
        }
        corpus
    }

    /// `P(y∣e_1, …, e_K)` for rows of embeddings; the prior for none.
    ///
    /// # Errors
    /// [`SimplexError`] when an embedding is so far from everything that its likelihood is not a
    /// number.
    pub fn posterior(&self, embeddings: &[f32]) -> Result<Distribution, SimplexError> {
        let mut sums: Vec<ExactSum> = Vec::new();
        for p in self.domain.prior() {
            sums.push([ln(p)].into_iter().collect());
        }
        for embedding in embeddings.chunks(EMBEDDING) {
            for (sum, l) in sums.iter_mut().zip(self.log_likelihoods(embedding)) {
                sum.add(l);
            }
        }
        let mut scores: Vec<f64> = sums.iter().map(ExactSum::to_f64).collect();
        softmax(&mut scores)?;
        Distribution::from_weights(scores)
    }
}

const GEOMETRY: u64 = text_key("synthetic: directions and centres");

/// The first class whose cumulated probability exceeds `u`; the last one where rounding leaves none.
fn pick(u: f64, probabilities: &[f64]) -> usize {
    let mut left = u;
    for (class, p) in probabilities.iter().enumerate() {
        if left < *p {
            return class;
        }
        left -= p;
    }
    probabilities.len().saturating_sub(1)
}

fn normalized(mut x: Vec<f64>) -> Vec<f64> {
    let length = libm::sqrt(x.iter().fold(0.0, |s, x| s + x * x));
    x.iter_mut().for_each(|x| *x /= length);
    x
}

fn unit_vector(stream: &mut Stream) -> Vec<f64> {
    let mut x = vec![0.0; MEANING];
    stream.fill_standard_normal(&mut x);
    normalized(x)
}

/// Random directions, made orthonormal by Gram and Schmidt, twice for full precision.
fn orthonormal_rows(stream: &mut Stream) -> Vec<f64> {
    let mut rows: Vec<f64> = Vec::with_capacity(MEANING * EMBEDDING);
    for _ in 0..MEANING {
        let mut x = vec![0.0; EMBEDDING];
        stream.fill_standard_normal(&mut x);
        for _ in 0..2 {
            for row in rows.chunks_exact(EMBEDDING) {
                let along = row.iter().zip(&x).fold(0.0, |s, (r, x)| s + r * x);
                for (x, r) in x.iter_mut().zip(row) {
                    *x -= along * r;
                }
            }
            x = normalized(x);
        }
        rows.extend(x);
    }
    rows
}

#[cfg(test)]
mod tests;
