//! The Rust is what was modelled: outputs of the Rust functions, made in this run, are recomputed
//! by Coq's kernel from the executable models in `model/` and must be equal to the bit. A wrong
//! model beside each must disagree on the same cases.

use std::fmt::Write as _;

use lpf::bounds::effective_count;
use lpf::calibration::bin_index;
use lpf::math::{ExactSum, canonical_sum};
use lpf::simplex::normalize;
use lpf::spn::{Builder, Evidence, NodeId};
use num_bigint::BigInt;
use num_rational::BigRational;
use serde_json::{Value, json};

use crate::coq::{Coq, Outcome, in_parallel};
use crate::sources::{Sources, digest};

/// One model: its module, the Rust function, and how its cases are made.
struct Model {
    module: &'static str,
    of: &'static str,
    cases: fn(&mut Random) -> Vec<String>,
}

const MODELS: [Model; 6] = [
    Model {
        module: "ExactSum",
        of: "math::ExactSum::to_f64",
        cases: exact_sums,
    },
    Model {
        module: "SortedSum",
        of: "math::canonical_sum",
        cases: canonical_sums,
    },
    Model {
        module: "Normalize",
        of: "simplex::normalize",
        cases: normalized,
    },
    Model {
        module: "BinIndex",
        of: "calibration::bin_index",
        cases: bins,
    },
    Model {
        module: "EffectiveCount",
        of: "bounds::effective_count",
        cases: effective_counts,
    },
    Model {
        module: "Network",
        of: "spn::Network::evaluate over rationals",
        cases: networks,
    },
];

/// Recomputes every output; the entries of the record, and what is wrong.
pub fn run(coq: &Coq, sources: &Sources) -> Result<(Vec<Value>, Vec<String>), String> {
    let results = in_parallel(&MODELS, |model| -> Result<(Outcome, Vec<String>), String> {
        let cases = (model.cases)(&mut Random(1));
        Ok((recompute(coq, sources, model.module, &cases)?, cases))
    });
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (model, result) in MODELS.iter().zip(results) {
        let (outcome, cases) = result?;
        match differing(&outcome, &cases) {
            Ok(wrong) => entries.push(json!({
                "of": model.of,
                "file": format!("proofs/theory/model/{}.v", model.module),
                "digest": sources.closure_digest(&format!("model.{}", model.module)),
                "cases": cases.len(),
                "wrong_differs": wrong,
                "seconds": (outcome.seconds * 10.0).round() / 10.0,
            })),
            Err(problem) => problems.push(format!("model of {}: {problem}", model.of)),
        }
    }
    Ok((entries, problems))
}

/// Has Coq compute every case of a model.
fn recompute(
    coq: &Coq,
    sources: &Sources,
    model: &str,
    cases: &[String],
) -> Result<Outcome, String> {
    let module = format!("model.{model}");
    if !sources.files.contains_key(&module) {
        return Err(format!("there is no model/{model}.v"));
    }
    let text = asked(model, cases);
    let closure = sources.closure_digest(&module);
    let key = format!("{} {closure} {}", coq.version, digest(&text));
    coq.file(&format!("cases/{model}.v"), &text, &key, false)
}

/// In how many cases the wrong model differs, where the right one never does.
fn differing(outcome: &Outcome, cases: &[String]) -> Result<usize, String> {
    match numbers(&outcome.output)[..] {
        [count, 0, wrong, ..] if outcome.accepted && count == cases.len() && wrong > 0 => Ok(wrong),
        [count, different, wrong, ref at @ ..] => {
            let first = at.first().and_then(|&i| cases.get(i));
            Err(format!(
                "{different} of {count} outputs of the Rust code are not the model's, the first in {}; the wrong \
                 model differs in {wrong}",
                first.map_or("no case", String::as_str)
            ))
        }
        _ => Err(outcome.error.trim().to_owned()),
    }
}

/// A file that asks how many cases there are, how many differ from the model, how many from the
/// wrong one and which is the first; it ends in a theorem that holds only if none differs.
fn asked(module: &str, cases: &[String]) -> String {
    format!(
        "Require Import ZArith QArith List Uint63.\nFrom LPF Require Import {module}.\nImport ListNotations.\n\
         Open Scope uint63_scope.\nDefinition cases := [\n{}].\n\
         Definition alike := Eval vm_compute in map agrees cases.\n\
         Fixpoint count (l : list bool) : Z :=\n  \
           match l with [] => 0%Z | b :: t => ((if b then 0 else 1) + count t)%Z end.\n\
         Fixpoint first (i : Z) (l : list bool) : Z :=\n  \
           match l with true :: t => first (i + 1)%Z t | _ => i end.\n\
         Eval vm_compute in (Z.of_nat (length cases)).\nEval vm_compute in (count alike).\n\
         Eval vm_compute in (count (map wrong_agrees cases)).\nEval vm_compute in (first 0%Z alike).\n\
         Theorem rust_is_the_model : forallb agrees cases = true.\n\
         Proof. vm_cast_no_check (eq_refl true). Qed.\n",
        cases.join(";\n")
    )
}

/// The numbers in `= 12` lines, the answers to [`asked`].
fn numbers(output: &str) -> Vec<usize> {
    let starts = output.split("= ").skip(1);
    starts
        .filter_map(|s| {
            s.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
                .parse()
                .ok()
        })
        .collect()
}

/// Splitmix64: the same cases in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// A finite double that is not negative: of any size, of like sizes, or an edge.
    fn weight(&mut self, like: i32) -> f64 {
        match self.below(12) {
            0 => 0.0,
            1 => -0.0,
            2 => f64::from_bits(self.next() % 4),
            3 if self.below(4) == 0 => f64::from_bits(self.next() >> 1).min(f64::MAX),
            4 => (self.next() % 1000) as f64,
            _ => self.unit() * 2f64.powi(like + self.below(6) as i32),
        }
    }

    /// Of a list, what size its entries have.
    fn like(&mut self) -> i32 {
        [-1040, -600, -53, 0, 0, 0, 0, 53, 900, 1010][self.below(10)]
    }

    /// A few entries; now and then more than sixteen.
    fn count(&mut self, least: usize) -> usize {
        least
            + if self.below(5) == 0 {
                self.below(24)
            } else {
                self.below(7)
            }
    }

    fn weights(&mut self, least: usize) -> Vec<f64> {
        let like = self.like();
        (0..self.count(least)).map(|_| self.weight(like)).collect()
    }
}

/// The two halves of the bits.
fn bits(x: f64) -> String {
    format!("({},{})", x.to_bits() >> 32, x.to_bits() & 0xffff_ffff)
}

fn all_bits(values: &[f64]) -> String {
    list(values.iter().map(|&x| bits(x)))
}

fn list(entries: impl Iterator<Item = String>) -> String {
    format!("[{}]", entries.collect::<Vec<_>>().join(";"))
}

fn option(value: Option<String>) -> String {
    value.map_or("None".into(), |v| format!("Some {v}"))
}

fn exact_sums(random: &mut Random) -> Vec<String> {
    let case = |_| {
        let like = random.like();
        let n = random.count(0);
        let mut terms: Vec<f64> = (0..n)
            .map(|_| random.weight(like) * if random.below(2) == 0 { 1.0 } else { -1.0 })
            .collect();
        match random.below(40) {
            0 => terms.push(f64::INFINITY),
            1 => terms.extend([f64::INFINITY, f64::NEG_INFINITY]),
            2 => terms.push(f64::NAN),
            3..8 if !terms.is_empty() => {
                // Ties: half a unit in the last place more, or all but cancelling.
                let x = terms[0];
                terms.extend([-x, 1.0, f64::EPSILON / 2.0]);
            }
            _ => {}
        }
        let sum: ExactSum = terms.iter().copied().collect();
        format!("({},{})", all_bits(&terms), bits(sum.to_f64()))
    };
    (0..2000).map(case).collect()
}

fn canonical_sums(random: &mut Random) -> Vec<String> {
    let case = |_| {
        let terms = random.weights(0);
        format!("({},{})", all_bits(&terms), bits(canonical_sum(&terms)))
    };
    (0..2000).map(case).collect()
}

fn normalized(random: &mut Random) -> Vec<String> {
    let case = |_| {
        let mut values = random.weights(0);
        if random.below(20) == 0 && !values.is_empty() {
            // Refused, unless the bits happen to be acceptable.
            let i = random.below(values.len());
            values[i] = f64::from_bits(random.next());
        }
        let input = all_bits(&values);
        let output = normalize(&mut values).ok().map(|()| all_bits(&values));
        format!("({input},{})", option(output))
    };
    (0..2000).map(case).collect()
}

fn bins(random: &mut Random) -> Vec<String> {
    let case = |_| {
        let n = match random.below(8) {
            0 => random.below(1026),
            1 => [0, 1, 2, 1023, 1024, 1025][random.below(6)],
            _ => 2 + random.below(40),
        };
        let edge = random.below(n + 2) as f64 / n.max(1) as f64;
        let c = match random.below(6) {
            0 => edge,
            1 => edge.next_up(),
            2 => edge.next_down(),
            3 => f64::from_bits(random.next()),
            _ => random.unit(),
        };
        let bin = bin_index(c, n).map(|i| i.to_string());
        format!("({},{n},{})", bits(c), option(bin))
    };
    (0..3000).map(case).collect()
}

fn effective_counts(random: &mut Random) -> Vec<String> {
    let case = |_| {
        let n = 1 + random.below(20);
        let like = random.like();
        let mut weights: Vec<f64> = match random.below(200) {
            // Of all sizes at once: squares of thousands of bits, which take Coq long to divide.
            0 => random.weights(0),
            1..50 => vec![random.unit(); n],
            50..100 => (0..n).map(|_| random.unit()).collect(),
            100..110 => vec![random.weight(0); n.min(2)],
            _ => (0..n)
                .map(|_| random.unit() * 2f64.powi(like + random.below(14) as i32))
                .collect(),
        };
        if random.below(40) == 0 && !weights.is_empty() {
            weights[0] = -weights[0];
        }
        let count = effective_count(&weights).ok().map(bits);
        format!("({},{})", all_bits(&weights), option(count))
    };
    (0..600).map(case).collect()
}

/// A network as it grows: the Rust builder, and the same nodes written for Coq.
struct Growing {
    builder: Builder<BigRational>,
    nodes: Vec<String>,
}

impl Growing {
    fn fraction(random: &mut Random) -> (usize, usize) {
        (random.below(12), 1 + random.below(12))
    }

    fn number((a, b): (usize, usize)) -> BigRational {
        BigRational::new(BigInt::from(a), BigInt::from(b))
    }

    fn fractions(random: &mut Random, n: usize) -> Vec<(usize, usize)> {
        let mut all: Vec<_> = (0..n).map(|_| Self::fraction(random)).collect();
        if all.iter().all(|x| x.0 == 0) {
            all[0] = (1, 2);
        }
        all
    }

    /// A random complete and decomposable network over some variables.
    fn grow(
        &mut self,
        random: &mut Random,
        states: &[usize],
        variables: &[usize],
        depth: usize,
    ) -> Option<NodeId> {
        let (node, text) = match variables {
            [v] if depth == 0 || random.below(3) > 0 => {
                let values = Self::fractions(random, states[*v]);
                let numbers: Vec<_> = values.iter().copied().map(Self::number).collect();
                let text = format!(
                    "Leaf (n {v}) {}",
                    list(values.iter().map(|&(a, b)| format!("q {a} {b}")))
                );
                (self.builder.leaf(*v, &numbers).ok()?, text)
            }
            _ if variables.len() > 1 && (depth == 0 || random.below(2) == 0) => {
                let cut = 1 + random.below(variables.len() - 1);
                let left = self.grow(random, states, &variables[..cut], depth.saturating_sub(1))?;
                let right =
                    self.grow(random, states, &variables[cut..], depth.saturating_sub(1))?;
                let text = format!("Product [n {}; n {}]", left.index(), right.index());
                (self.builder.product(&[left, right]).ok()?, text)
            }
            _ => {
                let count = 1 + random.below(3);
                let weights = Self::fractions(random, count);
                let mut children = Vec::new();
                for &weight in &weights {
                    // Now and then a child is shared by two edges.
                    let child = match children.last() {
                        Some(&(last, _)) if random.below(4) == 0 => last,
                        _ => self.grow(random, states, variables, depth.saturating_sub(1))?,
                    };
                    children.push((child, weight));
                }
                let pair = |&(child, (a, b)): &(NodeId, (usize, usize))| {
                    format!("(n {}, q {a} {b})", child.index())
                };
                let text = format!("Sum {}", list(children.iter().map(pair)));
                let children: Vec<_> = children
                    .into_iter()
                    .map(|(c, w)| (c, Self::number(w)))
                    .collect();
                (self.builder.sum(&children).ok()?, text)
            }
        };
        self.nodes.push(text);
        Some(node)
    }
}

fn networks(random: &mut Random) -> Vec<String> {
    let mut case = || {
        let states: Vec<usize> = (0..1 + random.below(4))
            .map(|_| 1 + random.below(3))
            .collect();
        let variables: Vec<usize> = (0..states.len()).collect();
        let mut growing = Growing {
            builder: Builder::new(&states).ok()?,
            nodes: Vec::new(),
        };
        let root = growing.grow(random, &states, &variables, 3)?;
        let network = growing.builder.build(root).ok()?;
        let mut evidence = Evidence::none(&network);
        let mut known = Vec::new();
        for &v in &variables {
            known.push(match random.below(3) {
                0 => "Nothing".to_owned(),
                1 => {
                    let state = random.below(states[v]);
                    evidence.observe(v, state).ok()?;
                    format!("State (n {state})")
                }
                _ => {
                    let weights = Growing::fractions(random, states[v]);
                    let numbers: Vec<_> = weights.iter().copied().map(Growing::number).collect();
                    evidence.weigh(v, &numbers).ok()?;
                    format!(
                        "Likelihood {}",
                        list(weights.iter().map(|&(a, b)| format!("q {a} {b}")))
                    )
                }
            });
        }
        let value = network.evaluate(&evidence).ok()?;
        let mut text = format!("({},", list(growing.nodes.into_iter()));
        let _ = write!(
            text,
            "{},({} # {})%Q)",
            list(known.into_iter()),
            value.numer(),
            value.denom()
        );
        Some(text)
    };
    let mut all = Vec::new();
    while all.len() < 1000 {
        all.extend(case());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_the_same_in_every_run_and_cover_refusals() {
        for model in &MODELS {
            let cases = (model.cases)(&mut Random(1));
            assert!(cases.len() >= 600);
            assert_eq!(cases, (model.cases)(&mut Random(1)), "{}", model.module);
        }
        for cases in [normalized, bins, effective_counts] {
            assert!(cases(&mut Random(1)).iter().any(|c| c.contains("None")));
        }
        // Signed zeros are among the inputs.
        assert!(
            normalized(&mut Random(1))
                .iter()
                .any(|c| c.contains("(2147483648,0)"))
        );
    }

    /// A changed Rust function, as Coq sees it: one output that is not the model's.
    #[test]
    fn coq_finds_a_changed_output() {
        let folder = tempfile::tempdir().unwrap();
        let Ok(coq) = Coq::find(folder.path()) else {
            println!("Coq is not installed: not tested here");
            return;
        };
        let mut sources = Sources::read(&crate::folder()).unwrap();
        let needed = sources.closure("model.BinIndex");
        sources.files.retain(|module, _| needed.contains(module));
        assert_eq!(coq.build(&sources).unwrap().problems, [""; 0]);
        let mut cases: Vec<String> = bins(&mut Random(1)).into_iter().take(100).collect();
        let outcome = recompute(&coq, &sources, "BinIndex", &cases).unwrap();
        assert!(differing(&outcome, &cases).unwrap() > 0);
        let changed = cases.iter_mut().find(|c| c.contains("Some 0")).unwrap();
        *changed = changed.replace("Some 0", "Some 1");
        let changed = changed.clone();
        let outcome = recompute(&coq, &sources, "BinIndex", &cases).unwrap();
        let problem = differing(&outcome, &cases).unwrap_err();
        assert!(
            problem.contains("1 of 100 outputs") && problem.contains(&changed),
            "{problem}"
        );
    }

    #[test]
    fn answers_are_read_as_numbers() {
        assert_eq!(
            numbers("     = 2000%Z\n     : Z\n     = 0%Z\n     : Z\n"),
            [2000, 0]
        );
    }
}
