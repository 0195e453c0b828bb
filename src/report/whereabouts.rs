//! Where the evidence for a claim is in this repository.

/// Files for one theorem, lemma or assumption, relative to the top of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// The bound as the paper states it, with its counterexample where it fails.
    pub bound: &'static [&'static str],
    /// What holds instead: its name and file.
    pub instead: &'static [(&'static str, &'static str)],
    /// Proof harnesses.
    pub proofs: &'static [&'static str],
    /// Statistical and algebraic properties.
    pub properties: &'static [&'static str],
}

const NOTHING: Whereabouts = Whereabouts {
    bound: &[],
    instead: &[],
    proofs: &[],
    properties: &[],
};

/// The evidence for the theorem, lemma or assumption that a claim's id begins with.
pub fn whereabouts(id: &str) -> Whereabouts {
    let root = id.split('.').next().unwrap_or(id);
    match root {
        "T1" => Whereabouts {
            bound: &[
                "src/bounds/calibration_preservation.rs",
                "src/bounds/kish.rs",
                "src/bounds/kish_half.rs",
            ],
            instead: &[
                (
                    "T1′, the prior-corrected product",
                    "src/bounds/prior_corrected.rs",
                ),
                (
                    "T1″, histogram binning on held-out data",
                    "src/bounds/histogram_binning.rs",
                ),
            ],
            proofs: &["proofs/kish.rs"],
            properties: &["properties/theorem_1.rs", "properties/histogram_binning.rs"],
        },
        "T2" => Whereabouts {
            bound: &["src/bounds/hoeffding.rs"],
            instead: &[(
                "T2′, empirical Bernstein",
                "src/bounds/empirical_bernstein.rs",
            )],
            properties: &["properties/theorem_2.rs"],
            ..NOTHING
        },
        "T3" => Whereabouts {
            bound: &["src/bounds/generalization.rs"],
            instead: &[
                ("T3′, a test-set bound", "src/bounds/binomial.rs"),
                ("T3′, PAC-Bayes-kl", "src/bounds/pac_bayes.rs"),
            ],
            properties: &["properties/theorem_3.rs"],
            ..NOTHING
        },
        "T4" => Whereabouts {
            bound: &["src/bounds/calibration_floor.rs"],
            instead: &[(
                "T4′, the floor of the log loss, and Fano",
                "src/bounds/log_loss.rs",
            )],
            properties: &["properties/theorem_4.rs"],
            ..NOTHING
        },
        "T5" => Whereabouts {
            bound: &["src/bounds/corruption.rs"],
            instead: &[("T5′, L1 ≤ 2 tanh(R/4)", "src/bounds/robustness.rs")],
            properties: &["properties/theorem_5.rs"],
            ..NOTHING
        },
        "T6" => Whereabouts {
            bound: &["src/bounds/sample_complexity.rs"],
            instead: &[("T6′, Chernoff information", "src/bounds/chernoff.rs")],
            properties: &["properties/theorem_6.rs"],
            ..NOTHING
        },
        "T7" => Whereabouts {
            bound: &["src/uncertainty/variance.rs"],
            proofs: &["proofs/decomposition.rs"],
            properties: &["properties/theorem_7.rs"],
            ..NOTHING
        },
        "L1" => Whereabouts {
            bound: &["src/latent/factor.rs"],
            properties: &["properties/lemma_1.rs"],
            ..NOTHING
        },
        "L2" => Whereabouts {
            bound: &["src/bounds/hoeffding.rs"],
            properties: &["properties/lemma_2.rs"],
            ..NOTHING
        },
        "L3" => Whereabouts {
            bound: &["src/simplex/pool.rs", "src/simplex/normalize.rs"],
            proofs: &["proofs/closure.rs", "proofs/normalization.rs"],
            properties: &["properties/lemma_3.rs", "properties/networks.rs"],
            ..NOTHING
        },
        "L4" => Whereabouts {
            bound: &["src/bounds/weighted_concentration.rs"],
            proofs: &["proofs/kish.rs"],
            properties: &["properties/lemma_4.rs"],
            ..NOTHING
        },
        "L5" => Whereabouts {
            bound: &["src/bounds/calibration_floor.rs"],
            instead: &[("T4′, the floor of the log loss", "src/bounds/log_loss.rs")],
            properties: &["properties/lemma_5.rs"],
            ..NOTHING
        },
        "L6" => Whereabouts {
            bound: &["src/bounds/stability.rs"],
            properties: &["properties/lemma_6.rs"],
            ..NOTHING
        },
        "L7" => Whereabouts {
            bound: &["src/bounds/generalization.rs"],
            instead: &[("T3′, PAC-Bayes-kl", "src/bounds/pac_bayes.rs")],
            properties: &["properties/lemma_7.rs"],
            ..NOTHING
        },
        "A4" => Whereabouts {
            bound: &["src/spn/validity.rs"],
            proofs: &["proofs/spn_validity.rs", "proofs/spn_semantics.rs"],
            properties: &["properties/networks.rs"],
            ..NOTHING
        },
        _ => NOTHING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_named_exists() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR"));
        let roots = (1..=7).flat_map(|n| [format!("T{n}"), format!("L{n}"), format!("A{n}")]);
        let mut files = 0;
        for root in roots {
            let w = whereabouts(&root);
            let instead = w.instead.iter().map(|(_, file)| file);
            for file in w
                .bound
                .iter()
                .chain(instead)
                .chain(w.proofs)
                .chain(w.properties)
            {
                assert!(top.join(file).is_file(), "{root}: {file}");
                files += 1;
            }
        }
        assert!(files > 30);
        assert_eq!(whereabouts("T5.bounds"), whereabouts("T5"));
    }
}
