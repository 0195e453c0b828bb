//! The eight domains of synthetic evidence.

/// A domain: what an entity can be, and how its evidence speaks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Name, as on the command line.
    pub name: &'static str,
    /// Names of the classes.
    pub classes: &'static [&'static str],
    /// How frequent each class is, in parts of `prior_total`.
    pub prior: &'static [u32],
    /// Items of evidence for each entity.
    pub items: usize,
    /// Standard deviation of an item around what it says, along each direction that carries
    /// meaning; the classes lie at distances near √2 from each other.
    pub noise: f64,
    /// How often an item speaks for another class than the entity's.
    pub contradiction: f64,
    /// How often an item has no content at all.
    pub missing: f64,
}

impl Domain {
    /// The probability of each class.
    pub fn prior(&self) -> Vec<f64> {
        let total: u32 = self.prior.iter().sum();
        let share = |&p: &u32| f64::from(p) / f64::from(total);
        self.prior.iter().map(share).collect()
    }

    /// The domain with this name.
    ///
    /// # Errors
    /// [`UnknownDomain`], whose message lists the names there are.
    pub fn named(name: &str) -> Result<&'static Domain, UnknownDomain> {
        let found = DOMAINS.iter().find(|d| d.name == name);
        found.ok_or_else(|| UnknownDomain {
            name: name.to_owned(),
        })
    }
}

/// There is no domain of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no domain {name:?}; there are {}", DOMAINS.map(|d| d.name).join(", "))]
pub struct UnknownDomain {
    /// The name that was asked for.
    pub name: String,
}

/// The domains, the default first.
///
/// The paper names them and gives results, not their make. Compliance has the classes, prior,
/// number of items, contradiction and missing rates of the reference implementation's generator;
/// the others are chosen here to differ from it and from each other in every respect: two to four
/// classes, balanced and lopsided priors, three to ten items, clear and noisy evidence.
#[rustfmt::skip]
pub const DOMAINS: [Domain; 8] = [
    //      name           items noise  contradiction, missing  classes, prior
    domain("compliance",   5,    0.35, [0.05, 0.25], &["low", "medium", "high"], &[20, 50, 30]),
    domain("healthcare",   6,    0.40, [0.08, 0.20], &["mild", "moderate", "severe", "critical"],
                                                     &[40, 30, 20, 10]),
    domain("finance",      5,    0.45, [0.10, 0.10], &["low", "medium", "high"], &[60, 30, 10]),
    domain("legal",        4,    0.50, [0.15, 0.15], &["plaintiff", "settled", "defendant"],
                                                     &[30, 45, 25]),
    domain("academic",     3,    0.40, [0.12, 0.05], &["reject", "revise", "accept"], &[50, 30, 20]),
    domain("materials",    8,    0.55, [0.10, 0.30], &["fail", "pass"], &[15, 85]),
    domain("construction", 10,   0.70, [0.20, 0.40], &["safe", "delayed", "unsafe"], &[1, 1, 1]),
    domain("fever",        5,    0.30, [0.03, 0.10], &["supports", "refutes", "not-enough-info"],
                                                     &[1, 1, 1]),
];

const fn domain(
    name: &'static str,
    items: usize,
    noise: f64,
    [contradiction, missing]: [f64; 2],
    classes: &'static [&'static str],
    prior: &'static [u32],
) -> Domain {
    Domain {
        name,
        classes,
        prior,
        items,
        noise,
        contradiction,
        missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_is_well_formed_and_found_by_name() {
        for domain in &DOMAINS {
            assert_eq!(Domain::named(domain.name), Ok(domain));
            assert_eq!(domain.classes.len(), domain.prior.len());
            assert!(domain.prior.iter().all(|&p| p > 0));
            assert!(crate::simplex::Distribution::new(domain.prior()).is_ok());
            for rate in [domain.contradiction, domain.missing] {
                assert!(rate > 0.0 && rate < 0.5);
            }
        }
        let error = Domain::named("poetry").unwrap_err();
        assert!(error.to_string().contains("fever"));
    }
}
