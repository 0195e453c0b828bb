//! What experiments have in common: settings, models trained once, and how they are run.

use std::fmt::Display;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::{ExperimentError, Outcome, Published, SAMPLES, TestEntity, Trained};
use crate::synthetic::{AuthorData, AuthorEntity, DOMAINS, Domain, Generator, Part};

use super::trained::Data;

/// What an experiment's numbers depend on, apart from its own sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Seed of data, training and trials.
    pub seed: u64,
    /// Trials of each experiment; `None` for the paper's number, or ours where it has none.
    pub trials: Option<usize>,
    /// Entities to train a model on, split by [`Split`](crate::model::Split); of the author's data at
    /// most as many as there are, split as its generator splits them.
    pub entities: u64,
    /// At most this many epochs of training.
    pub epochs: usize,
    /// Samples behind the factors that T2 takes for the truth.
    pub truth: u64,
}

impl Default for Settings {
    /// 900 entities, split 630/135/135, as behind the reference data.
    fn default() -> Self {
        Settings {
            seed: 1,
            trials: None,
            entities: AUTHOR_ENTITIES,
            epochs: 50,
            truth: 40_000,
        }
    }
}

/// Entities of the author's main set.
pub(super) const AUTHOR_ENTITIES: u64 = 900;

/// Models trained on the author's data, each with another seed: as many as the paper's theorem 3 has.
const SEEDS: usize = 5;

/// Items of an entity where more than five are asked for.
pub(super) const MANY: usize = 20;

/// The paper's domain with as many items as theorem 6 asks for; the first are the same.
static MANY_ITEMS: Domain = Domain {
    items: MANY,
    ..DOMAINS[0]
};

/// Progress callback; `()` ignores it.
pub trait Progress: Sync {
    /// So many more steps are to come.
    fn expect(&self, _steps: u64) {}
    /// One step is done.
    fn step(&self, _what: &str) {}
}

impl Progress for () {}

/// The two columns of our results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What the author's generator makes.
    Author,
    /// A domain of our own whose exact posterior is known.
    Known,
}

/// The author's data as they are, and altered in two ways that show what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// As the generator makes them.
    AsTheyAre,
    /// Each text once an entity.
    Merged,
    /// Nothing for training shares a text with the test part.
    Apart,
}

impl Variant {
    /// All, in the order of tables.
    pub const ALL: [Variant; 3] = [Variant::AsTheyAre, Variant::Merged, Variant::Apart];
}

type Slot = OnceLock<Result<Trained, ExperimentError>>;

fn filled(
    slot: &Slot,
    train: impl FnOnce() -> Result<Trained, ExperimentError>,
) -> Result<&Trained, ExperimentError> {
    slot.get_or_init(train).as_ref().map_err(Clone::clone)
}

/// Settings, the paper's numbers, and the models, each trained when it is first asked for.
#[derive(Debug)]
pub struct Lab {
    /// The settings.
    pub settings: Settings,
    /// The paper's numbers, to be put beside ours.
    pub paper: Published,
    domains: [Slot; DOMAINS.len()],
    author: [Vec<Slot>; Variant::ALL.len()],
    reference: Slot,
}

impl Lab {
    /// A lab in which nothing has been trained yet.
    pub fn new(settings: Settings, paper: Published) -> Self {
        let seeds = settings.trials.unwrap_or(SEEDS).clamp(1, SEEDS);
        let slots = || (0..seeds).map(|_| Slot::new()).collect();
        Lab {
            settings,
            paper,
            domains: Default::default(),
            author: Variant::ALL.map(|_| slots()),
            reference: Slot::new(),
        }
    }

    /// The model of the domain with this name, trained once for all experiments.
    ///
    /// Training does not use threads of its own, so that a thread that waits here waits for one
    /// that works.
    ///
    /// # Errors
    /// [`ExperimentError::Domain`] for an unknown name; whatever training ended with.
    pub fn trained(&self, name: &str) -> Result<&Trained, ExperimentError> {
        let domain = Domain::named(name)?;
        let at = DOMAINS.iter().position(|d| d.name == name).unwrap_or(0);
        filled(&self.domains[at], || Trained::new(domain, &self.settings))
    }

    /// The author's main set, or as much of it as the settings ask for.
    ///
    /// # Errors
    /// [`ExperimentError::Data`].
    pub fn author_data(&self, variant: Variant) -> Result<AuthorData, ExperimentError> {
        let data = AuthorData::main()?.first(self.settings.entities as usize);
        Ok(match variant {
            Variant::AsTheyAre => data,
            Variant::Merged => data.merged(),
            Variant::Apart => data.apart(),
        })
    }

    /// Models trained on the author's data, one for each seed; those that are missing at the same
    /// time.
    ///
    /// # Errors
    /// Whatever training ended with.
    pub fn author(&self, variant: Variant) -> Result<Vec<&Trained>, ExperimentError> {
        let slots = self.author[variant as usize].par_iter().enumerate();
        let models = slots.map(|(number, slot)| {
            filled(slot, || {
                let seed = self.settings.seed.wrapping_add(number as u64);
                Trained::on_author(self.author_data(variant)?, &self.settings, seed)
            })
        });
        models.collect()
    }

    /// The weights of the author's own implementation, on the author's data.
    ///
    /// # Errors
    /// [`ExperimentError::Answerer`].
    pub fn reference(&self) -> Result<&Trained, ExperimentError> {
        filled(&self.reference, || {
            let data = self.author_data(Variant::AsTheyAre)?;
            Trained::with_author_weights(data, self.settings.seed)
        })
    }

    /// One run with these weights: what the author's implementation makes of the author's data.
    ///
    /// # Errors
    /// As [`Lab::reference`].
    pub fn reference_run(&self) -> Result<Run<'_>, ExperimentError> {
        let trained = self.reference()?;
        Ok(Run { trained, trial: 0 })
    }

    /// The runs of one column. On the author's data a run is a model with a seed of its own, judged by
    /// the same entities; where entities can be drawn without end it is `trials` times one model,
    /// judged by fresh ones.
    ///
    /// # Errors
    /// Whatever training ended with.
    pub fn runs(&self, origin: Origin, trials: usize) -> Result<Vec<Run<'_>>, ExperimentError> {
        let trials = self.settings.trials.unwrap_or(trials) as u64;
        let models = match origin {
            Origin::Author => self.author(Variant::AsTheyAre)?,
            Origin::Known => vec![self.trained(DOMAINS[0].name)?; trials as usize],
        };
        let runs = (0..).zip(models);
        Ok(runs
            .map(|(trial, trained)| Run { trained, trial })
            .collect())
    }

    /// How many trials to run where the experiment's own number is `usual`, at least `least`.
    ///
    /// # Errors
    /// [`ExperimentError::Trials`] where fewer were asked for.
    pub fn trials(&self, usual: usize, least: usize) -> Result<usize, ExperimentError> {
        let asked = self.settings.trials.unwrap_or(usual);
        if asked < least {
            return Err(ExperimentError::Trials { asked, least });
        }
        Ok(asked)
    }

    /// What the outcome of an experiment on a trained model depends on: the settings of the lab,
    /// then those of the experiment.
    pub fn described(&self, own: &[(&str, &dyn Display)]) -> Vec<(String, String)> {
        let seeds = self.author[0].len();
        let common: [(&str, &dyn Display); 5] = [
            ("seed", &self.settings.seed),
            ("models on the author's data", &seeds),
            ("training entities", &self.settings.entities),
            ("epochs at most", &self.settings.epochs),
            ("samples of a factor", &SAMPLES),
        ];
        let all = common.iter().chain(own);
        all.map(|(name, value)| (name.to_string(), value.to_string()))
            .collect()
    }
}

/// One run: a model, and which entities to judge it by.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The model.
    pub trained: &'a Trained,
    /// Number of the run.
    pub trial: u64,
}

impl Run<'_> {
    /// The run's test entities: `count`, or as many as there are.
    ///
    /// # Errors
    /// As [`Trained::test`].
    pub fn test(&self, count: u64) -> Result<Vec<TestEntity>, ExperimentError> {
        let first = match self.trained.data {
            Data::Known { .. } => self.trial * count,
            Data::Author(_) => 0,
        };
        self.trained.test(first, count)
    }

    /// Entities with [`MANY`] items. Of the author's set of those, which has no relation to the split
    /// of the main one, such as do not begin with the five items of an entity for training.
    ///
    /// # Errors
    /// As [`Trained::test`].
    pub fn many(&self, count: u64) -> Result<Vec<TestEntity>, ExperimentError> {
        match &self.trained.data {
            Data::Known { .. } => {
                let generator = Generator::new(&MANY_ITEMS);
                self.trained.test_of(&generator, self.trial * count, count)
            }
            Data::Author(main) => {
                let seen = |e: &&AuthorEntity| {
                    main.part(Part::Training)
                        .any(|known| e.items.starts_with(&known.items))
                };
                let many = AuthorData::many()?;
                let fresh = many.entities.iter().filter(|e| !seen(e));
                self.trained.author_entities(fresh.take(count as usize))
            }
        }
    }

    /// Entities to take replacements from: of the author's data the validation part, otherwise fresh
    /// ones behind `reserved`.
    ///
    /// # Errors
    /// As [`Trained::test`].
    pub fn others(&self, reserved: u64, count: u64) -> Result<Vec<TestEntity>, ExperimentError> {
        match &self.trained.data {
            Data::Known { .. } => self.trained.test(reserved + self.trial * count, count),
            Data::Author(data) => {
                let part = data.part(Part::Validation).take(count as usize);
                self.trained.author_entities(part)
            }
        }
    }
}

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line: `T1` … `T7`, `assumptions`, `domains`.
    pub id: &'static str,
    /// What it measures.
    pub title: &'static str,
    /// The ids of the claims that it speaks of.
    pub claims: &'static [&'static str],
    /// Runs it: the same bits for the same settings, whatever the machine and its threads.
    pub run: fn(&Lab, &dyn Progress) -> Result<Outcome, ExperimentError>,
}

impl Experiment {
    /// An outcome of this experiment, without tables, figures and statements yet.
    pub fn outcome(&self, settings: Vec<(String, String)>, sentence: String) -> Outcome {
        Outcome {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            settings,
            tables: Vec::new(),
            figures: Vec::new(),
            sentence,
            statements: Vec::new(),
        }
    }
}
