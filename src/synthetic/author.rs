//! The data behind the paper's experiments: made by the author's generator, not by the author's run.
//!
//! `author/README.md` tells how the files came about.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::{EMBEDDING, SyntheticEntity};
use crate::model::{Corpus, Model, ModelError, Split, aggregator_from_bytes};

/// Names of the classes, in the order of their numbers.
pub const AUTHOR_CLASSES: [&str; 3] = ["low", "medium", "high"];

/// The row of the empty text.
pub const EMPTY_TEXT: usize = 0;

/// Why embedded data cannot be used: the program was built from damaged files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("embedded data {file}: {what}")]
pub struct DamagedData {
    /// The file.
    pub file: &'static str,
    /// What is wrong with it.
    pub what: String,
}

fn damaged(file: &'static str, what: impl Into<String>) -> DamagedData {
    let what = what.into();
    DamagedData { file, what }
}

/// What an entity is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// To learn from.
    Training,
    /// To stop by.
    Validation,
    /// To judge by.
    Test,
}

/// An item of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AuthorItem {
    /// Initial of the source: audit report, filing, news, structured.
    pub source: char,
    /// Number of its text; [`EMPTY_TEXT`] for none.
    pub text: usize,
}

/// An entity with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorEntity {
    /// What it is called.
    pub name: String,
    /// Its class, by number.
    pub label: usize,
    /// What it is for.
    pub part: Part,
    /// Its items.
    pub items: Vec<AuthorItem>,
}

impl AuthorEntity {
    /// The texts of its items, without the empty one.
    pub fn texts(&self) -> impl Iterator<Item = usize> {
        let texts = self.items.iter().map(|item| item.text);
        texts.filter(|&text| text != EMPTY_TEXT)
    }

    /// How many different texts its first `count` items have, the empty one included.
    pub fn distinct(&self, count: usize) -> usize {
        let texts = self.items.iter().take(count).map(|item| item.text);
        texts.collect::<HashSet<_>>().len()
    }
}

/// One of the author's sets of entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorData {
    /// The entities, in the order of the file.
    pub entities: Vec<AuthorEntity>,
}

impl AuthorData {
    /// 900 entities with 5 items.
    ///
    /// # Errors
    /// [`DamagedData`], as for the others.
    pub fn main() -> Result<Self, DamagedData> {
        Self::parse("main.txt", include_str!("author/main.txt"))
    }

    /// 300 entities with 20 items.
    ///
    /// # Errors
    /// [`DamagedData`].
    pub fn many() -> Result<Self, DamagedData> {
        Self::parse("many.txt", include_str!("author/many.txt"))
    }

    /// 6,000 entities with 5 items; the first 900 are those of [`AuthorData::main`], split otherwise.
    ///
    /// # Errors
    /// [`DamagedData`].
    pub fn large() -> Result<Self, DamagedData> {
        Self::parse("large.txt", include_str!("author/large.txt"))
    }

    pub(crate) fn parse(file: &'static str, text: &str) -> Result<Self, DamagedData> {
        let lines = text.lines().enumerate();
        let entities = lines.map(|(number, line)| {
            let name = format!("C{:04}", number + 1);
            entity(name, line).ok_or_else(|| damaged(file, format!("line {}", number + 1)))
        });
        let entities = entities.collect::<Result<_, _>>()?;
        Ok(AuthorData { entities })
    }

    /// The entities of a part.
    pub fn part(&self, part: Part) -> impl Iterator<Item = &AuthorEntity> {
        self.entities
            .iter()
            .filter(move |entity| entity.part == part)
    }

    /// The first `count` entities only.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.entities.truncate(count);
        self
    }

    /// Each entity with the first item of each text only: what was repeated is said once.
    #[must_use]
    pub fn merged(mut self) -> Self {
        for entity in &mut self.entities {
            let mut seen = HashSet::new();
            entity.items.retain(|item| seen.insert(item.text));
        }
        self
    }

    /// Without the entities for training and validation that share a text with one for test; the
    /// empty text, which says nothing, may be shared.
    #[must_use]
    pub fn apart(mut self) -> Self {
        let test: HashSet<usize> = self
            .part(Part::Test)
            .flat_map(AuthorEntity::texts)
            .collect();
        let stays =
            |e: &AuthorEntity| e.part == Part::Test || e.texts().all(|t| !test.contains(&t));
        self.entities.retain(stays);
        self
    }

    /// All entities as a model is trained on them, and their split.
    ///
    /// # Errors
    /// [`DamagedData`].
    pub fn corpus(&self) -> Result<(Corpus, Split), DamagedData> {
        let mut corpus = Corpus {
            classes: AUTHOR_CLASSES.map(str::to_owned).to_vec(),
            dimension: EMBEDDING,
            ..Corpus::default()
        };
        let mut parts: [Vec<usize>; 3] = Default::default();
        for (index, entity) in self.entities.iter().enumerate() {
            corpus.push(&entity.evidence()?.embeddings, entity.label);
            parts[entity.part as usize].push(index);
        }
        let [training, validation, test] = parts;
        Ok((corpus, Split::given(&training, &validation, &test)))
    }
}

impl AuthorEntity {
    /// The entity as a record's evidence is made from.
    ///
    /// # Errors
    /// [`DamagedData`].
    pub fn evidence(&self) -> Result<SyntheticEntity, DamagedData> {
        let all = embeddings()?;
        let mut embeddings = Vec::with_capacity(self.items.len() * EMBEDDING);
        for item in &self.items {
            let row = all.get(item.text * EMBEDDING..(item.text + 1) * EMBEDDING);
            let missing = || damaged(EMBEDDINGS, format!("there is no row {}", item.text));
            embeddings.extend_from_slice(row.ok_or_else(missing)?);
        }
        Ok(SyntheticEntity {
            label: self.label,
            embeddings,
        })
    }
}

fn entity(name: String, line: &str) -> Option<AuthorEntity> {
    let mut words = line.split(' ');
    let class = words.next()?;
    let label = AUTHOR_CLASSES.iter().position(|&c| c == class)?;
    let part = match words.next()? {
        "train" => Part::Training,
        "val" => Part::Validation,
        "test" => Part::Test,
        _ => return None,
    };
    let items = words.map(|word| {
        let source = word.chars().next().filter(|c| "afns".contains(*c))?;
        let text = word[1..].parse().ok()?;
        Some(AuthorItem { source, text })
    });
    Some(AuthorEntity {
        name,
        label,
        part,
        items: items.collect::<Option<_>>()?,
    })
}

const EMBEDDINGS: &str = "embeddings.safetensors";

/// The embeddings of all texts, row by row.
fn embeddings() -> Result<&'static [f32], DamagedData> {
    static ROWS: OnceLock<Result<Vec<f32>, DamagedData>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let bytes = include_bytes!("author/embeddings.safetensors");
        let wrong = |error: safetensors::SafeTensorError| damaged(EMBEDDINGS, error.to_string());
        let file = safetensors::SafeTensors::deserialize(bytes).map_err(wrong)?;
        let tensor = file.tensor("embedding").map_err(wrong)?;
        if tensor.dtype() != safetensors::Dtype::F16 || tensor.shape().get(1) != Some(&EMBEDDING) {
            return Err(damaged(EMBEDDINGS, "not rows of half-precision numbers"));
        }
        let numbers = tensor.data().chunks_exact(2);
        Ok(numbers
            .map(|b| half(u16::from_le_bytes([b[0], b[1]])))
            .collect())
    });
    rows.as_deref().map_err(Clone::clone)
}

/// A half-precision number (IEEE 754 binary16), exactly.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 1023);
    match exponent {
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        0 => sign * libm::ldexpf(fraction, -24),
        _ => sign * libm::ldexpf(1024.0 + fraction, exponent - 25),
    }
}

/// The weights that the author's implementation trained on 900 entities of its own generator, with
/// its learned aggregator.
///
/// # Errors
/// [`ModelError`] where the embedded files are damaged.
pub fn author_model() -> Result<Model, ModelError> {
    let mut model = Model::from_bytes(include_bytes!("author/model.safetensors"))?;
    let aggregator = include_bytes!("author/aggregator.safetensors");
    model.aggregator = Some(aggregator_from_bytes(aggregator)?);
    model.classes = Some(AUTHOR_CLASSES.map(str::to_owned).to_vec());
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        // Values from the definition of binary16 in IEEE 754-2019, table 3.5.
        for (bits, value) in [
            (0x0000, 0.0),
            (0x0001, 1.0 / 16_777_216.0),
            (0x03ff, 1023.0 / 16_777_216.0),
            (0x0400, 1.0 / 16_384.0),
            (0x3c00, 1.0),
            (0x3c01, 1.0 + 1.0 / 1024.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan() && half(0x8000).is_sign_negative());
        // Every finite number below the next one.
        for bits in 0..0x7bffu16 {
            assert!(half(bits) < half(bits + 1));
            assert_eq!(half(bits | 0x8000), -half(bits));
        }
    }

    #[test]
    fn the_sets_have_the_sizes_of_the_paper() {
        for (data, entities, items, parts) in [
            (AuthorData::main(), 900, 5, [630, 135, 135]),
            (AuthorData::many(), 300, 20, [210, 45, 45]),
            (AuthorData::large(), 6000, 5, [4200, 900, 900]),
        ] {
            let data = data.unwrap();
            assert_eq!(data.entities.len(), entities);
            assert!(data.entities.iter().all(|e| e.items.len() == items));
            let all = [Part::Training, Part::Validation, Part::Test];
            assert_eq!(all.map(|part| data.part(part).count()), parts);
            let (corpus, split) = data.corpus().unwrap();
            assert_eq!(corpus.labels.len(), entities);
            assert_eq!(split.training().len(), parts[0]);
            assert_eq!(split.test().len(), parts[2]);
            // A sentence encoder gives unit vectors, but for rounding to half precision.
            for row in corpus.embeddings.chunks(EMBEDDING).take(50) {
                let square: f32 = row.iter().map(|x| x * x).sum();
                assert!((square - 1.0).abs() < 2e-3, "{square}");
            }
        }
        let (main, large) = (AuthorData::main().unwrap(), AuthorData::large().unwrap());
        let known = main.entities.iter().zip(&large.entities);
        assert!(
            known
                .clone()
                .all(|(a, b)| a.items == b.items && a.label == b.label)
        );
        assert!(!known.clone().all(|(a, b)| a.part == b.part));
    }

    #[test]
    fn merged_and_apart_do_what_they_say() {
        let merged = AuthorData::main().unwrap().merged();
        for entity in &merged.entities {
            let texts: HashSet<usize> = entity.items.iter().map(|item| item.text).collect();
            assert_eq!(texts.len(), entity.items.len());
        }
        let apart = AuthorData::main().unwrap().apart();
        let texts =
            |part| -> HashSet<usize> { apart.part(part).flat_map(AuthorEntity::texts).collect() };
        let test = texts(Part::Test);
        assert!(texts(Part::Training).is_disjoint(&test));
        assert!(texts(Part::Validation).is_disjoint(&test));
        assert_eq!(apart.part(Part::Test).count(), 135);
        let whole = AuthorData::main().unwrap();
        assert!(
            whole
                .part(Part::Training)
                .any(|e| e.texts().any(|t| test.contains(&t)))
        );
    }

    #[test]
    fn a_damaged_line_is_named() {
        let error = AuthorData::parse("main.txt", "low train a1\nlow train x1").unwrap_err();
        assert_eq!(error.to_string(), "embedded data main.txt: line 2");
        for line in [
            "",
            "none train a1",
            "low later a1",
            "low train a",
            "low train é1",
        ] {
            assert!(
                AuthorData::parse("main.txt", &format!("{line}\n")).is_err(),
                "{line:?}"
            );
        }
    }

    #[test]
    fn the_reference_weights_are_a_complete_model() {
        let model = author_model().unwrap();
        assert_eq!(model.vae.shape().embedding, EMBEDDING);
        assert_eq!(model.vae.shape().classes, AUTHOR_CLASSES.len());
        assert!(model.aggregator.is_some());
    }
}
