//! What experiments have in common: settings, models trained once, and how they are run.

use std::fmt::Display;
use std::sync::OnceLock;

use super::{ExperimentError, Outcome, Published, SAMPLES, Trained};
use crate::synthetic::{DOMAINS, Domain};

/// What an experiment's numbers depend on, apart from its own sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Seed of data, training and trials.
    pub seed: u64,
    /// Trials of each experiment; `None` for the paper's number, or ours where it has none.
    pub trials: Option<usize>,
    /// Entities to train a domain's model on, split by [`Split`](crate::model::Split).
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
            entities: 900,
            epochs: 50,
            truth: 1_000_000,
        }
    }
}

/// Progress callback; `()` ignores it.
pub trait Progress: Sync {
    /// So many more steps are to come.
    fn expect(&self, _steps: u64) {}
    /// One step is done.
    fn step(&self, _what: &str) {}
}

impl Progress for () {}

/// Settings, the paper's numbers, and the models, each trained when it is first asked for.
#[derive(Debug)]
pub struct Lab {
    /// The settings.
    pub settings: Settings,
    /// The paper's numbers, to be put beside ours.
    pub paper: Published,
    models: [OnceLock<Result<Trained, ExperimentError>>; DOMAINS.len()],
}

impl Lab {
    /// A lab in which nothing has been trained yet.
    pub fn new(settings: Settings, paper: Published) -> Self {
        Lab {
            settings,
            paper,
            models: Default::default(),
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
        let model = self.models[at].get_or_init(|| Trained::new(domain, &self.settings));
        model.as_ref().map_err(Clone::clone)
    }

    /// The domain of the paper's seven experiments.
    ///
    /// # Errors
    /// As [`Lab::trained`].
    pub fn compliance(&self) -> Result<&Trained, ExperimentError> {
        self.trained(DOMAINS[0].name)
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
        let common: [(&str, &dyn Display); 4] = [
            ("seed", &self.settings.seed),
            ("training entities", &self.settings.entities),
            ("epochs at most", &self.settings.epochs),
            ("samples of a factor", &SAMPLES),
        ];
        let all = common.iter().chain(own);
        all.map(|(name, value)| (name.to_string(), value.to_string()))
            .collect()
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
    /// An outcome of this experiment, without tables and figures yet.
    pub fn outcome(&self, settings: Vec<(String, String)>, sentence: String) -> Outcome {
        Outcome {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            settings,
            tables: Vec::new(),
            figures: Vec::new(),
            sentence,
        }
    }
}
