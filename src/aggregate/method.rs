//! The methods of stage 4.

use std::fmt;
use std::str::FromStr;

/// How the items of an entity become one distribution.
///
/// Every method but `learned` combines the factors `Φᵢ` with weights `wᵢ`:
///
/// | method | `P(y) ∝` | weights | needs |
/// |---|---|---|---|
/// | `spn` | `Π Φᵢ(y)^{wᵢ}` | exponents | |
/// | `learned` | the decoder's answer at an attention-weighted mean of the posteriors | learned | a model with an aggregator |
/// | `prior-corrected` | `π(y) · Π (Φᵢ(y)/π(y))^{wᵢ}` | exponents | a prior `π` |
/// | `uniform` | `Σ Φᵢ(y)` | not used | |
/// | `vote` | number of items whose largest entry is `y` | not used | |
/// | `max` | `max Φᵢ(y)` | not used | |
///
/// Only with weights of one is the prior-corrected product the posterior where the factors are
/// posteriors (T1′); smaller weights pull it towards the prior. That is why an item without a weight
/// of its own weighs one there, while the other methods take a model's confidence in it
/// ([`Method::weighs_by_confidence`]). The last three are baselines without weights: an item of
/// weight zero counts as any other. In a vote, an item whose largest entry is shared by `t` classes
/// gives each of them `1/t` of its vote, so that no class is preferred for its position.
///
/// ```
/// use lpf::aggregate::Method;
/// let method: Method = "prior-corrected".parse()?;
/// assert_eq!(method, Method::PriorCorrected);
/// assert_eq!(method.to_string(), "prior-corrected");
/// # Ok::<(), lpf::aggregate::UnknownMethod>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// LPF-SPN: the normalized weighted product, exact inference in a sum-product network.
    Spn,
    /// LPF-Learned: attention over the posteriors of the items.
    Learned,
    /// The product corrected for the prior that each factor already contains.
    PriorCorrected,
    /// The plain mean of the factors.
    Uniform,
    /// Shares of a majority vote.
    Vote,
    /// The largest entry for each class, normalized.
    Max,
}

impl Method {
    /// All methods, in the order of the table above.
    pub const ALL: [Method; 6] = [
        Method::Spn,
        Method::Learned,
        Method::PriorCorrected,
        Method::Uniform,
        Method::Vote,
        Method::Max,
    ];

    /// The methods that combine factors, for which [`aggregate`](super::aggregate()) suffices: all
    /// but [`Method::Learned`].
    pub const OF_FACTORS: [Method; 5] = [
        Method::Spn,
        Method::PriorCorrected,
        Method::Uniform,
        Method::Vote,
        Method::Max,
    ];

    /// Whether a model's confidence in an item is its weight where the record gives none; if not, the
    /// item weighs one.
    #[must_use]
    pub const fn weighs_by_confidence(self) -> bool {
        !matches!(self, Method::PriorCorrected)
    }

    /// The name on the command line and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Spn => "spn",
            Method::Learned => "learned",
            Method::PriorCorrected => "prior-corrected",
            Method::Uniform => "uniform",
            Method::Vote => "vote",
            Method::Max => "max",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a method's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown method; choose one of {}", Method::ALL.map(Method::name).join(", "))]
pub struct UnknownMethod;

impl FromStr for Method {
    type Err = UnknownMethod;
    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Method::ALL.into_iter().find(|m| m.name() == name);
        found.ok_or(UnknownMethod)
    }
}
