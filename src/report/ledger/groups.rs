//! Which claims belong together, and what a reader is told of a theorem first.

use crate::ledger::VerdictKind;
use crate::ledger::claims::Judged;

/// A theorem with its claims, or another part of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// What the ids begin with, such as `T5`.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
}

/// In the order in which they are shown.
const GROUPS: &[Group] = &[
    Group {
        id: "T1",
        title: "Theorem 1: calibration of the aggregate",
    },
    Group {
        id: "T2",
        title: "Theorem 2: error of a Monte Carlo factor",
    },
    Group {
        id: "T3",
        title: "Theorem 3: generalization of learned aggregation",
    },
    Group {
        id: "T4",
        title: "Theorem 4: a floor for the calibration error",
    },
    Group {
        id: "T5",
        title: "Theorem 5: robustness to replaced evidence",
    },
    Group {
        id: "T6",
        title: "Theorem 6: how many items are enough",
    },
    Group {
        id: "T7",
        title: "Theorem 7: two kinds of uncertainty",
    },
    Group {
        id: "L",
        title: "Lemmas",
    },
    Group {
        id: "A",
        title: "Assumptions",
    },
    Group {
        id: "X",
        title: "Comparisons across experiments",
    },
    Group {
        id: "S",
        title: "Structure of the argument",
    },
    Group {
        id: "E",
        title: "Further theorems",
    },
    REST,
];

const REST: Group = Group {
    id: "other",
    title: "This implementation, and what else there is",
};

/// The group of a claim: `T5` for `T5`, `T5'` and `T5.bounds`, `L` for all lemmas.
pub fn group(id: &str) -> Group {
    let root = id.split('.').next().unwrap_or(id).trim_end_matches('\'');
    let letter = root.trim_end_matches(|c: char| c.is_ascii_digit());
    let named = |name: &str| GROUPS.iter().find(|group| group.id == name);
    named(root)
        .or_else(|| named(letter))
        .copied()
        .unwrap_or(REST)
}

/// The claims of each group that has some; their order stays, and the group's own claim is first.
pub fn grouped<'a>(judged: &[&'a Judged]) -> Vec<(Group, Vec<&'a Judged>)> {
    let of = |wanted: &Group| {
        let mut own: Vec<&Judged> = judged.to_vec();
        own.retain(|entry| group(&entry.claim.id) == *wanted);
        own
    };
    let all = GROUPS.iter().map(|wanted| (*wanted, of(wanted)));
    all.filter(|(_, own)| !own.is_empty()).collect()
}

/// Why each theorem stands or falls, in a sentence without numbers, written for the verdict named;
/// a test holds that it is still that one.
pub(super) const REASONS: [(&str, VerdictKind, &str); 7] = [
    (
        "T1",
        VerdictKind::Refuted,
        "Every factor contains the prior, and the product counts it once for each item: it grows \
         ever surer without being right more often.",
    ),
    (
        "T2",
        VerdictKind::Proved,
        "A factor is a mean of independent samples between 0 and 1; such means keep to \
         Hoeffding's inequality.",
    ),
    (
        "T3",
        VerdictKind::Refuted,
        "A learner that memorizes its examples has no training loss, so the bound all but \
         vanishes; its loss on new examples does not.",
    ),
    (
        "T4",
        VerdictKind::Refuted,
        "Little information does not spoil calibration: an answer that is as unsure as it should \
         be has no calibration error at all.",
    ),
    (
        "T5",
        VerdictKind::Refuted,
        "Shifts in the same direction add up: the answer moves in proportion to the number of \
         replaced items, and the claimed √K falls behind.",
    ),
    (
        "T6",
        VerdictKind::Refuted,
        "It rests on theorem 1: items that say nothing make the product surer, however many are \
         asked for.",
    ),
    (
        "T7",
        VerdictKind::DependsOnReading,
        "For the mixture of decoded samples the two variances add up exactly; the aleatoric one \
         stays the same on average over entities, not for each.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::PINNED;

    #[test]
    fn claims_find_their_group() {
        for (id, want) in [
            ("T5", "T5"),
            ("T5'", "T5"),
            ("T1''", "T1"),
            ("T5.bounds", "T5"),
            ("L7", "L"),
            ("L2.printed", "L"),
            ("A.summary", "A"),
            ("A6.softmax", "A"),
            ("X.ranges", "X"),
            ("E4", "E"),
            ("Norm", "other"),
        ] {
            assert_eq!(group(id).id, want, "{id}");
        }
    }

    #[test]
    fn every_theorem_has_a_reason_for_its_pinned_verdict() {
        for (id, kind, _) in REASONS {
            let line = PINNED
                .lines()
                .find(|l| l.split_whitespace().next() == Some(id));
            assert!(
                line.is_some_and(|l| l.contains(kind.name())),
                "{id} is no longer {kind}: its reason in REASONS has to be written anew"
            );
        }
    }
}
