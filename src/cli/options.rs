//! Options that several commands share: how evidence becomes an answer, and threads.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Failure;
use crate::aggregate::Method;
use crate::answer::{Answerer, AnswererBuilder, DEFAULT_SAMPLES};
use crate::log::{DEFAULT_TOLERANCE, Limits};

/// Reads the name of a [`Method`]; the help lists them all.
pub(crate) fn method_parser() -> impl TypedValueParser<Value = Method> {
    let named = Method::ALL.map(|method| PossibleValue::new(method.name()).help(help(method)));
    PossibleValuesParser::new(named).try_map(|name| name.parse::<Method>())
}

/// A method, or none.
pub(crate) type OptionalMethod = Option<Method>;

/// Reads the name of a [`Method`], or `none`.
pub(crate) fn optional_method_parser() -> impl TypedValueParser<Value = OptionalMethod> {
    let named = Method::ALL.map(|method| PossibleValue::new(method.name()).help(help(method)));
    let none = PossibleValue::new("none").help("Another method, which is not checked");
    PossibleValuesParser::new(named.into_iter().chain([none])).try_map(|name| match &*name {
        "none" => Ok(None),
        name => name.parse::<Method>().map(Some),
    })
}

fn help(method: Method) -> &'static str {
    match method {
        Method::Spn => "LPF-SPN: the normalized product of factors raised to their weights",
        Method::Learned => {
            "Attention over the items, learned; needs --model and evidence that is not given as factors"
        }
        Method::PriorCorrected => {
            "The product, corrected for the prior that every factor already contains: calibrated \
             items stay calibrated if they are independent and all weights are 1; needs --prior or \
             --model"
        }
        Method::Uniform => "The plain mean of the factors; weights are not used",
        Method::Vote => {
            "Each item votes for its most probable class, ties are shared; weights are not used"
        }
        Method::Max => "The largest probability for each class, normalized; weights are not used",
    }
}

/// As many threads as are asked for, or one a core.
///
/// # Errors
/// [`Failure::Usage`] for more than the limit, [`Failure::Threads`] where the system gives none.
pub(crate) fn threads(count: Option<u16>, limits: &Limits) -> Result<rayon::ThreadPool, Failure> {
    let within = limits.threads(count.unwrap_or(0).into());
    within.map_err(|error| Failure::Usage(format!("--threads: {error}")))?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(count.map_or(0, usize::from))
        .build()
        .map_err(|error| Failure::Threads(error.to_string()))
}

/// How evidence becomes an answer; the same for every command that answers.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerOptions {
    /// Names of the classes, in the order of the factors; come before a record's own `classes`
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    classes: Option<Vec<String>>,

    /// A trained model, for evidence given as embeddings or posteriors (see `lpf train`)
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// A learned aggregator in a file of its own, for --method learned
    #[arg(long, value_name = "FILE", requires = "model")]
    aggregator: Option<PathBuf>,

    /// Prior of the classes, for --method prior-corrected [default: the model's]
    #[arg(
        long,
        value_name = "P,Q,R",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    prior: Option<Vec<f64>>,

    /// Samples drawn for an item that is given as a posterior; items given as factors need none
    #[arg(long, value_name = "M", default_value_t = DEFAULT_SAMPLES as u32, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,

    /// Seed of all that is drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// How far the probabilities of a factor or prior may be from adding up to 1
    ///
    /// The default allows for float32 rounding and for values printed with six digits. Within the
    /// tolerance, they are divided by their sum; beyond it, the line is refused.
    #[arg(long, value_name = "T", default_value_t = DEFAULT_TOLERANCE, allow_hyphen_values = true)]
    tolerance: f64,
}

impl AnswerOptions {
    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.model, &self.aggregator];
        files.into_iter().filter_map(|file| file.as_deref())
    }

    /// The settings that the options ask for.
    pub(crate) fn builder(&self, method: Method) -> AnswererBuilder {
        let mut builder = Answerer::builder(method)
            .samples(self.samples as usize)
            .seed(self.seed)
            .tolerance(self.tolerance);
        if let Some(names) = &self.classes {
            builder = builder.classes(names);
        }
        if let Some(prior) = &self.prior {
            builder = builder.prior(prior.as_slice());
        }
        if let Some(path) = &self.model {
            builder = builder.model(path.as_path());
        }
        if let Some(path) = &self.aggregator {
            builder = builder.aggregator(path);
        }
        builder
    }
}
