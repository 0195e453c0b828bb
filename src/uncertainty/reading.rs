//! What high and low parts mean: the paper's conclusion, as a function.

use std::fmt;

use super::VarianceParts;

/// What to do about an uncertain answer.
///
/// | epistemic | aleatoric | items | reading |
/// |---|---|---|---|
/// | low | low | any | [`Reading::Settled`] |
/// | low | high | any | [`Reading::GenuineAmbiguity`] |
/// | high | any | `≥` limit | [`Reading::EvidenceConflict`] |
/// | high | low | `<` limit | [`Reading::MoreEvidenceHelps`] |
/// | high | high | `<` limit | [`Reading::Open`] |
///
/// The paper names three of the five; the other two complete the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reading {
    /// Both parts are low.
    Settled,
    /// High epistemic, low aleatoric: more evidence will help.
    MoreEvidenceHelps,
    /// Low epistemic, high aleatoric: the question itself is ambiguous.
    GenuineAmbiguity,
    /// High epistemic although there is much evidence: the items contradict each other.
    EvidenceConflict,
    /// Both parts are high and there is little evidence: more of it will tell which of the others
    /// it is.
    Open,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reading::Settled => "settled",
            Reading::MoreEvidenceHelps => "more evidence will help",
            Reading::GenuineAmbiguity => "genuine ambiguity",
            Reading::EvidenceConflict => "real conflict",
            Reading::Open => "open: both kinds of uncertainty are high",
        })
    }
}

/// From where on a part counts as high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadingThresholds {
    /// Epistemic variance that counts as high (this value included).
    pub epistemic: f64,
    /// Aleatoric variance that counts as high (this value included).
    pub aleatoric: f64,
    /// Number of items from which on a high epistemic part means conflict.
    pub conflict_items: usize,
}

/// Epistemic variances of the paper's table for theorem 7: at `K = 1`, which its text calls low,
/// and at `K = 5`, which it calls high.
const PAPER_LOW: f64 = 0.0341;
const PAPER_HIGH: f64 = 0.1107;

impl Default for ReadingThresholds {
    /// The paper gives no thresholds. For the epistemic part, the middle between the value that
    /// it calls low and the one that it calls high. For the aleatoric part, `2·0.9·0.1 = 0.18`:
    /// the variance of an answer that is wrong one time in ten even when `z` is known. Conflict
    /// from five items on, as in the paper's conclusion.
    fn default() -> Self {
        ReadingThresholds {
            epistemic: (PAPER_LOW + PAPER_HIGH) / 2.0,
            aleatoric: 2.0 * 0.9 * 0.1,
            conflict_items: 5,
        }
    }
}

impl ReadingThresholds {
    /// The reading of an entity with this many items of evidence.
    pub fn read(&self, parts: &VarianceParts, items: usize) -> Reading {
        let epistemic = parts.epistemic >= self.epistemic;
        let aleatoric = parts.aleatoric >= self.aleatoric;
        match (epistemic, aleatoric) {
            (false, false) => Reading::Settled,
            (false, true) => Reading::GenuineAmbiguity,
            (true, _) if items >= self.conflict_items => Reading::EvidenceConflict,
            (true, false) => Reading::MoreEvidenceHelps,
            (true, true) => Reading::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table() {
        let thresholds = ReadingThresholds::default();
        let read = |epistemic: f64, aleatoric: f64, items| {
            let total = epistemic + aleatoric;
            thresholds.read(
                &VarianceParts {
                    total,
                    epistemic,
                    aleatoric,
                },
                items,
            )
        };
        assert_eq!(read(0.01, 0.01, 9), Reading::Settled);
        assert_eq!(read(0.01, 0.4, 9), Reading::GenuineAmbiguity);
        assert_eq!(read(0.2, 0.01, 4), Reading::MoreEvidenceHelps);
        assert_eq!(read(0.2, 0.01, 5), Reading::EvidenceConflict);
        assert_eq!(read(0.2, 0.4, 5), Reading::EvidenceConflict);
        assert_eq!(read(0.2, 0.4, 4), Reading::Open);
        // The rows of the paper's table: K = 1 settled, K = 5 conflict.
        assert_eq!(read(PAPER_LOW, 0.0196, 1), Reading::Settled);
        assert_eq!(read(0.0920, 0.0383, 2), Reading::MoreEvidenceHelps);
        assert_eq!(read(PAPER_HIGH, 0.0425, 5), Reading::EvidenceConflict);
        // A threshold belongs to the high side.
        assert_eq!(
            read(thresholds.epistemic, 0.0, 1),
            Reading::MoreEvidenceHelps
        );
        assert_eq!(
            read(0.0, thresholds.aleatoric, 1),
            Reading::GenuineAmbiguity
        );
    }
}
