//! Which result rests on which, as four places of the paper say it, and what follows when one
//! falls.

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

/// A place of the paper that speaks of dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Voice {
    /// The statements, the scope notes of section 2, and section 6.8.
    Text,
    /// The proofs and "application" notes of the appendix.
    Proof,
    /// Figure 1.
    Figure,
    /// Table 1.
    Table,
}

impl fmt::Display for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Voice::Text => "text",
            Voice::Proof => "proof",
            Voice::Figure => "figure",
            Voice::Table => "table",
        })
    }
}

/// What one voice says one result rests on. `on` is complete for the kinds of nodes listed in it
/// and for assumptions, which every voice that speaks of a theorem enumerates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who says it.
    pub voice: Voice,
    /// Of which result.
    pub of: Node,
    /// What it is said to rest on.
    pub on: Vec<Node>,
}

/// Two voices that name different assumptions for one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The result.
    pub of: Node,
    /// What each voice names.
    pub sides: Vec<(Voice, BTreeSet<Node>)>,
}

/// Everything the paper says about dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyGraph {
    /// One entry for each voice and result.
    pub said: Vec<Said>,
}

/// A result, and what it is said to rest on.
type Entry = (Node, &'static [Node]);

/// The four accounts, as printed.
const PUBLISHED: &[(Voice, &[Entry])] = {
    use Node::{Assumption as A, Lemma as L, Theorem as T};
    &[
        (
            Voice::Text,
            &[
                (T(1), &[A(1), A(2), A(3), A(4)]),
                (T(2), &[A(2)]),
                (T(3), &[]),
                (T(5), &[A(1), A(4), A(6)]),
            ],
        ),
        (
            Voice::Proof,
            &[
                (L(3), &[A(6)]),
                (L(4), &[L(2)]),
                (T(1), &[A(1), A(3), L(1), L(3), L(4)]),
                (T(2), &[L(1), L(2)]),
                (T(3), &[L(6), L(7)]),
                (T(4), &[L(5), T(1), T(2)]),
                (T(5), &[A(1), A(6)]),
                (T(6), &[T(1)]),
                (T(7), &[A(1), T(2)]),
            ],
        ),
        (
            Voice::Figure,
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
        (
            Voice::Table,
            &[
                (T(1), &[A(1), A(3), A(4)]),
                (T(2), &[A(2)]),
                (T(3), &[]),
                (T(5), &[A(1), A(6)]),
            ],
        ),
    ]
};

impl DependencyGraph {
    /// The dependencies as printed.
    pub fn published() -> DependencyGraph {
        let said = PUBLISHED
            .iter()
            .flat_map(|(voice, entries)| {
                entries.iter().map(|(of, on)| Said {
                    voice: *voice,
                    of: *of,
                    on: on.to_vec(),
                })
            })
            .collect();
        DependencyGraph { said }
    }

    /// The results of which the voices `among` name different assumptions.
    ///
    /// A voice that says nothing of a result takes no side.
    pub fn disagreements(&self, among: &[Voice]) -> Vec<Disagreement> {
        let mut sides: BTreeMap<Node, Vec<(Voice, BTreeSet<Node>)>> = BTreeMap::new();
        for said in self.said.iter().filter(|said| among.contains(&said.voice)) {
            let assumptions = said
                .on
                .iter()
                .copied()
                .filter(|node| matches!(node, Node::Assumption(_)))
                .collect();
            sides
                .entry(said.of)
                .or_default()
                .push((said.voice, assumptions));
        }
        sides
            .into_iter()
            .filter(|(_, sides)| sides.windows(2).any(|pair| pair[0].1 != pair[1].1))
            .map(|(of, sides)| Disagreement { of, sides })
            .collect()
    }

    /// The assumptions on which no voice lets anything rest, of `count` that there are.
    pub fn unused_assumptions(&self, count: u8) -> Vec<Node> {
        (1..=count)
            .map(Node::Assumption)
            .filter(|node| !self.said.iter().any(|said| said.on.contains(node)))
            .collect()
    }

    /// Everything that rests, by any voice and over any number of steps, on one of `fallen`;
    /// the fallen themselves are not listed unless they rest on another of them.
    pub fn resting_on(&self, fallen: &BTreeSet<Node>) -> BTreeMap<Node, BTreeSet<Node>> {
        let mut marked: BTreeMap<Node, BTreeSet<Node>> = BTreeMap::new();
        loop {
            let mut grown = false;
            for said in &self.said {
                let mut roots = BTreeSet::new();
                for on in &said.on {
                    if fallen.contains(on) {
                        roots.insert(*on);
                    }
                    roots.extend(marked.get(on).into_iter().flatten().copied());
                }
                roots.remove(&said.of);
                if !roots.is_empty() {
                    let entry = marked.entry(said.of).or_default();
                    let before = entry.len();
                    entry.extend(roots);
                    grown |= entry.len() > before;
                }
            }
            if !grown {
                return marked;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voices_differ_on_what_theorems_1_and_5_use() {
        let graph = DependencyGraph::published();
        let of: Vec<Node> = graph
            .disagreements(&[Voice::Text, Voice::Figure, Voice::Table])
            .into_iter()
            .map(|d| d.of)
            .collect();
        assert_eq!(of, [Node::Theorem(1), Node::Theorem(5)]);
        // Negative control: a graph whose table says what its text says has no disagreement.
        let mut agreeing = graph.clone();
        agreeing.said.retain(|said| said.voice != Voice::Table);
        assert!(
            agreeing
                .disagreements(&[Voice::Text, Voice::Figure, Voice::Table])
                .is_empty()
        );
    }

    #[test]
    fn a_fallen_theorem_1_takes_4_6_and_7_with_it() {
        let graph = DependencyGraph::published();
        let marked = graph.resting_on(&BTreeSet::from([Node::Theorem(1)]));
        let names: Vec<String> = marked.keys().map(Node::to_string).collect();
        assert_eq!(names, ["T4", "T6", "T7"]);
        assert!(graph.resting_on(&BTreeSet::new()).is_empty());
    }

    #[test]
    fn nothing_rests_on_the_fifth_assumption() {
        assert_eq!(
            DependencyGraph::published().unused_assumptions(6),
            [Node::Assumption(5)]
        );
    }
}
