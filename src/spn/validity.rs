//! What makes a graph a valid sum-product network.
//!
//! | node | scope | condition |
//! |---|---|---|
//! | leaf | its variable | the variable exists |
//! | product | union of the children's scopes | *decomposable*: no variable is in two children |
//! | sum | the scope of every child | *complete*: all children have the same scope |
//!
//! Every child comes before its parent, so a graph with a cycle cannot be written down, and one
//! pass in the order of the nodes decides. The check works on slices and bit masks only, so that
//! a bounded model checker can run it on every small graph.

/// Bits in one word of a scope.
const WORD: usize = u64::BITS as usize;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A distribution over one variable.
    Leaf {
        /// The variable.
        variable: u32,
    },
    /// A weighted sum of its children.
    Sum,
    /// The product of its children.
    Product,
}

/// A directed graph in compressed rows: the children of node `i` are
/// `children[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    /// What each node is.
    pub kinds: &'a [NodeKind],
    /// One entry per node and one more, from 0 to `children.len()`, not descending.
    pub offsets: &'a [u32],
    /// One entry per edge: the child's position in `kinds`.
    pub children: &'a [u32],
}

impl<'a> Graph<'a> {
    /// The children of `node`; none where `node` or its offsets lie outside the slices.
    pub fn children_of(&self, node: usize) -> &'a [u32] {
        // With the largest number as `node` the first look-up fails already.
        match (
            self.offsets.get(node),
            self.offsets.get(node.wrapping_add(1)),
        ) {
            (Some(&begin), Some(&end)) => self
                .children
                .get(begin as usize..end as usize)
                .unwrap_or(&[]),
            _ => &[],
        }
    }
}

/// The first thing that is wrong with a graph. Nodes, children and variables are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Defect {
    /// There is no node.
    #[error("there is no node")]
    Empty,
    /// The offsets do not cut the children into one piece per node.
    #[error("the offsets of node {node} do not cut out its children")]
    Offsets { node: u32 },
    /// The scratch space of the check is too small.
    #[error("the scratch space is too small")]
    Space,
    /// A leaf has children.
    #[error("leaf {node} has children")]
    LeafWithChildren { node: u32 },
    /// A leaf is about a variable that does not exist.
    #[error("leaf {node}: there is no variable {variable}")]
    UnknownVariable { node: u32, variable: u32 },
    /// A sum or a product has no children.
    #[error("node {node} has no children")]
    NoChildren { node: u32 },
    /// A child is its parent, comes after it, or does not exist.
    #[error("child {child} does not come before its parent {node}")]
    ChildNotBefore { node: u32, child: u32 },
    /// Two children of a product share a variable: the first two that do (the same node, where it
    /// is listed twice), and the smallest variable they share.
    #[error("children {first} and {second} of product {node} share variable {variable}")]
    NotDecomposable {
        node: u32,
        first: u32,
        second: u32,
        variable: u32,
    },
    /// A child of a sum has another scope than the first one: the first such child, and the
    /// smallest variable that only one of the two has.
    #[error("only one of the children {first} and {second} of sum {node} has variable {variable}")]
    NotComplete {
        node: u32,
        first: u32,
        second: u32,
        variable: u32,
    },
}

/// The scope of a node, in the scratch space of [`check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One variable.
    One(u32),
    /// A row of bits.
    Row(u32),
}

/// Scratch space of [`check`], and its result: the scope of every node.
///
/// A complete sum has the scope of its first child, so that only products need a row.
#[derive(Debug)]
pub struct ScopeSpace<'a> {
    /// At least one entry per node; what it holds at first does not matter.
    pub scopes: &'a mut [Scope],
    /// At least [`words`] words per product; what they hold at first does not matter.
    pub bits: &'a mut [u64],
}

/// How many words one row of bits has.
pub const fn words(variables: usize) -> usize {
    variables.div_ceil(WORD)
}

impl ScopeSpace<'_> {
    /// Word `word` of the scope, each row having `words` of them.
    fn word(&self, scope: Scope, word: usize, words: usize) -> u64 {
        match scope {
            Scope::One(variable) => {
                if variable as usize / WORD == word {
                    1 << (variable as usize % WORD)
                } else {
                    0
                }
            }
            Scope::Row(row) => self.bits[row as usize * words + word],
        }
    }

    /// The words that can be other than zero.
    fn span(scope: Scope, words: usize) -> (usize, usize) {
        match scope {
            Scope::One(variable) => (variable as usize / WORD, variable as usize / WORD + 1),
            Scope::Row(_) => (0, words),
        }
    }
}

/// Whether every node of the graph is well formed, every product decomposable and every sum
/// complete, over variables `0..variables`.
///
/// Domain: any slices. Time: the number of edges times the words of a scope.
///
/// # Errors
/// The first defect in the order of the nodes. Never [`Defect::Space`] where `space` has one
/// scope per node and [`words`]`(variables)` words per product.
pub fn check(graph: Graph<'_>, variables: usize, space: &mut ScopeSpace<'_>) -> Result<(), Defect> {
    let nodes = graph.kinds.len();
    let words = words(variables);
    if nodes == 0 {
        return Err(Defect::Empty);
    }
    if graph.offsets.len() != nodes + 1 || graph.offsets[0] != 0 {
        return Err(Defect::Offsets { node: 0 });
    }
    if graph.offsets[nodes] as usize != graph.children.len() {
        return Err(Defect::Offsets {
            node: (nodes - 1) as u32,
        });
    }
    if space.scopes.len() < nodes {
        return Err(Defect::Space);
    }
    let mut rows = 0u32;
    for index in 0..nodes {
        let node = index as u32;
        let begin = graph.offsets[index] as usize;
        let end = graph.offsets[index + 1] as usize;
        if begin > end || end > graph.children.len() {
            return Err(Defect::Offsets { node });
        }
        let children = &graph.children[begin..end];
        if let NodeKind::Leaf { variable } = graph.kinds[index] {
            if !children.is_empty() {
                return Err(Defect::LeafWithChildren { node });
            }
            if variable as usize >= variables {
                return Err(Defect::UnknownVariable { node, variable });
            }
            space.scopes[index] = Scope::One(variable);
            continue;
        }
        if children.is_empty() {
            return Err(Defect::NoChildren { node });
        }
        for &child in children {
            if child >= node {
                return Err(Defect::ChildNotBefore { node, child });
            }
        }
        if graph.kinds[index] == NodeKind::Sum {
            check_complete(node, children, words, space)?;
            space.scopes[index] = space.scopes[children[0] as usize];
        } else {
            if space.bits.len() < (rows as usize + 1) * words {
                return Err(Defect::Space);
            }
            check_decomposable(node, children, words, space, rows)?;
            space.scopes[index] = Scope::Row(rows);
            rows += 1;
        }
    }
    Ok(())
}

/// Compares the scope of every child with that of the first.
pub(crate) fn check_complete(
    node: u32,
    children: &[u32],
    words: usize,
    space: &ScopeSpace<'_>,
) -> Result<(), Defect> {
    let first = children[0];
    let want = space.scopes[first as usize];
    for &second in children {
        let scope = space.scopes[second as usize];
        if scope == want {
            continue;
        }
        for word in 0..words {
            let differ = space.word(want, word, words) ^ space.word(scope, word, words);
            if differ != 0 {
                return Err(Defect::NotComplete {
                    node,
                    first,
                    second,
                    variable: (word * WORD) as u32 + differ.trailing_zeros(),
                });
            }
        }
    }
    Ok(())
}

/// Unites the scopes of the children in row `row`, each of which must be disjoint from the
/// union of those before it.
pub(crate) fn check_decomposable(
    node: u32,
    children: &[u32],
    words: usize,
    space: &mut ScopeSpace<'_>,
    row: u32,
) -> Result<(), Defect> {
    let start = row as usize * words;
    for word in 0..words {
        space.bits[start + word] = 0;
    }
    for (position, &second) in children.iter().enumerate() {
        let scope = space.scopes[second as usize];
        let (from, to) = ScopeSpace::span(scope, words);
        for word in from..to {
            let bits = space.word(scope, word, words);
            let shared = space.bits[start + word] & bits;
            if shared != 0 {
                let bit = shared & shared.wrapping_neg();
                let mut first = second;
                for &earlier in &children[..position] {
                    if space.word(space.scopes[earlier as usize], word, words) & bit != 0 {
                        first = earlier;
                        break;
                    }
                }
                return Err(Defect::NotDecomposable {
                    node,
                    first,
                    second,
                    variable: (word * WORD) as u32 + shared.trailing_zeros(),
                });
            }
            space.bits[start + word] |= bits;
        }
    }
    Ok(())
}
