//! Options that several commands share: methods and threads.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Failure;
use crate::aggregate::Method;

/// Reads the name of a [`Method`]; the help lists them all.
pub fn method_parser() -> impl TypedValueParser<Value = Method> {
    let named = Method::ALL.map(|method| PossibleValue::new(method.name()).help(help(method)));
    PossibleValuesParser::new(named).try_map(|name| name.parse::<Method>())
}

fn help(method: Method) -> &'static str {
    match method {
        Method::Spn => "LPF-SPN: the normalized product of factors raised to their weights",
        Method::Learned => {
            "Attention over the items, learned; needs --model and evidence that is not given as factors"
        }
        Method::PriorCorrected => {
            "The product, corrected for the prior that every factor already contains; needs --prior \
             or --model"
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
/// [`Failure::Threads`] where the system gives none.
pub fn threads(count: Option<u16>) -> Result<rayon::ThreadPool, Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(count.map_or(0, usize::from))
        .build()
        .map_err(|error| Failure::Threads(error.to_string()))
}
