//! The eight domains of synthetic evidence.

/// A domain: what an entity can be, and how its evidence speaks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its classes.
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

/// A name that is not a domain's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no domain {name:?}; there are {}", DOMAINS.map(|d| d.name).join(", "))]
pub struct UnknownDomain {
    /// The name.
    pub name: String,
}

/// The domains, the default first.
///
/// The paper names them and gives results, not their make. Compliance has the classes, prior,
/// number of items, contradiction and missing rates of the reference implementation's generator;
/// the others are chosen here to differ from it and from each other in every respect: two to four
/// classes, balanced and lopsided priors, three to ten items, clear and noisy evidence.
pub const DOMAINS: [Domain; 8] = [
    Domain {
        name: "compliance",
        classes: &["low", "medium", "high"],
        prior: &[20, 50, 30],
        items: 5,
        noise: 0.35,
        contradiction: 0.05,
        missing: 0.25,
    },
    Domain {
        name: "healthcare",
        classes: &["mild", "moderate", "severe", "critical"],
        prior: &[40, 30, 20, 10],
        items: 6,
        noise: 0.4,
        contradiction: 0.08,
        missing: 0.2,
    },
    Domain {
        name: "finance",
        classes: &["low", "medium", "high"],
        prior: &[60, 30, 10],
        items: 5,
        noise: 0.45,
        contradiction: 0.1,
        missing: 0.1,
    },
    Domain {
        name: "legal",
        classes: &["plaintiff", "settled", "defendant"],
        prior: &[30, 45, 25],
        items: 4,
        noise: 0.5,
        contradiction: 0.15,
        missing: 0.15,
    },
    Domain {
        name: "academic",
        classes: &["reject", "revise", "accept"],
        prior: &[50, 30, 20],
        items: 3,
        noise: 0.4,
        contradiction: 0.12,
        missing: 0.05,
    },
    Domain {
        name: "materials",
        classes: &["fail", "pass"],
        prior: &[15, 85],
        items: 8,
        noise: 0.55,
        contradiction: 0.1,
        missing: 0.3,
    },
    Domain {
        name: "construction",
        classes: &["safe", "delayed", "unsafe"],
        prior: &[1, 1, 1],
        items: 10,
        noise: 0.7,
        contradiction: 0.2,
        missing: 0.4,
    },
    Domain {
        name: "fever",
        classes: &["supports", "refutes", "not-enough-info"],
        prior: &[1, 1, 1],
        items: 5,
        noise: 0.3,
        contradiction: 0.03,
        missing: 0.1,
    },
];

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
