//! Assumption A4: the validity checker accepts exactly the complete and decomposable graphs.
//!
//! The definition, word for word: the scope of a leaf is its variable, that of any other node the
//! union of its children's scopes; a sum is complete if all its children have the same scope; a
//! product is decomposable if no two of its children share a variable.

use super::engine::{Cases, any, below, check, each};
use crate::spn::validity::{check_complete, check_decomposable};
use crate::spn::{self, Defect, Graph, NodeKind, Scope, ScopeSpace};

pub(super) const VARIABLES: u8 = 3;

/// A graph of up to `N` nodes, with children as sets of earlier nodes.
#[derive(Clone, Copy)]
pub(super) struct Shape<const N: usize> {
    pub kinds: [NodeKind; N],
    /// Bit `j` of entry `i`: node `j` is a child of node `i`.
    pub parents: [u8; N],
}

impl<const N: usize> Shape<N> {
    /// Any graph whose children come before their parents: leaves of each variable, sums and
    /// products of every set of earlier nodes, the empty set included.
    pub(super) fn any() -> Self {
        let mut shape = Shape {
            kinds: [NodeKind::Sum; N],
            parents: [0; N],
        };
        for i in 0..N {
            let choice = below(VARIABLES + 2);
            if choice < VARIABLES {
                let variable = u32::from(choice);
                shape.kinds[i] = NodeKind::Leaf { variable };
            } else {
                if choice == VARIABLES {
                    shape.kinds[i] = NodeKind::Product;
                }
                shape.parents[i] = below(1 << i);
            }
        }
        shape
    }

    /// How many there are: three leaves and two kinds times 2ⁱ sets, for each node `i`.
    pub(super) fn count() -> u64 {
        (0..N).map(|i| 3 + 2 * (1u64 << i)).product()
    }

    /// The children of node `i` in compressed rows, which is what the checker takes.
    pub(super) fn rows<const EDGES: usize>(
        &self,
        offsets: &mut [u32],
        children: &mut [u32; EDGES],
    ) {
        let mut edges = 0;
        offsets[0] = 0;
        for i in 0..N {
            for j in 0..i {
                if self.parents[i] >> j & 1 == 1 {
                    children[edges] = j as u32;
                    edges += 1;
                }
            }
            offsets[i + 1] = edges as u32;
        }
    }

    /// Scope of each node by definition, as a set of variables.
    pub(super) fn scopes(&self) -> [u8; N] {
        let mut scopes = [0u8; N];
        for i in 0..N {
            if let NodeKind::Leaf { variable } = self.kinds[i] {
                scopes[i] = 1 << variable;
            }
            for j in 0..i {
                if self.parents[i] >> j & 1 == 1 {
                    scopes[i] |= scopes[j];
                }
            }
        }
        scopes
    }

    /// Whether each node but the leaves has children, each sum is complete and each product
    /// decomposable, by definition.
    pub(super) fn is_valid(&self) -> bool {
        let scopes = self.scopes();
        let mut valid = true;
        for i in 0..N {
            let inner = matches!(self.kinds[i], NodeKind::Sum | NodeKind::Product);
            valid &= !inner || self.parents[i] != 0;
            for j in 0..i {
                for k in 0..j {
                    if self.parents[i] >> j & 1 == 1 && self.parents[i] >> k & 1 == 1 {
                        valid &= match self.kinds[i] {
                            NodeKind::Sum => scopes[j] == scopes[k],
                            _ => scopes[j] & scopes[k] == 0,
                        };
                    }
                }
            }
        }
        valid
    }
}

/// Runs the checker and compares it with the definition; `EDGES` is the largest number of edges.
fn agrees_with_the_definition<const N: usize, const EDGES: usize>() {
    let shape = Shape::<N>::any();
    let mut offsets = [0; 8];
    let mut children = [0; EDGES];
    shape.rows(&mut offsets, &mut children);
    let edges = offsets[N] as usize;
    let graph = Graph {
        kinds: &shape.kinds,
        offsets: &offsets[..=N],
        children: &children[..edges],
    };
    let mut scopes = [Scope::One(0); N];
    let mut bits = [0u64; N];
    let outcome = spn::check(
        graph,
        usize::from(VARIABLES),
        &mut ScopeSpace {
            scopes: &mut scopes,
            bits: &mut bits,
        },
    );
    assert!(outcome.is_ok() == shape.is_valid());
    let truth = shape.scopes();
    match outcome {
        Ok(()) => {
            for i in 0..N {
                let found = match scopes[i] {
                    Scope::One(variable) => 1 << variable,
                    Scope::Row(row) => bits[row as usize],
                };
                assert!(found == u64::from(truth[i]));
            }
        }
        Err(Defect::NotComplete {
            node,
            first,
            second,
            variable,
        }) => {
            let differ = truth[first as usize] ^ truth[second as usize];
            assert!(shape.kinds[node as usize] == NodeKind::Sum && differ >> variable & 1 == 1);
        }
        Err(Defect::NotDecomposable {
            node,
            first,
            second,
            variable,
        }) => {
            let shared = truth[first as usize] & truth[second as usize];
            assert!(shape.kinds[node as usize] == NodeKind::Product && shared >> variable & 1 == 1);
        }
        Err(Defect::NoChildren { node }) => assert!(shape.parents[node as usize] == 0),
        Err(_) => panic!("no other defect can be written down here"),
    }
    cover!(outcome.is_ok() && edges >= 2, "valid");
    cover!(
        matches!(outcome, Err(Defect::NotComplete { .. })),
        "a sum that is not complete"
    );
    cover!(
        matches!(outcome, Err(Defect::NotDecomposable { .. })),
        "a product that is not decomposable"
    );
}

/// The validity checker accepts exactly the graphs that are complete and decomposable by
/// definition, finds the scope of every node, and names a defect that is there.
///
/// Claims: A4, L3
/// Domain: every graph of 5 nodes over 3 variables, children before parents
/// Enumerated only: rows of symbolic length; the harnesses below are its steps
#[cfg_attr(not(kani), test)]
fn validity_is_the_definition_for_every_graph_of_5_nodes() {
    check(
        Cases::All(Shape::<5>::count()),
        agrees_with_the_definition::<5, 10>,
    );
}

/// Three scopes over 128 variables, of one or a row of any, and the same as sets; a fourth row is
/// free.
struct Scopes {
    scopes: [Scope; 3],
    bits: [u64; 8],
    sets: [u128; 3],
}

/// The kind of a scope that is no row.
const ONE: u8 = 3;

impl Scopes {
    /// Any scopes of these kinds: the number of a row, or [`ONE`].
    fn any(kinds: [u8; 3]) -> Self {
        // Sparse and equal rows as well as any: random ones would all overlap and all differ.
        let word = || match below(4) {
            _ if cfg!(kani) => any(),
            0 => any(),
            _ => 1 << below(64),
        };
        let (low, high) = (word(), word());
        let mut bits = [low, high, low, high, word(), word(), any(), any()];
        if cfg!(kani) || any() {
            (bits[2], bits[3]) = (word(), word());
        }
        let mut scopes = [Scope::Row(0); 3];
        let mut sets = [0; 3];
        for i in 0..3 {
            if kinds[i] == ONE {
                let variable = below(128);
                scopes[i] = Scope::One(variable.into());
                sets[i] = 1 << variable;
            } else {
                scopes[i] = Scope::Row(kinds[i].into());
                let begin = 2 * usize::from(kinds[i]);
                sets[i] = u128::from(bits[begin]) | u128::from(bits[begin + 1]) << 64;
            }
        }
        Scopes { scopes, bits, sets }
    }
}

/// The step at a product: it is accepted exactly if no two of its children share a variable, and its
/// scope is then the union of theirs; what is named otherwise is shared. With the step at a sum and
/// induction over the nodes this is the definition, for graphs of any size.
///
/// Claims: A4, L3
/// Domain: 3 children over 128 variables, each of any row of bits, or the first and the last of any one
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_product_is_accepted_exactly_if_its_children_are_disjoint() {
    check(Cases::Random(300_000), || {
        // On each path no row is of symbolic place.
        each(2, |one| {
            let kinds = if one == 1 { [ONE, 1, ONE] } else { [0, 1, 2] };
            step_at_a_product(Scopes::any(kinds));
        });
    });
}

fn step_at_a_product(mut any: Scopes) {
    let (before, sets) = (any.bits, any.sets);
    let mut space = ScopeSpace {
        scopes: &mut any.scopes,
        bits: &mut any.bits,
    };
    let outcome = check_decomposable(3, &[0, 1, 2], 2, &mut space, 3);
    cover!(
        outcome.is_ok() && sets[0] & 3 == 3 && sets[1] >> 64 != 0,
        "disjoint"
    );
    cover!(outcome.is_err(), "shared");
    match outcome {
        Ok(()) => {
            assert!(sets[0] & sets[1] == 0 && (sets[0] | sets[1]) & sets[2] == 0);
            let union = u128::from(any.bits[6]) | u128::from(any.bits[7]) << 64;
            assert!(union == sets[0] | sets[1] | sets[2]);
        }
        Err(Defect::NotDecomposable {
            node,
            first,
            second,
            variable,
        }) => {
            assert!(node == 3 && first < second && second < 3);
            assert!((sets[first as usize] & sets[second as usize]) >> variable & 1 == 1);
        }
        Err(_) => panic!("no other defect is one of a product"),
    }
    // The scopes of other nodes stay as they are.
    assert!(before[0] == any.bits[0] && before[1] == any.bits[1]);
    assert!(before[2] == any.bits[2] && before[3] == any.bits[3]);
    assert!(before[4] == any.bits[4] && before[5] == any.bits[5]);
}

/// The step at a sum: it is accepted exactly if all its children have one scope; the variable that
/// is named otherwise is in one of the two scopes only.
///
/// Claims: A4, L3
/// Domain: 3 children with any scopes over 128 variables, of one or of any row of bits
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_sum_is_accepted_exactly_if_its_children_have_one_scope() {
    check(Cases::Random(300_000), || {
        let mut any = Scopes::any([below(4), below(4), below(4)]);
        let sets = any.sets;
        let space = ScopeSpace {
            scopes: &mut any.scopes,
            bits: &mut any.bits,
        };
        let outcome = check_complete(3, &[0, 1, 2], 2, &space);
        cover!(outcome.is_ok() && sets[0] & 3 == 3, "one scope");
        cover!(
            matches!(outcome, Err(Defect::NotComplete { second: 2, .. })),
            "the third child differs"
        );
        match outcome {
            Ok(()) => assert!(sets[0] == sets[1] && sets[0] == sets[2]),
            Err(Defect::NotComplete {
                node,
                first,
                second,
                variable,
            }) => {
                assert!(node == 3 && first == 0 && (second == 1 || second == 2));
                assert!((sets[0] ^ sets[second as usize]) >> variable & 1 == 1);
            }
            Err(_) => panic!("no other defect is one of a sum"),
        }
    });
}

/// Any slices at all are accepted or refused, never a panic: offsets, children, variables and
/// scratch space of any content.
///
/// Claims: A4
/// Domain: 2 nodes of any kind, any 3 offsets, any 2 children, any variable, 0 to 2 words of space
/// Slow: rows of symbolic place and length
#[cfg_attr(
    all(kani, kani_slow),
    kani::proof,
    kani::unwind(3),
    kani::solver(cadical)
)]
#[cfg_attr(not(kani), test)]
fn validity_is_total_on_any_slices() {
    check(Cases::Random(300_000), || {
        // Small numbers as well as any: random ones alone would all be out of range.
        let number = || {
            if below(8) > 0 {
                u32::from(below(3))
            } else {
                any()
            }
        };
        let kind = || match below(3) {
            0 => NodeKind::Leaf { variable: number() },
            1 => NodeKind::Sum,
            _ => NodeKind::Product,
        };
        let kinds = [kind(), kind()];
        let offsets = [number(), number(), number()];
        let children = [number(), number()];
        let mut scopes = [Scope::One(0); 2];
        let mut bits = [any::<u64>(); 2];
        let words = usize::from(below(3));
        let graph = Graph {
            kinds: &kinds,
            offsets: &offsets,
            children: &children,
        };
        let outcome = spn::check(
            graph,
            3,
            &mut ScopeSpace {
                scopes: &mut scopes,
                bits: &mut bits[..words],
            },
        );
        cover!(matches!(outcome, Err(Defect::Offsets { .. })), "offsets");
        cover!(
            matches!(outcome, Err(Defect::ChildNotBefore { .. })),
            "a child after its parent"
        );
        cover!(matches!(outcome, Err(Defect::Space)), "too little space");
        // Both children slots are used by node 1, and only by it.
        if outcome.is_ok() {
            assert!(offsets[0] == 0 && offsets[1] == 0 && offsets[2] == 2);
            assert!(children[0] == 0 && children[1] == 0);
        }
    });
}

/// The children of any node of any graph can be asked for: those that the offsets cut out, or
/// none.
///
/// Claims: A4
/// Domain: any usize as node, any 3 offsets, 2 children
#[cfg_attr(kani, kani::proof, kani::unwind(4), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn children_of_any_node_never_panics() {
    check(Cases::Random(300_000), || {
        // Small numbers as well as any: random ones alone would all be out of range.
        let number = || if any() { u32::from(below(4)) } else { any() };
        let offsets = [number(), number(), number()];
        let node: usize = match below(3) {
            0 => usize::from(below(4)),
            1 => usize::MAX - usize::from(below(4)),
            _ => any(),
        };
        let graph = Graph {
            kinds: &[NodeKind::Sum; 2],
            offsets: &offsets,
            children: &[7, 8],
        };
        let children = graph.children_of(node);
        cover!(children.len() == 2, "both");
        cover!(node == usize::MAX, "the largest number");
        let cut = node < 2 && offsets[node] <= offsets[node + 1] && offsets[node + 1] <= 2;
        let length = if cut {
            offsets[node + 1] - offsets[node]
        } else {
            0
        };
        assert!(children.len() == length as usize);
        assert!(children.is_empty() || children[0] == 7 + offsets[node]);
    });
}
