//! Which paper this is about.

use serde::Serialize;

/// How a reader finds the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// Its title.
    pub title: &'static str,
    /// Its author.
    pub author: &'static str,
    /// The year of the version that was audited.
    pub year: u16,
    /// Where it is published.
    pub identifier: &'static str,
}

/// The audited paper.
pub const CITATION: Citation = Citation {
    title: "Theoretical Foundations of Latent Posterior Factors: Formal Guarantees for \
            Multi-Evidence Reasoning",
    author: "Aliyu Agboola Alege",
    year: 2026,
    identifier: "arXiv:2603.15674",
};
