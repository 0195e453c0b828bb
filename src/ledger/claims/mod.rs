//! Every claim of the paper, and the check that computes its verdict.
//!
//! A claim is a theorem, a lemma, an assumption, a table or figure whose numbers follow from
//! others, or a sentence with a number or a logical statement. Ids begin with the theorem, lemma
//! or assumption they belong to; `X` is for comparisons across experiments and `S` for the
//! structure of the argument. `T5'` is the theorem that stands in the place of theorem 5.
//!
//! What a claim says stands in `claims.txt`, in our words. A verdict is never written down: it is
//! what the check returns for the numbers it is given.

mod appendix;
mod assumptions;
mod author;
mod comparisons;
mod exact;
mod lemmas;
mod steps;
mod structure;
mod t1;
mod t2;
mod t2_intervals;
mod t2_simulated;
mod t3;
mod t4;
mod t5;
mod t6;
mod t7;
mod table;
mod theory;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use rayon::prelude::*;

use super::expr::{Expr, LedgerError, Reading, overlap, shown};
use super::paper::{Cell, DependencyGraph, Node, Paper, Printed, Value};
use super::recompute::{self, Kind, Recomputation};
use super::records::Records;
use super::text::{TextError, embedded, lines};
use super::theory::{Says, Theory};
use super::verdict::{Finding, Verdict, VerdictKind};
use crate::bounds::Witness;
use crate::math::Enclosure;

type Outcome = Result<Finding, LedgerError>;
type Check = fn(&Context<'_>) -> Outcome;

/// One claim of the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Stable id.
    pub id: String,
    /// Where it stands.
    pub place: String,
    /// What is claimed, in our words.
    pub statement: String,
    /// What it is claimed under, beyond the paper's setting.
    pub hypotheses: String,
    /// The best that can be said for it where it fails, and why that does not save it.
    pub defence: String,
    /// What to do about it, where there is something to do.
    pub advice: String,
}

const FILE: &str = "src/ledger/claims/claims.txt";
const CLAIMS: &str = include_str!("claims.txt");

/// The checks, by claim. A claim that is not here stands on its relations.
const CHECKS: [&[(&str, Check)]; 17] = [
    lemmas::CHECKS,
    t1::CHECKS,
    t2::CHECKS,
    t2_simulated::CHECKS,
    t2_intervals::CHECKS,
    t3::CHECKS,
    t4::CHECKS,
    t5::CHECKS,
    t6::CHECKS,
    t7::CHECKS,
    assumptions::CHECKS,
    comparisons::CHECKS,
    structure::CHECKS,
    theory::CHECKS,
    steps::CHECKS,
    appendix::CHECKS,
    table::CHECKS,
];

/// All claims, in the order of `claims.txt`: lemmas, theorems, their numbers, assumptions,
/// comparisons, structure.
pub fn all() -> &'static [Claim] {
    static ALL: LazyLock<Vec<Claim>> = LazyLock::new(|| embedded(parse(CLAIMS)));
    &ALL
}

fn parse(text: &'static str) -> Result<Vec<Claim>, TextError> {
    let mut claims: Vec<Claim> = Vec::new();
    for (line, content) in lines(text) {
        let error = |message: &str| TextError {
            file: FILE,
            line,
            message: message.to_owned(),
        };
        let Some(field) = content.strip_prefix("  ") else {
            if claims.iter().any(|claim| claim.id == content) {
                return Err(error("the claim is there twice"));
            }
            claims.push(Claim {
                id: content,
                ..Claim::default()
            });
            continue;
        };
        let claim = claims.last_mut().ok_or_else(|| error("no claim above"))?;
        let (name, value) = field
            .split_once(": ")
            .ok_or_else(|| error("a field is written `name: text`"))?;
        let slot = match name {
            "place" => &mut claim.place,
            "says" => &mut claim.statement,
            "given" => &mut claim.hypotheses,
            "defence" => &mut claim.defence,
            "advice" => &mut claim.advice,
            _ => return Err(error("fields are place, says, given, defence and advice")),
        };
        if !slot.is_empty() {
            return Err(error("the field is there twice"));
        }
        value.clone_into(slot);
    }
    Ok(claims)
}

/// The claim with an id, in any case; `T5′` and `T5’` are `T5'`, `T1″` is `T1''`.
pub fn find(id: &str) -> Option<&'static Claim> {
    let plain = id.replace(['′', '’'], "'").replace(['″', '"'], "''");
    all()
        .iter()
        .find(|claim| claim.id.eq_ignore_ascii_case(&plain))
}

/// What a check may look at.
struct Context<'a> {
    paper: Reading<'a>,
    theory: &'a Theory,
}

impl Context<'_> {
    /// Proved where the record of the theory has a theorem for it.
    fn by_theorem(&self, id: &str) -> Outcome {
        let theorems = self.theory.saying(id, Says::Proves);
        Ok(match theorems.is_empty() {
            true => Finding::not_reproducible("no theorem in the record decides it", Vec::new()),
            false => Finding::proved(self.theory, &theorems, Vec::new()),
        })
    }

    fn expr(&self, formula: &str) -> Result<Expr, LedgerError> {
        Expr::parse(formula, self.paper.paper())
    }

    /// Everything that the printed digits leave open for a formula.
    fn value(&self, formula: &str) -> Result<Enclosure, LedgerError> {
        self.expr(formula)?.value(&self.paper)
    }

    /// Whether one formula is certainly above another.
    fn exceeds(&self, one: &str, other: &str) -> Result<bool, LedgerError> {
        Ok(self.value(one)?.exceeds(&self.value(other)?))
    }

    /// Whether two formulas may have the same value.
    fn agree(&self, one: &str, other: &str) -> Result<bool, LedgerError> {
        Ok(overlap(&self.value(one)?, &self.value(other)?))
    }

    /// `formula = value`, to `places` digits.
    fn line(&self, formula: &str, places: u32) -> Result<String, LedgerError> {
        let expr = self.expr(formula)?;
        let value = expr.value(&self.paper)?;
        let written = expr.written_out(self.paper.paper());
        Ok(format!("{written} = {}", shown(&value, places)))
    }

    /// The value alone, to `places` digits.
    fn show(&self, formula: &str, places: u32) -> Result<String, LedgerError> {
        Ok(shown(&self.value(formula)?, places))
    }

    /// The number in a cell.
    fn number(&self, id: &str) -> Result<Printed, LedgerError> {
        Ok(self.paper.number(id)?)
    }

    /// A printed count; zero where it is no whole number, which no check accepts.
    fn count(&self, id: &str) -> Result<u64, LedgerError> {
        let value = self.number(id)?.value();
        Ok(u64::try_from(value.to_integer()).unwrap_or(0))
    }

    /// The words in a cell.
    fn words(&self, id: &str) -> &str {
        match self.paper.paper().cell(id).map(|cell| &cell.value) {
            Some(Value::Text(words)) => words,
            _ => "nothing",
        }
    }

    /// The rows of a table, as `label/row`.
    fn rows(&self, table: &str) -> Vec<String> {
        self.paper.paper().rows(table).to_vec()
    }

    /// A measurement that nobody can repeat: numbers, each with the words behind it.
    fn unpublished(&self, parts: &[(&str, &str)]) -> Outcome {
        let parts: Vec<String> = parts
            .iter()
            .map(|(id, words)| Ok(format!("{} {words}", self.number(id)?)))
            .collect::<Result<_, LedgerError>>()?;
        Ok(Finding::not_reproducible(parts.join(" on "), Vec::new()))
    }
}

/// `tab:thm5/eps=0.1` as `ε = 0.1`.
fn row_name(row: &str) -> String {
    let name = row.rsplit('/').next().unwrap_or(row);
    name.replace("eps", "ε").replace('=', " = ")
}

/// Refuted where a witness refutes.
fn of_witness(witness: Option<Witness>, summary: &str) -> Outcome {
    let Some(witness) = witness.filter(Witness::refutes) else {
        let reason = "neither a proof nor a counterexample in the searched range";
        return Ok(Finding::not_reproducible(reason, Vec::new()));
    };
    let hypotheses = witness.hypotheses.iter();
    let mut steps: Vec<String> = hypotheses
        .map(|h| format!("holds: {}", h.statement))
        .collect();
    let (found, claimed) = (witness.quantity.approx(), witness.bound.approx());
    steps.extend(witness.steps);
    let line = format!("{summary}: {found:.6} where {claimed:.6} is claimed");
    Ok(Finding::refuted(line, steps))
}

/// A claim with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: &'static Claim,
    /// Its verdict and evidence.
    pub finding: Finding,
    /// Refuted results that the paper's proof of this claim uses.
    pub refuted_premises: BTreeSet<Node>,
}

impl Judged {
    /// The kind of its verdict.
    pub fn kind(&self) -> VerdictKind {
        self.finding.verdict.kind()
    }

    /// The claim and its verdict as one JSON object, for reports and scripts.
    pub fn to_json(&self) -> serde_json::Value {
        let premises: Vec<String> = self.refuted_premises.iter().map(Node::to_string).collect();
        serde_json::json!({
            "id": self.claim.id,
            "place": self.claim.place,
            "statement": self.claim.statement,
            "hypotheses": self.claim.hypotheses,
            "verdict": self.finding.verdict,
            "summary": self.finding.verdict.to_string(),
            "evidence": self.finding.evidence,
            "cells": self.finding.cells,
            "refuted_premises": premises,
            "defence": self.claim.defence,
            "advice": self.claim.advice,
        })
    }
}

impl Claim {
    /// Whether it is a theorem, a lemma, an assumption, or what stands in a theorem's place, and
    /// not a sentence or a number about one.
    pub fn is_first_rank(&self) -> bool {
        node(self.id.trim_end_matches('\'')).is_some() || self.is_further()
    }

    /// Whether it is one of the further theorems, `E1` to `E5`.
    fn is_further(&self) -> bool {
        let number = self.id.strip_prefix('E');
        number.is_some_and(|n| n.parse::<u8>().is_ok())
    }

    /// Computes the verdict. What cannot be evaluated is a verdict too: `NotReproducible`.
    pub fn judge(
        &self,
        paper: &Paper,
        records: &Records,
        recomputations: &[Recomputation],
    ) -> Finding {
        self.judge_by(Theory::committed(), paper, records, recomputations)
    }

    fn judge_by(
        &self,
        theory: &Theory,
        paper: &Paper,
        records: &Records,
        recomputations: &[Recomputation],
    ) -> Finding {
        let context = Context {
            paper: Reading::new(paper),
            theory,
        };
        let mut checks = CHECKS.iter().copied().flatten();
        let outcome = match checks.find(|(id, _)| *id == self.id) {
            Some((_, check)) => check(&context),
            None => numbers(&self.id, recomputations, &context),
        };
        let mut finding = outcome.unwrap_or_else(|error| {
            Finding::not_reproducible(format!("the check has no value: {error}"), Vec::new())
        });
        self.settle(&mut finding, theory, records);
        finding.evidence.extend(records.lines(self));
        finding.cells = context.paper.cells_read();
        finding
    }
}

impl Claim {
    /// What the theorems add: a claim that was checked is proved where a theorem proves it, and a
    /// refuted one names those that refute it. Nothing else is turned: a theorem may be about a part
    /// of the claim only.
    fn settle(&self, finding: &mut Finding, theory: &Theory, records: &Records) {
        let proofs = theory.saying(&self.id, Says::Proves);
        let proved = || Finding::proved(theory, &proofs, Vec::new()).verdict;
        let against = theory.saying(&self.id, Says::Refutes);
        let against: Vec<String> = against.iter().map(|t| t.name.clone()).collect();
        match &mut finding.verdict {
            Verdict::DependsOnReading { readings } if !proofs.is_empty() => {
                for reading in readings {
                    if matches!(reading.verdict, Verdict::Checked { .. }) {
                        reading.verdict = proved();
                    }
                }
            }
            Verdict::DependsOnReading { readings } if !against.is_empty() => {
                for reading in readings {
                    if let Verdict::Refuted { theorems, .. } = &mut reading.verdict {
                        theorems.clone_from(&against);
                    }
                }
            }
            Verdict::Checked { domain } if !proofs.is_empty() => {
                let line = format!("checked besides: {domain}");
                let mut evidence = std::mem::take(&mut finding.evidence);
                evidence.push(line);
                *finding = Finding::proved(theory, &proofs, evidence);
            }
            Verdict::Refuted { theorems, .. } => *theorems = against,
            _ => {}
        }
        let mut caveats = BTreeSet::new();
        let mut standing = None;
        for theorem in theory.about(&self.id) {
            let (says, place) = (
                theorem.says.name(),
                format!("{}:{}", theorem.file, theorem.line),
            );
            finding.evidence.push(format!(
                "theorem {} ({place}) {says}: {}",
                theorem.name, theorem.words
            ));
            caveats.extend(&theorem.caveats);
            standing = Some(theory.standing(records.theory));
        }
        for name in caveats {
            let meaning = theory.caveats.get(name).map_or("", String::as_str);
            finding.evidence.push(format!("caveat {name}: {meaning}"));
        }
        finding.evidence.extend(standing);
    }
}

fn numbers(id: &str, recomputations: &[Recomputation], context: &Context<'_>) -> Outcome {
    let mut evidence = Vec::new();
    let mut differing = Vec::new();
    let (mut cells, mut repeats) = (BTreeSet::new(), 0);
    for entry in recomputations.iter().filter(|entry| entry.claim == id) {
        let outcome = entry.compare(&context.paper)?;
        cells.insert(outcome.cell.clone());
        repeats += usize::from(entry.kind == Kind::Repeat);
        let sign = if outcome.agrees { "agrees" } else { "differs" };
        let shown = outcome.shown();
        let cell = context.paper.paper().cell(&outcome.cell);
        let cell = cell.map_or_else(|| outcome.cell.clone(), Cell::whereabouts);
        if entry.kind == Kind::Derived || !outcome.agrees {
            evidence.push(format!(
                "{cell}: printed {}; {} = {shown}; {sign}",
                outcome.printed, outcome.formula
            ));
        }
        if !outcome.agrees {
            differing.push((cell, outcome.printed, shown));
        }
    }
    if repeats > 0 {
        evidence.push(format!("{repeats} repetitions compared"));
    }
    Ok(match differing.first() {
        None if cells.is_empty() => {
            Finding::not_reproducible("no number of it follows from others", evidence)
        }
        None => {
            let what = match cells.len() {
                1 => "one number agrees within rounding".to_owned(),
                n => format!("{n} numbers agree within rounding"),
            };
            Finding::reproduced(what, evidence)
        }
        Some((cell, printed, shown)) => Finding::inconsistent(
            format!("{printed} ({cell})"),
            format!(
                "{shown}; {} of {} numbers differ",
                distinct(&differing),
                cells.len()
            ),
            evidence,
        ),
    })
}

fn distinct<A, B>(differing: &[(String, A, B)]) -> usize {
    differing
        .iter()
        .map(|(cell, _, _)| cell)
        .collect::<BTreeSet<_>>()
        .len()
}

/// The assumption, lemma or theorem that a claim is, where it is one.
pub fn node(id: &str) -> Option<Node> {
    let number = id.get(1..)?.parse().ok()?;
    match id.get(..1)? {
        "A" => Some(Node::Assumption(number)),
        "L" => Some(Node::Lemma(number)),
        "T" => Some(Node::Theorem(number)),
        _ => None,
    }
}

/// Judges every claim, then marks those whose proof in the paper uses a refuted result.
pub fn judge_all(paper: &Paper, records: &Records) -> Vec<Judged> {
    judge_each(paper, records, |_| true, |_| ())
}

/// [`judge_all`] for the claims that are `wanted`, telling `done` of each when its verdict is there.
pub fn judge_each(
    paper: &Paper,
    records: &Records,
    wanted: impl Fn(&Claim) -> bool,
    done: impl Fn(&Claim) + Sync,
) -> Vec<Judged> {
    let graph = DependencyGraph::published();
    let premises = |claim: &Claim| graph.proof_of(&claim.id, node(&claim.id));
    let wanted: Vec<&Claim> = all().iter().filter(|claim| wanted(claim)).collect();
    let needed: BTreeSet<Node> = wanted.iter().flat_map(|claim| premises(claim)).collect();
    // What a proof rests on is judged too, wanted or not.
    let others = all().iter().filter(|claim| {
        let needed = node(&claim.id).is_some_and(|node| needed.contains(&node));
        needed && !wanted.iter().any(|own| own.id == claim.id)
    });
    let claims: Vec<&Claim> = wanted.iter().copied().chain(others).collect();
    let recomputations = recompute::all();
    let mut judged: Vec<Judged> = claims
        .par_iter()
        .with_max_len(1)
        .map(|claim| {
            let finding = claim.judge(paper, records, &recomputations);
            done(claim);
            Judged {
                claim,
                finding,
                refuted_premises: BTreeSet::new(),
            }
        })
        .collect();
    let refuted: BTreeSet<Node> = judged
        .iter()
        .filter(|entry| entry.finding.verdict.kind() == VerdictKind::Refuted)
        .filter_map(|entry| node(&entry.claim.id))
        .collect();
    judged.truncate(wanted.len());
    for entry in &mut judged {
        entry.refuted_premises = premises(entry.claim)
            .intersection(&refuted)
            .copied()
            .collect();
    }
    judged
}

/// How many claims have each kind of verdict.
pub fn counts(judged: &[Judged]) -> BTreeMap<VerdictKind, usize> {
    let mut counts: BTreeMap<VerdictKind, usize> =
        VerdictKind::ALL.iter().map(|kind| (*kind, 0)).collect();
    for entry in judged {
        *counts.entry(entry.finding.verdict.kind()).or_default() += 1;
    }
    counts
}

/// Every verdict without records, computed once for all tests that look at them.
#[cfg(test)]
pub(crate) fn judged_without_records() -> Vec<Judged> {
    static JUDGED: LazyLock<Vec<Judged>> =
        LazyLock::new(|| judge_all(&Paper::published(), &Records::none()));
    JUDGED.clone()
}

#[cfg(test)]
mod tests;
