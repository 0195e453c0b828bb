//! General sum-product networks against brute force: assumption A4, and lemma 3 beyond one variable.

use lpf::latent::random::Stream;
use lpf::math::rational;
use lpf::spn::{Builder, Compiled, Evidence, Network, NodeId, Workspace};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::harness::{Check, Draws, Outcome, Property, Verdict, ensure};

pub const PROPERTIES: &[Property] = &[
    Property {
        name: "networks.marginals",
        claims: &["A4", "L3"],
        statement: "probability, marginals and conditionals of random networks equal the sum over all states",
        run: marginals,
    },
    Property {
        name: "networks.most_probable",
        claims: &["A4"],
        statement: "the most probable explanation of random networks is the largest of all states",
        run: most_probable,
    },
    Property {
        name: "networks.order",
        claims: &["A4"],
        statement: "the order of children changes no bit of any marginal",
        run: order,
    },
    Property {
        name: "networks.invalid",
        claims: &["A4"],
        statement: "networks that are not complete or not decomposable are refused",
        run: invalid,
    },
];

const NETWORKS: u64 = 150;
/// In one network of sixteen or so the likeliest states do not make the likeliest assignment: enough
/// of them for the negative control to be seen in every run.
const EXPLAINED: u64 = 600;

/// A network as a plain tree, which serves both the builder and the brute force.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(usize, Vec<f64>),
    Sum(Vec<(f64, Tree)>),
    Product(Vec<Tree>),
}

/// Numbers from 1/8 to 1, now and then zero: exact in rationals without long fractions.
fn number(s: &mut Stream) -> f64 {
    if s.below(6) == 0 {
        0.0
    } else {
        (1 + s.below(8)) as f64 / 8.0
    }
}

/// Several of them, the first not zero.
fn numbers(s: &mut Stream, n: usize) -> Vec<f64> {
    (0..n)
        .map(|i| if i == 0 { 0.5 } else { number(s) })
        .collect()
}

/// A random tree over the variables of `scope`, each with the given number of states.
fn grow(s: &mut Stream, scope: &[usize], states: &[usize], depth: usize) -> Tree {
    if depth < 4 && s.below(2) == 0 {
        let children = 1 + depth % 3 + s.below(2) as usize;
        let weights = numbers(s, children);
        return Tree::Sum(
            weights
                .into_iter()
                .map(|w| (w, grow(s, scope, states, depth + 1)))
                .collect(),
        );
    }
    match scope {
        [variable] => Tree::Leaf(*variable, numbers(s, states[*variable])),
        _ => {
            let cut = 1 + s.below(scope.len() as u64 - 1) as usize;
            let (a, b) = scope.split_at(cut);
            Tree::Product(vec![
                grow(s, a, states, depth + 1),
                grow(s, b, states, depth + 1),
            ])
        }
    }
}

impl Tree {
    fn build(&self, builder: &mut Builder, reversed: bool) -> Result<NodeId, String> {
        let flip = |mut ids: Vec<(NodeId, f64)>| {
            if reversed {
                ids.reverse();
            }
            ids
        };
        match self {
            Tree::Leaf(variable, values) => {
                builder.leaf(*variable, values).map_err(|e| e.to_string())
            }
            Tree::Sum(children) => {
                let ids = children
                    .iter()
                    .map(|(w, c)| Ok((c.build(builder, reversed)?, *w)));
                let ids = flip(ids.collect::<Result<_, String>>()?);
                builder.sum(&ids).map_err(|e| e.to_string())
            }
            Tree::Product(children) => {
                let ids = children
                    .iter()
                    .map(|c| Ok((c.build(builder, reversed)?, 1.0)));
                let ids = flip(ids.collect::<Result<_, String>>()?);
                let ids: Vec<NodeId> = ids.into_iter().map(|(id, _)| id).collect();
                builder.product(&ids).map_err(|e| e.to_string())
            }
        }
    }

    fn network(&self, states: &[usize], reversed: bool) -> Result<Network, String> {
        let mut builder = Builder::new(states).map_err(|e| e.to_string())?;
        let root = self.build(&mut builder, reversed)?;
        builder.build(root).map_err(|e| e.to_string())
    }

    /// The value at a full assignment, by the definition.
    fn at(&self, assignment: &[usize]) -> BigRational {
        let exact = |x: f64| rational(x).unwrap();
        match self {
            Tree::Leaf(variable, values) => exact(values[assignment[*variable]]),
            Tree::Sum(children) => children
                .iter()
                .map(|(w, c)| exact(*w) * c.at(assignment))
                .sum(),
            Tree::Product(children) => children
                .iter()
                .fold(BigRational::one(), |p, c| p * c.at(assignment)),
        }
    }
}

fn assignments(states: &[usize]) -> Vec<Vec<usize>> {
    states.iter().fold(vec![Vec::new()], |all, &n| {
        let extend = |a: &Vec<usize>| {
            (0..n)
                .map(|x| [a.as_slice(), &[x]].concat())
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(extend).collect()
    })
}

/// A random network, evidence about some variables, and all assignments with their exact values
/// under that evidence.
struct Case {
    states: Vec<usize>,
    tree: Tree,
    likelihoods: Vec<Option<Vec<f64>>>,
    table: Vec<(Vec<usize>, BigRational)>,
}

fn case(draws: &Draws, trial: u64) -> Case {
    let mut s = draws.stream("network", trial);
    let states: Vec<usize> = (0..1 + s.below(4))
        .map(|_| 1 + s.below(3) as usize)
        .collect();
    let scope: Vec<usize> = (0..states.len()).collect();
    let tree = grow(&mut s, &scope, &states, 0);
    let likelihoods: Vec<Option<Vec<f64>>> = states
        .iter()
        .map(|&n| (s.below(2) == 0).then(|| numbers(&mut s, n)))
        .collect();
    let table = assignments(&states)
        .into_iter()
        .map(|a| {
            let likely = likelihoods
                .iter()
                .zip(&a)
                .filter_map(|(l, &x)| l.as_ref().map(|l| l[x]));
            let weight = likely.fold(BigRational::one(), |p, l| p * rational(l).unwrap());
            let value = tree.at(&a) * weight;
            (a, value)
        })
        .collect();
    Case {
        states,
        tree,
        likelihoods,
        table,
    }
}

impl Case {
    fn evidence(&self, network: &Network) -> Result<Evidence, String> {
        let mut evidence = Evidence::none(network);
        for (variable, likelihoods) in self.likelihoods.iter().enumerate() {
            if let Some(l) = likelihoods {
                evidence.weigh(variable, l).map_err(|e| e.to_string())?;
            }
        }
        Ok(evidence)
    }

    fn total(&self, keep: impl Fn(&[usize]) -> bool) -> BigRational {
        self.table
            .iter()
            .filter(|(a, _)| keep(a))
            .map(|(_, v)| v)
            .sum()
    }
}

fn close(name: &str, got: f64, want: &BigRational, tolerance: f64) -> Verdict {
    let exact = want.to_f64().unwrap_or(f64::NAN);
    let off = rational(got).map(|g| (g - want).abs().to_f64().unwrap_or(f64::NAN));
    ensure(off.is_some_and(|off| off <= tolerance * exact), || {
        format!("{name}: {got}, exactly {exact}")
    })
}

/// Every answer of the network against the table; `informed` tells it the evidence.
fn agrees(case: &Case, informed: bool) -> Verdict {
    let compiled = Compiled::new(case.tree.network(&case.states, false)?);
    let mut workspace = Workspace::new();
    let evidence = if informed {
        case.evidence(compiled.network())?
    } else {
        Evidence::none(compiled.network())
    };
    let whole = case.total(|_| true);
    if whole.is_zero() {
        let refused = compiled.marginals(&evidence, &mut workspace).is_err();
        return ensure(refused, || "impossible evidence has marginals".into());
    }
    // A logarithm within two units, of a number within the stated error.
    let value = compiled
        .log_value(&evidence, &mut workspace)
        .map_err(|e| e.to_string())?;
    let exact = whole.to_f64().unwrap_or(f64::NAN).ln();
    let slack = 3.0 * f64::EPSILON * exact.abs() + compiled.relative_error() + f64::EPSILON;
    ensure((value - exact).abs() <= slack, || {
        format!("ln value {value}, exactly {exact}")
    })?;
    let tolerance = compiled.marginal_error() + f64::EPSILON / 2.0;
    let marginals = compiled
        .marginals(&evidence, &mut workspace)
        .map_err(|e| e.to_string())?;
    for (variable, &states) in case.states.iter().enumerate() {
        for state in 0..states {
            let want = case.total(|a| a[variable] == state) / &whole;
            let got = marginals.probabilities(variable)[state];
            close(&format!("P(x{variable} = {state})"), got, &want, tolerance)?;
        }
    }
    // The last variable given a state of the first.
    let last = case.states.len() - 1;
    let given = case.total(|a| a[0] == 0);
    if last > 0 && !given.is_zero() {
        let mut both = evidence.clone();
        both.restrict(0, 0).map_err(|e| e.to_string())?;
        for state in 0..case.states[last] {
            let want = case.total(|a| a[0] == 0 && a[last] == state) / &given;
            let got = compiled.log_conditional(&[(last, state)], &both, &mut workspace);
            let got = got.map_err(|e| e.to_string())?.exp();
            // The exponential magnifies the error of a logarithm by its size, at most 50 here.
            close("conditional", got, &want, 200.0 * f64::EPSILON)?;
        }
    }
    Ok(())
}

fn marginals(draws: Draws) -> Outcome {
    let run =
        |informed: bool| Check::cases((0..NETWORKS).map(|t| agrees(&case(&draws, t), informed)));
    Outcome::new(run(true), "evidence not told", run(false))
}

fn most_probable(draws: Draws) -> Outcome {
    let best = |case: &Case| {
        case.table
            .iter()
            .map(|(_, v)| v.clone())
            .max()
            .unwrap_or_default()
    };
    let run = |by_marginals: bool| {
        Check::cases((0..EXPLAINED).map(|trial| {
            let case = case(&draws, trial);
            let best = best(&case);
            if best.is_zero() {
                return Ok(());
            }
            let compiled = Compiled::new(case.tree.network(&case.states, false)?);
            let evidence = case.evidence(compiled.network())?;
            let mut workspace = Workspace::new();
            let found: Vec<usize> = if by_marginals {
                let m = compiled
                    .marginals(&evidence, &mut workspace)
                    .map_err(|e| e.to_string())?;
                let argmax = |v: usize| {
                    let p = m.probabilities(v);
                    (1..p.len()).fold(0, |b, i| if p[i] > p[b] { i } else { b })
                };
                (0..case.states.len()).map(argmax).collect()
            } else {
                let answer = compiled
                    .most_probable(&evidence, 1000, &mut workspace)
                    .map_err(|e| e.to_string())?;
                ensure(answer.exact, || "the search ran out".into())?;
                answer.assignment
            };
            let value = &case
                .table
                .iter()
                .find(|(a, _)| *a == found)
                .ok_or("no such state")?
                .1;
            // Values closer than twice the rounding count as ties.
            let tie = BigRational::one() - rational(2.0 * compiled.relative_error()).unwrap();
            ensure(*value >= best * tie, || {
                format!("{found:?} is not the best")
            })
        }))
    };
    Outcome::new(
        run(false),
        "each variable's likeliest state on its own",
        run(true),
    )
}

fn order(draws: Draws) -> Outcome {
    let bits = |case: &Case, reversed: bool| -> Result<Vec<u64>, String> {
        let compiled = Compiled::new(case.tree.network(&case.states, reversed)?);
        let evidence = case.evidence(compiled.network())?;
        let mut workspace = Workspace::new();
        let Ok(m) = compiled.marginals(&evidence, &mut workspace) else {
            return Ok(Vec::new());
        };
        let all = (0..case.states.len()).flat_map(|v| m.probabilities(v).to_vec());
        Ok(all.map(f64::to_bits).collect())
    };
    let check = Check::cases((0..NETWORKS).map(|t| {
        let case = case(&draws, t);
        ensure(bits(&case, false)? == bits(&case, true)?, || {
            "other bits".into()
        })
    }));
    // The value of a wide sum of full doubles, added in the order given.
    let plain = Check::cases((0..NETWORKS).map(|t| {
        let mut s = draws.stream("plain", t);
        let terms: Vec<f64> = (0..20).map(|_| s.uniform() * s.uniform()).collect();
        let forth: f64 = terms.iter().sum();
        let back: f64 = terms.iter().rev().sum();
        ensure(forth.to_bits() == back.to_bits(), || "other bits".into())
    }));
    Outcome::new(check, "sums in the order given", plain)
}

fn invalid(draws: Draws) -> Outcome {
    // Breaks a valid tree: a product whose children share a variable, or a sum whose children
    // have different scopes.
    let broken = |case: &Case, s: &mut Stream| {
        let extra = Tree::Leaf(0, vec![0.5; case.states[0]]);
        if case.states.len() > 1 && s.below(2) == 0 {
            Tree::Sum(vec![(0.5, case.tree.clone()), (0.5, extra)])
        } else {
            Tree::Product(vec![case.tree.clone(), extra])
        }
    };
    let run = |spoil: bool| {
        Check::cases((0..NETWORKS).map(|t| {
            let case = case(&draws, t);
            let mut s = draws.stream("spoil", t);
            let tree = if spoil {
                broken(&case, &mut s)
            } else {
                case.tree.clone()
            };
            ensure(tree.network(&case.states, false).is_err(), || {
                "accepted".into()
            })
        }))
    };
    Outcome::new(
        run(true),
        "the networks before they were broken",
        run(false),
    )
}
