//! Which result rests on which, as four places of the paper say it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An assumption, lemma or theorem, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A1 to A6.
    Assumption(u8),
    /// L1 to L7.
    Lemma(u8),
    /// T1 to T7.
    Theorem(u8),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Assumption(n) => write!(f, "A{n}"),
            Node::Lemma(n) => write!(f, "L{n}"),
            Node::Theorem(n) => write!(f, "T{n}"),
        }
    }
}

/// A place of the paper that says which result rests on which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// The statements, the scope notes of section 2, and section 6.8.
    Text,
    /// The proofs and "application" notes of the appendix.
    Proof,
    /// Figure 1.
    Figure,
    /// Table 1, where a row says that it names all: the others name key details only.
    Table,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Account::Text => "text",
            Account::Proof => "proof",
            Account::Figure => "figure",
            Account::Table => "table",
        })
    }
}

/// What one account says one result rests on. `on` is complete for the kinds of nodes listed in it
/// and for assumptions, which every account that speaks of a theorem enumerates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The place that says it.
    pub account: Account,
    /// The result it speaks of.
    pub of: Node,
    /// What it is said to rest on.
    pub on: Vec<Node>,
}

/// Two accounts that name different assumptions for one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The result.
    pub of: Node,
    /// What each account names.
    pub sides: Vec<(Account, BTreeSet<Node>)>,
}

/// Everything the paper says about dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyGraph {
    /// One entry for each account and result.
    pub entries: Vec<Dependency>,
}

/// A result, and what it is said to rest on.
type Entry = (Node, &'static [Node]);

/// What of the proof of theorem 4 its upper bound alone uses: step 3 of appendix B.4.
const UPPER_BOUND: [Node; 2] = [Node::Theorem(1), Node::Theorem(2)];

/// The four accounts, as printed.
const PUBLISHED: &[(Account, &[Entry])] = {
    use Node::{Assumption as A, Lemma as L, Theorem as T};
    &[
        (
            Account::Text,
            &[
                (T(1), &[A(1), A(2), A(3), A(4)]),
                (T(2), &[A(2)]),
                (T(3), &[]),
                (T(5), &[A(1), A(4), A(6)]),
            ],
        ),
        (
            Account::Proof,
            &[
                (L(3), &[A(6)]),
                (L(4), &[L(2)]),
                (T(1), &[A(1), A(3), A(4), L(1), L(3), L(4)]),
                (T(2), &[L(1), L(2)]),
                (T(3), &[L(6), L(7)]),
                (T(4), &[L(5), T(1), T(2)]),
                (T(5), &[A(1), A(4), A(6)]),
                (T(6), &[T(1)]),
                (T(7), &[A(1), T(2)]),
            ],
        ),
        (
            Account::Figure,
            &[
                (T(1), &[A(1), A(2), A(3), A(4), L(4)]),
                (T(2), &[A(2), L(1), L(2)]),
                (T(3), &[L(6), L(7)]),
                (T(4), &[A(1), L(5)]),
                (T(5), &[A(1), A(4), A(6)]),
                (T(6), &[T(1), T(2), T(4)]),
                (T(7), &[T(1), T(2), T(4)]),
            ],
        ),
        (Account::Table, &[(T(1), &[A(1), A(3), A(4)]), (T(3), &[])]),
    ]
};

impl DependencyGraph {
    /// The dependencies as printed.
    pub fn published() -> DependencyGraph {
        let entries = PUBLISHED
            .iter()
            .flat_map(|(account, entries)| {
                entries.iter().map(|(of, on)| Dependency {
                    account: *account,
                    of: *of,
                    on: on.to_vec(),
                })
            })
            .collect();
        DependencyGraph { entries }
    }

    /// The results for which one of the accounts `among` names an assumption that another of them does
    /// not use, neither by itself nor through the results that it names.
    ///
    /// An account that says nothing of a result takes no side.
    pub fn disagreements(&self, among: &[Account]) -> Vec<Disagreement> {
        let assumptions = |nodes: BTreeSet<Node>| -> BTreeSet<Node> {
            let named = nodes.into_iter();
            named
                .filter(|node| matches!(node, Node::Assumption(_)))
                .collect()
        };
        let mut sides: BTreeMap<Node, Vec<(Account, BTreeSet<Node>)>> = BTreeMap::new();
        for entry in &self.entries {
            if among.contains(&entry.account) {
                let named = assumptions(entry.on.iter().copied().collect());
                sides
                    .entry(entry.of)
                    .or_default()
                    .push((entry.account, named));
            }
        }
        sides
            .into_iter()
            .filter(|(of, sides)| {
                sides.iter().any(|(account, _)| {
                    let used = self.closure(*account, *of);
                    sides.iter().any(|(_, named)| !named.is_subset(&used))
                })
            })
            .map(|(of, sides)| Disagreement { of, sides })
            .collect()
    }

    /// Everything that one account lets a result rest on, through other results too.
    fn closure(&self, account: Account, of: Node) -> BTreeSet<Node> {
        let mut found = BTreeSet::new();
        let mut open = vec![of];
        while let Some(node) = open.pop() {
            for premise in self.premises(account, node) {
                if found.insert(premise) {
                    open.push(premise);
                }
            }
        }
        found
    }

    /// What the proof of a claim uses. Theorem 4 has two halves with a proof each: its lower bound is the
    /// claim `T4`, its upper bound `T4.moreover`.
    pub fn proof_of(&self, claim: &str, of: Option<Node>) -> BTreeSet<Node> {
        match (claim, of) {
            ("T4.moreover", _) => BTreeSet::from(UPPER_BOUND),
            (_, Some(of)) => {
                let mut premises = self.premises(Account::Proof, of);
                if of == Node::Theorem(4) {
                    premises.retain(|node| !UPPER_BOUND.contains(node));
                }
                premises
            }
            (_, None) => BTreeSet::new(),
        }
    }

    /// The assumptions on which no account lets anything rest, of `count` that there are.
    pub fn unused_assumptions(&self, count: u8) -> Vec<Node> {
        (1..=count)
            .map(Node::Assumption)
            .filter(|node| !self.entries.iter().any(|entry| entry.on.contains(node)))
            .collect()
    }

    /// What one account names for a result.
    pub fn premises(&self, account: Account, of: Node) -> BTreeSet<Node> {
        self.entries
            .iter()
            .filter(|entry| entry.account == account && entry.of == of)
            .flat_map(|entry| entry.on.iter().copied())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_differ_on_what_theorem_1_uses() {
        let graph = DependencyGraph::published();
        let of: Vec<Node> = graph
            .disagreements(&[Account::Text, Account::Figure, Account::Table])
            .into_iter()
            .map(|d| d.of)
            .collect();
        assert_eq!(of, [Node::Theorem(1)]);
        // Negative control: a graph whose table says what its text says has no disagreement.
        let mut agreeing = graph.clone();
        agreeing
            .entries
            .retain(|entry| entry.account != Account::Table);
        assert!(
            agreeing
                .disagreements(&[Account::Text, Account::Figure, Account::Table])
                .is_empty()
        );
    }

    /// Theorem 7's proof names A1, and its figure theorem 1, which uses it: no disagreement.
    #[test]
    fn proofs_leave_out_an_assumption_of_theorems_1_and_2() {
        let of: Vec<Node> = DependencyGraph::published()
            .disagreements(&[Account::Text, Account::Figure, Account::Proof])
            .into_iter()
            .map(|d| d.of)
            .collect();
        assert_eq!(of, [Node::Theorem(1), Node::Theorem(2)]);
    }

    #[test]
    fn the_halves_of_theorem_4_have_a_proof_each() {
        let graph = DependencyGraph::published();
        let lower = graph.proof_of("T4", Some(Node::Theorem(4)));
        assert_eq!(lower, BTreeSet::from([Node::Lemma(5)]));
        let upper = graph.proof_of("T4.moreover", None);
        assert!(upper.contains(&Node::Theorem(1)) && !upper.contains(&Node::Lemma(5)));
    }

    #[test]
    fn the_proof_of_theorem_7_uses_theorem_2_and_not_theorem_1() {
        let graph = DependencyGraph::published();
        let premises = graph.premises(Account::Proof, Node::Theorem(7));
        assert_eq!(
            premises,
            BTreeSet::from([Node::Assumption(1), Node::Theorem(2)])
        );
        let figure = graph.premises(Account::Figure, Node::Theorem(7));
        assert!(figure.contains(&Node::Theorem(1)));
    }

    #[test]
    fn nothing_rests_on_the_fifth_assumption() {
        assert_eq!(
            DependencyGraph::published().unused_assumptions(6),
            [Node::Assumption(5)]
        );
    }
}
