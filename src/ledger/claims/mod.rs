//! Every claim of the paper, and the check that computes its verdict.
//!
//! A claim is a theorem, a lemma, an assumption, a table or figure whose numbers follow from
//! others, or a sentence with a number or a logical statement. Ids begin with the theorem, lemma
//! or assumption they belong to; `X` is for comparisons across experiments and `S` for the
//! structure of the argument.
//!
//! Statements are in our words. A verdict is never written down: it is what the check returns for
//! the numbers it is given.

mod assumptions;
mod calibration;
mod comparison;
mod generalization;
mod information;
mod results;
mod robustness;
mod samples;
mod sampling;
mod simulated;
mod structure;
mod uncertainty;

use std::collections::{BTreeMap, BTreeSet};

use super::expr::{Expr, LedgerError, Reading, shown};
use super::paper::{DependencyGraph, Node, Paper};
use super::recompute::{self, Kind, Recomputation};
use super::records::Records;
use super::verdict::{Finding, VerdictKind};
use crate::math::Enclosure;

type Own = fn(&Context<'_>) -> Result<Finding, LedgerError>;

/// How a verdict is computed.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// All recomputations that carry the claim's id must agree.
    Numbers,
    /// A check of its own.
    Own(Own),
}

/// One claim of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Stable id.
    pub id: &'static str,
    /// Where it stands.
    pub place: &'static str,
    /// What is claimed, in our words.
    pub statement: &'static str,
    /// What it is claimed under, beyond the paper's setting.
    pub hypotheses: &'static str,
    /// How the verdict is computed.
    pub check: Check,
    /// What to do about it.
    pub advice: &'static str,
}

/// What a check may look at.
pub struct Context<'a> {
    /// The paper's numbers.
    pub paper: Reading<'a>,
    /// What the last proof and property runs reported.
    pub records: &'a Records,
}

impl Context<'_> {
    fn value(&self, expr: &Expr) -> Result<Enclosure, LedgerError> {
        expr.value(&self.paper)
    }

    /// `formula = value`, to `places` digits.
    fn line(&self, expr: &Expr, places: u32) -> Result<String, LedgerError> {
        let value = self.value(expr)?;
        let written = expr.written_out(self.paper.paper());
        Ok(format!("{written} = {}", shown(&value, places)))
    }

    /// The value alone, to `places` digits.
    fn show(&self, expr: &Expr, places: u32) -> Result<String, LedgerError> {
        Ok(shown(&self.value(expr)?, places))
    }

    /// The digits as printed.
    fn print(&self, id: &str) -> Result<String, LedgerError> {
        Ok(self.paper.number(id)?.to_string())
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// Its verdict and evidence.
    pub finding: Finding,
    /// Refuted results that it rests on, by what the paper says about dependencies.
    pub rests_on: BTreeSet<Node>,
}

impl Judged {
    /// The claim and its verdict as one JSON object, for reports and scripts.
    pub fn to_json(&self) -> serde_json::Value {
        let rests_on: Vec<String> = self.rests_on.iter().map(Node::to_string).collect();
        serde_json::json!({
            "id": self.claim.id,
            "place": self.claim.place,
            "statement": self.claim.statement,
            "hypotheses": self.claim.hypotheses,
            "verdict": self.finding.verdict,
            "summary": self.finding.verdict.to_string(),
            "evidence": self.finding.evidence,
            "cells": self.finding.cells,
            "rests_on": rests_on,
            "advice": self.claim.advice,
        })
    }
}

/// All claims, in the order of the theorems, then assumptions, comparisons and structure.
pub fn all() -> Vec<Claim> {
    [
        results::CLAIMS,
        calibration::CLAIMS,
        sampling::CLAIMS,
        simulated::CLAIMS,
        generalization::CLAIMS,
        information::CLAIMS,
        robustness::CLAIMS,
        samples::CLAIMS,
        uncertainty::CLAIMS,
        assumptions::CLAIMS,
        comparison::CLAIMS,
        structure::CLAIMS,
    ]
    .concat()
}

impl Claim {
    /// Computes the verdict. What cannot be evaluated is a verdict too: `NotReproducible`.
    pub fn judge(
        &self,
        paper: &Paper,
        records: &Records,
        recomputations: &[Recomputation],
    ) -> Finding {
        let context = Context {
            paper: Reading::new(paper),
            records,
        };
        let outcome = match self.check {
            Check::Numbers => numbers(self.id, recomputations, &context),
            Check::Own(check) => check(&context),
        };
        let mut finding = outcome.unwrap_or_else(|error| {
            Finding::not_reproducible(format!("the check has no value: {error}"), Vec::new())
        });
        finding.evidence.extend(records.lines(self.id));
        finding.cells = context.paper.cells_read();
        finding
    }
}

fn numbers(
    id: &str,
    recomputations: &[Recomputation],
    context: &Context<'_>,
) -> Result<Finding, LedgerError> {
    let mut evidence = Vec::new();
    let mut differing = Vec::new();
    let (mut cells, mut repeats) = (BTreeSet::new(), 0);
    for entry in recomputations.iter().filter(|entry| entry.claim == id) {
        let outcome = entry.compare(&context.paper)?;
        cells.insert(outcome.cell.clone());
        repeats += usize::from(entry.kind == Kind::Repeat);
        let sign = if outcome.agrees { "agrees" } else { "differs" };
        let shown = outcome.shown();
        if entry.kind == Kind::Derived || !outcome.agrees {
            evidence.push(format!(
                "{}: printed {}; {} = {shown}; {sign}",
                outcome.cell, outcome.printed, outcome.formula
            ));
        }
        if !outcome.agrees {
            differing.push((outcome.cell, outcome.printed, shown));
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
                1 => "one cell agrees within rounding".to_owned(),
                n => format!("{n} cells agree within rounding"),
            };
            Finding::reproduced(what, evidence)
        }
        Some((cell, printed, shown)) => Finding::inconsistent(
            format!("{printed} ({cell})"),
            format!(
                "{shown}; {} of {} cells differ",
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

/// Judges every claim, then marks what rests on a result that fell.
///
/// A result has *fallen* where it is refuted or its own numbers contradict it; an assumption that
/// merely could not be measured has not. Only whole results (`T1`, not `T1.bound`) are marked:
/// arithmetic on printed numbers rests on nothing.
pub fn judge_all(paper: &Paper, records: &Records) -> Vec<Judged> {
    judge_each(paper, records, |_| ())
}

/// [`judge_all`], telling `done` of each claim when its verdict is there.
pub fn judge_each(paper: &Paper, records: &Records, done: impl Fn(&Claim)) -> Vec<Judged> {
    let recomputations = recompute::all();
    let claims = all();
    let findings: Vec<Finding> = claims
        .iter()
        .map(|claim| {
            let finding = claim.judge(paper, records, &recomputations);
            done(claim);
            finding
        })
        .collect();
    let fallen: BTreeSet<Node> = claims
        .iter()
        .zip(&findings)
        .filter(|(_, finding)| {
            matches!(
                finding.verdict.kind(),
                VerdictKind::Refuted | VerdictKind::Inconsistent
            )
        })
        .filter_map(|(claim, _)| node(claim.id))
        .collect();
    let marked = DependencyGraph::published().resting_on(&fallen);
    claims
        .into_iter()
        .zip(findings)
        .map(|(claim, finding)| {
            let rests_on = node(claim.id)
                .and_then(|node| marked.get(&node).cloned())
                .unwrap_or_default();
            Judged {
                claim,
                finding,
                rests_on,
            }
        })
        .collect()
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

#[cfg(test)]
mod tests;
