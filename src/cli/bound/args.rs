//! What `lpf bound` is asked.

use clap::{Parser, Subcommand, ValueEnum};

/// What a theorem that holds says for your numbers: one line a bound, with the sentence that explains it.
///
/// The names are those of `lpf claims`: t5-prime is T5', which stands in the place of theorem 5. An upper
/// bound is never rounded down, a lower one never up.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:\n  lpf bound t3-prime --n 900 --errors 42\n  \
                  lpf bound t5-prime --weights 1,1,1,1,1 --replaced 2 --delta 0.2 --floor 0.05\n  \
                  lpf bound t6-prime --prior 0.5,0.5 --item 0.75,0.25 --item 0.25,0.75 --error 0.01")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) which: Which,

    /// Output format
    #[arg(long, value_enum, default_value = "text", global = true)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// One JSON array, for programs
    Json,
}

/// `12/40`: 12 hits among 40 points.
fn hits(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(hits, points)| hits.parse().ok().zip(points.parse().ok()));
    numbers.ok_or_else(|| "two whole numbers, such as 12/40".to_owned())
}

#[derive(Debug, Subcommand)]
pub(super) enum Which {
    /// T1': how far the prior-corrected product can be from the posterior
    T1Prime {
        /// Number of items, K
        #[arg(long, value_name = "K")]
        items: u64,
        /// How far the logarithm of a factor may be from the exact one
        #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
        eta: f64,
        /// The same for the prior that is divided out
        #[arg(
            long,
            value_name = "ZETA",
            default_value_t = 0.0,
            allow_hyphen_values = true
        )]
        zeta: f64,
    },
    /// T1'': the true rates of bins that were fixed beforehand; or how near bins of equal size come
    T1Second {
        /// Hits and points of a bin on held-out rows; once for each bin
        #[arg(
            long,
            value_name = "HITS/POINTS",
            value_parser = hits,
            required_unless_present = "rows",
            conflicts_with_all = ["rows", "bins"]
        )]
        bin: Vec<(u64, u64)>,
        /// Held-out rows, to plan bins of equal size
        #[arg(long, value_name = "N", requires = "bins")]
        rows: Option<u64>,
        /// Number of bins of equal size
        #[arg(long, value_name = "B", requires = "rows")]
        bins: Option<u64>,
        #[command(flatten)]
        confidence: Confidence,
    },
    /// T2: how far a factor from M samples can be off, whatever the samples
    T2 {
        #[command(flatten)]
        samples: Samples,
    },
    /// T2': the same from the samples' variance
    T2Prime {
        #[command(flatten)]
        samples: Samples,
        /// The unbiased variance of the samples of a class
        #[arg(long, value_name = "V", allow_hyphen_values = true)]
        variance: f64,
    },
    /// T2'': the betting interval of the mean of the samples themselves
    T2Second {
        /// The samples of a class, between 0 and 1, in the order in which they were drawn
        #[arg(
            long,
            value_name = "X,Y,…",
            value_delimiter = ',',
            required = true,
            allow_hyphen_values = true
        )]
        values: Vec<f64>,
        /// Number of classes for which it is to hold at once
        #[arg(long, value_name = "N", default_value_t = 1)]
        classes: u64,
        #[command(flatten)]
        confidence: Confidence,
    },
    /// T3': the true error rate, from held-out or from training examples
    T3Prime {
        /// Number of examples
        #[arg(long, value_name = "N")]
        n: u64,
        /// Errors on held-out examples
        #[arg(long, value_name = "K", conflicts_with_all = ["loss", "divergence"], required_unless_present = "loss")]
        errors: Option<u64>,
        /// Mean loss of a random model on the training examples, between 0 and 1
        #[arg(
            long,
            value_name = "L",
            requires = "divergence",
            allow_hyphen_values = true
        )]
        loss: Option<f64>,
        /// KL divergence of that distribution over models from one that was fixed before, in nats
        #[arg(long, value_name = "KL", requires = "loss", allow_hyphen_values = true)]
        divergence: Option<f64>,
        #[command(flatten)]
        confidence: Confidence,
    },
    /// T4': the error rate and the log loss that no predictor avoids
    T4Prime {
        /// H(Y|E), the entropy that the evidence leaves, in bits
        #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
        entropy: f64,
        /// Number of classes
        #[arg(long, value_name = "N")]
        classes: u64,
    },
    /// T5': how far replaced items can move the product, and how many may be replaced
    T5Prime {
        /// The weights of all items
        #[arg(
            long,
            value_name = "W,W,…",
            value_delimiter = ',',
            required = true,
            allow_hyphen_values = true
        )]
        weights: Vec<f64>,
        /// How many items are replaced; the heaviest are taken
        #[arg(long, value_name = "M")]
        replaced: usize,
        /// How far each is moved at most, in L1
        #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
        delta: f64,
        /// The smallest entry that a factor can have, before and after
        #[arg(long, value_name = "P", allow_hyphen_values = true)]
        floor: f64,
        /// The lead of the winning class in log score, Σ w·ln Φ(first) − Σ w·ln Φ(second)
        #[arg(long, value_name = "LEAD", allow_hyphen_values = true)]
        margin: Option<f64>,
    },
    /// T6': how many items suffice for an error of the best decision
    T6Prime {
        /// Prior of the classes
        #[arg(
            long,
            value_name = "P,Q,…",
            value_delimiter = ',',
            required = true,
            allow_hyphen_values = true
        )]
        prior: Vec<f64>,
        /// Distribution of one item given a class; once for each class, in their order
        #[arg(
            long,
            value_name = "P,Q,…",
            required = true,
            allow_hyphen_values = true
        )]
        item: Vec<String>,
        /// The error that is wanted
        #[arg(long, value_name = "E", allow_hyphen_values = true)]
        error: f64,
        /// Also the bound for this many items
        #[arg(long, value_name = "K")]
        items: Option<u64>,
    },
    /// E1: what dependent items may cost in calibration
    E1 {
        /// Total correlation of the items given the class, in nats
        #[arg(long, value_name = "TC", conflicts_with_all = ["correlation", "items"], required_unless_present = "correlation", allow_hyphen_values = true)]
        total_correlation: Option<f64>,
        /// For Gaussian items: the correlation of every two of them given the class
        #[arg(
            long,
            value_name = "RHO",
            requires = "items",
            allow_hyphen_values = true
        )]
        correlation: Option<f64>,
        /// For Gaussian items: how many there are
        #[arg(long, value_name = "K", requires = "correlation")]
        items: Option<u64>,
    },
    /// E4: how far sampling can move the whole prediction
    E4 {
        #[command(flatten)]
        samples: Samples,
        /// The weights of all items
        #[arg(
            long,
            value_name = "W,W,…",
            value_delimiter = ',',
            required = true,
            allow_hyphen_values = true
        )]
        weights: Vec<f64>,
        /// The smallest entry that a factor or its estimate can have
        #[arg(long, value_name = "P", allow_hyphen_values = true)]
        floor: f64,
        /// Also the number of samples for this L1 distance
        #[arg(long, value_name = "L1", allow_hyphen_values = true)]
        target: Option<f64>,
    },
    /// E5: the calibration error that an excess of log loss allows
    E5 {
        /// Expected log loss of the predictor, in nats
        #[arg(long, value_name = "L", allow_hyphen_values = true)]
        loss: f64,
        /// H(Y|E) in nats, or a lower bound of it
        #[arg(long, value_name = "H", allow_hyphen_values = true)]
        entropy: f64,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Confidence {
    /// The probability with which the bound may fail
    #[arg(
        long,
        value_name = "DELTA",
        default_value_t = 0.05,
        allow_hyphen_values = true
    )]
    pub(super) delta: f64,
}

#[derive(Debug, clap::Args)]
pub(super) struct Samples {
    /// Number of samples of each factor, M
    #[arg(long, value_name = "M")]
    pub(super) samples: u64,
    /// Number of classes
    #[arg(long, value_name = "N")]
    pub(super) classes: u64,
    #[command(flatten)]
    pub(super) confidence: Confidence,
}
