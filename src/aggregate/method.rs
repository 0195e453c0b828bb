//! The ways of stage 4.

use std::fmt;
use std::str::FromStr;

/// How the factors `Φᵢ` with weights `wᵢ` become one distribution.
///
/// | method | `P(y) ∝` | weights |
/// |---|---|---|
/// | `spn` | `Π Φᵢ(y)^{wᵢ}` | exponents |
/// | `uniform` | `Σ Φᵢ(y)` | not used |
/// | `vote` | number of items whose largest entry is `y` | not used |
/// | `max` | `max Φᵢ(y)` | not used |
/// | `prior-corrected` | `π(y) · Π (Φᵢ(y)/π(y))^{wᵢ}` | exponents |
///
/// The three in the middle are baselines without weights: an item of weight zero counts as any
/// other. In a vote, an item whose largest entry is shared by `t` classes gives each of them `1/t`
/// of its vote, so that no class is preferred for its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// LPF-SPN: the normalized weighted product, exact inference in a sum-product network.
    Spn,
    /// The plain mean of the factors.
    Uniform,
    /// Shares of a majority vote.
    Vote,
    /// The largest entry for each class, normalized.
    Max,
    /// The product corrected for the prior that each factor already contains.
    PriorCorrected,
}

impl Method {
    /// All methods, in the order of the table above.
    pub const ALL: [Method; 5] = [
        Method::Spn,
        Method::Uniform,
        Method::Vote,
        Method::Max,
        Method::PriorCorrected,
    ];

    /// The name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Spn => "spn",
            Method::Uniform => "uniform",
            Method::Vote => "vote",
            Method::Max => "max",
            Method::PriorCorrected => "prior-corrected",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a method's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod;

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Method::ALL.iter().map(|m| m.name()).collect();
        write!(f, "no such method; there are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownMethod {}

impl FromStr for Method {
    type Err = UnknownMethod;
    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Method::ALL.into_iter().find(|m| m.name() == name);
        found.ok_or(UnknownMethod)
    }
}
