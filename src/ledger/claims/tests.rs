//! Each check that can go either way is seen going the other way.

use super::*;
use crate::ledger::paper::{Printed, Source};

fn kind(id: &str, paper: &Paper) -> VerdictKind {
    let claim = find(id).unwrap_or_else(|| panic!("no claim {id}"));
    let finding = claim.judge(paper, &Records::none(), &recompute::all());
    finding.verdict.kind()
}

fn with(paper: &Paper, cells: &[(&str, &str)]) -> Paper {
    cells.iter().fold(paper.clone(), |paper, (id, literal)| {
        let source = paper.number(id).unwrap().source();
        let printed = Printed::parse(literal, source).unwrap();
        paper.with(id, printed).unwrap()
    })
}

/// A claim, its verdict as published, other numbers, and the verdict with them.
type Case = (
    &'static str,
    VerdictKind,
    &'static [(&'static str, &'static str)],
    VerdictKind,
);

/// Claims that the published numbers contradict, and numbers with which they would stand.
#[test]
fn altered_numbers_turn_verdicts() {
    use VerdictKind::{DependsOnReading, Inconsistent, NotReproducible, Reproduced, Vacuous};
    let cases: &[Case] = &[
        (
            "T1.constant",
            Inconsistent,
            &[("sec:thm1/C", "~3.09"), ("app:proof-thm1/C", "~3.09")],
            Reproduced,
        ),
        (
            "T1.observed",
            NotReproducible,
            &[("sec:thm1/C-observed", "~0.14")],
            Reproduced,
        ),
        (
            "T1.vacuous",
            Vacuous,
            &[("sec:exp-thm1/bound", "~0.934")],
            Reproduced,
        ),
        (
            "T1.vacuous",
            Vacuous,
            &[("sec:exp-thm1/bound", "~0.134")],
            Inconsistent,
        ),
        (
            "T1.bernstein",
            NotReproducible,
            &[("fig:calibration/bernstein", "0.859")],
            Inconsistent,
        ),
        (
            "T1.preserves",
            DependsOnReading,
            &[("sec:exp-thm1/ece", "0.130")],
            Reproduced,
        ),
        (
            "T2.within",
            Reproduced,
            &[("tab:thm2/M=8/p95", "0.669")],
            Inconsistent,
        ),
        (
            "T3.condition",
            DependsOnReading,
            &[("app:proof-thm3/factor", "0.5")],
            Reproduced,
        ),
        (
            "T3.hidden",
            NotReproducible,
            &[("sec:exp-thm3/train", "0.9379")],
            Reproduced,
        ),
        (
            "T3.few-shot",
            Reproduced,
            &[("sec:limitations-assumptions/few-shot", "900")],
            Inconsistent,
        ),
        (
            "T1.step3",
            DependsOnReading,
            &[("sec:thm1/C", "~0.42")],
            Inconsistent,
        ),
        (
            "T3.overparameterized",
            DependsOnReading,
            &[
                ("sec:exp-thm3/ratio/N", "1000"),
                ("sec:exp-thm3/samples-per-dimension", "0.7×"),
            ],
            Reproduced,
        ),
        (
            "T6.at-five",
            DependsOnReading,
            &[("tab:thm6/K=5/ece", "0.185")],
            Reproduced,
        ),
        (
            "T7.floor",
            DependsOnReading,
            &[("fig:uncertainty/aleatoric", "~0.020")],
            Reproduced,
        ),
        (
            "T7.floor",
            DependsOnReading,
            &[("tab:thm7/K=1/aleatoric", "0.0296")],
            Inconsistent,
        ),
        (
            "A6.softmax",
            Inconsistent,
            &[("sec:assumption-validation/A6/floor", "0.17")],
            DependsOnReading,
        ),
        (
            "X.same-domain",
            NotReproducible,
            &[("sec:limitations-ack/bert/accuracy", "96.0%")],
            Reproduced,
        ),
        (
            "X.baselines",
            Reproduced,
            &[("sec:limitations-ack/baselines", "1")],
            Inconsistent,
        ),
        (
            "T3.stability",
            NotReproducible,
            &[("sec:exp-thm3/lambda", "0.1000")],
            Reproduced,
        ),
        (
            "T3.shrinks",
            Reproduced,
            &[("tab:thm3/N=3003/bound", "0.203")],
            Inconsistent,
        ),
        (
            "T3.accuracy",
            Reproduced,
            &[
                ("sec:exp-thm3/test-size", "3"),
                ("sec:exp-thm3/trials", "1"),
            ],
            Inconsistent,
        ),
        (
            "T4.pairing",
            DependsOnReading,
            &[("sec:exp-thm4/pairs", "4,500")],
            Reproduced,
        ),
        (
            "T4.pairing",
            DependsOnReading,
            &[("sec:exp-thm4/pairs", "4,951")],
            Inconsistent,
        ),
        (
            "T4.sum",
            DependsOnReading,
            &[("sec:exp-thm4/lower", "0.271")],
            Reproduced,
        ),
        (
            "T4.row",
            DependsOnReading,
            &[("tab:theory-vs-empirical/T4/ece", "0.578")],
            Reproduced,
        ),
        (
            "T4.figure",
            DependsOnReading,
            &[("fig:information/I(E;Y)", "0.399")],
            Inconsistent,
        ),
        (
            "T5.four-percent",
            DependsOnReading,
            &[("sec:thm5/ratio-at-all-levels", "~40%")],
            Inconsistent,
        ),
        (
            "T4.trend",
            NotReproducible,
            &[("fig:information/trend/intercept", "0.037")],
            Inconsistent,
        ),
        (
            "T4.maximum",
            Reproduced,
            &[("tab:thm4/H(Y)/value", "0.113")],
            Inconsistent,
        ),
        (
            "T5.items",
            DependsOnReading,
            &[("sec:exp-thm5/K", "5")],
            Reproduced,
        ),
        (
            "T5.delta",
            Reproduced,
            &[("sec:exp-thm5/delta", "2.0")],
            Inconsistent,
        ),
        (
            "T5.vacuous",
            Vacuous,
            &[("tab:thm5/eps=0.5/bound", "1.162")],
            Reproduced,
        ),
        (
            "T6.sigma",
            Inconsistent,
            &[("tab:thm6/K=1/bound", "1.28")],
            Reproduced,
        ),
        (
            "T6.compared",
            Reproduced,
            &[("fig:sample-complexity/uniform-from", "7")],
            Inconsistent,
        ),
        (
            "T6.plateau",
            Reproduced,
            &[("tab:thm6/K=10/ece", "0.193")],
            Inconsistent,
        ),
        (
            "T7.stable",
            Inconsistent,
            &[
                ("tab:thm7/K=1/aleatoric", "0.0420"),
                ("tab:thm7/K=2/aleatoric", "0.0420"),
                ("tab:thm7/K=3/aleatoric", "0.0420"),
            ],
            Reproduced,
        ),
        (
            "T7.caption",
            DependsOnReading,
            &[("tab:thm7/K=5/epistemic", "0.0107")],
            Reproduced,
        ),
        (
            "T7.spreads",
            Reproduced,
            &[("tab:thm7/K=2/total.sd", "0.284")],
            Inconsistent,
        ),
        (
            "T7.threshold",
            Vacuous,
            &[("tab:thm7/K=2/error", "12.002%")],
            Inconsistent,
        ),
        (
            "A6",
            Inconsistent,
            &[("sec:assumption-validation/A6/floor", "0.17")],
            Reproduced,
        ),
        (
            "A6.entropy",
            Inconsistent,
            &[("sec:exp-thm4/H(Y|E)", "1.358")],
            Reproduced,
        ),
        (
            "A6.loss",
            DependsOnReading,
            &[("sec:exp-thm3/train", "0.4379")],
            Reproduced,
        ),
        (
            "T2.rate",
            Reproduced,
            &[("tab:thm2/M=64/mean", "0.018")],
            Inconsistent,
        ),
        (
            "T6.decay",
            Reproduced,
            &[("tab:thm6/K=10/ece", "0.293")],
            Inconsistent,
        ),
        (
            "A5.sources",
            Reproduced,
            &[("sec:assumption-validation/A5/K_max-scaling", "8")],
            Inconsistent,
        ),
        (
            "X.consistent",
            Reproduced,
            &[("sec:empirical-overview/qwen/accuracy", "99.8%")],
            Inconsistent,
        ),
        (
            "X.language-model-ece",
            DependsOnReading,
            &[("sec:empirical-overview/qwen/ece", "59.7%")],
            Reproduced,
        ),
        (
            "X.language-model",
            DependsOnReading,
            &[("sec:empirical-overview/qwen/accuracy", "99.8%")],
            Inconsistent,
        ),
        (
            "X.two-eces",
            NotReproducible,
            &[("sec:advantages/lpf/ece", "18.5%")],
            Reproduced,
        ),
        (
            "X.improvement",
            DependsOnReading,
            &[("sec:cross-domain/improvement", "+0.3%")],
            Inconsistent,
        ),
        (
            "X.lists",
            Reproduced,
            &[("sec:architecture/stages", "5")],
            Inconsistent,
        ),
    ];
    let paper = Paper::published();
    for (id, before, cells, after) in cases {
        assert_eq!(kind(id, &paper), *before, "{id} as published");
        assert_eq!(
            kind(id, &with(&paper, cells)),
            *after,
            "{id} with {cells:?}"
        );
    }
}

#[test]
fn a_check_without_a_value_is_not_reproducible() {
    let paper = with(&Paper::published(), &[("tab:thm3/N=4200/N", "0")]);
    assert_eq!(kind("T3.bounds", &paper), VerdictKind::NotReproducible);
}

#[test]
fn only_premises_of_the_proof_that_are_refuted_are_named() {
    let judged = judged_without_records();
    let of = |id: &str| {
        let entry = judged.iter().find(|entry| entry.claim.id == id).unwrap();
        let premises = entry.refuted_premises.iter().map(Node::to_string);
        premises.collect::<Vec<_>>()
    };
    assert_eq!(of("T3"), ["L6", "L7"]);
    assert_eq!(of("T6"), ["T1"]);
    // Theorem 4 has two halves with a proof each.
    assert_eq!(
        (of("T4"), of("T4.moreover")),
        (vec!["L5".to_owned()], vec!["T1".to_owned()])
    );
    // One claim alone is judged as among all, with what its proof rests on.
    let (paper, records) = (Paper::published(), Records::none());
    let alone = judge_each(&paper, &records, |claim| claim.id == "T6", |_| ());
    let [alone] = &alone[..] else { panic!() };
    let among = judged.iter().find(|entry| entry.claim.id == "T6").unwrap();
    assert_eq!(alone.to_json(), among.to_json());
    // The figure lets theorem 7 rest on theorem 1; its proof does not use it.
    assert!(of("T7").is_empty() && of("T2").is_empty() && of("T1.bound").is_empty());
    let json = judged
        .iter()
        .find(|e| e.claim.id == "T3")
        .unwrap()
        .to_json();
    assert_eq!(json["verdict"]["kind"], "Refuted");
    assert_eq!(json["refuted_premises"], serde_json::json!(["L6", "L7"]));
    assert!(json["cells"].as_array().unwrap().len() >= 3);
}

#[test]
fn every_claim_has_a_check_or_relations_and_every_check_a_claim() {
    let relations = recompute::all();
    let checks: Vec<&str> = CHECKS
        .iter()
        .copied()
        .flatten()
        .map(|(id, _)| *id)
        .collect();
    for claim in all() {
        let own = checks.iter().filter(|id| **id == claim.id).count();
        let numbers = relations.iter().any(|entry| entry.claim == claim.id);
        assert!(own == 1 || (own == 0 && numbers), "{}", claim.id);
        assert!(
            !claim.statement.is_empty() && !claim.place.is_empty(),
            "{}",
            claim.id
        );
    }
    for id in checks {
        assert!(all().iter().any(|claim| claim.id == id), "{id} is no claim");
    }
}

#[test]
fn an_error_in_the_text_names_its_line() {
    for (text, message) in [
        ("  place: here\n", "1: no claim above"),
        ("T1\n  says nothing\n", "2: a field is written"),
        ("T1\n\n  why: because\n", "3: fields are"),
        ("T1\n  says: a\n  says: b\n", "3: the field is there twice"),
        ("T1\n  says: a\nT1\n", "3: the claim is there twice"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(&format!("{FILE}:{message}")), "{error}");
    }
}

#[test]
fn primes_may_be_typed_in_any_way() {
    for (typed, id) in [
        ("T5'", "T5'"),
        ("t5′", "T5'"),
        ("T5’", "T5'"),
        ("T1″", "T1''"),
        ("t1''", "T1''"),
    ] {
        assert_eq!(find(typed).unwrap().id, id);
    }
    assert!(find("T9'").is_none());
}

#[test]
fn a_record_adds_evidence_and_turns_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"commit": "abc", "properties": [
        {"name": "l2.tail", "claims": ["L2"], "passed": false, "trials": 4}]}"#;
    std::fs::write(folder.path().join("properties.json"), text).unwrap();
    let records = Records::read(folder.path());
    let claim = find("L2").unwrap();
    let paper = Paper::published();
    let without = claim.judge(&paper, &Records::none(), &[]);
    let with = claim.judge(&paper, &records, &[]);
    assert_eq!(without.verdict, with.verdict);
    assert!(
        with.evidence
            .iter()
            .any(|line| line.contains("l2.tail FAILED"))
    );
}

#[test]
fn settings_keep_their_source_in_these_tests() {
    let paper = with(&Paper::published(), &[("sec:exp-thm1/K_avg", "4")]);
    assert_eq!(
        paper.number("sec:exp-thm1/K_avg").unwrap().source(),
        Source::Setting
    );
}

/// The reading that is taken makes the claim true; where none does, they all fail alike.
#[test]
fn the_reading_that_is_taken_is_the_kindest() {
    use VerdictKind::{Checked, Proved, Reproduced, Vacuous};
    let mut seen = 0;
    for entry in judged_without_records() {
        if let Verdict::DependsOnReading { readings } = &entry.finding.verdict {
            let kinds: Vec<_> = readings.iter().map(|r| r.verdict.kind()).collect();
            assert!(
                [Proved, Checked, Reproduced, Vacuous].contains(&kinds[0]),
                "{}: {kinds:?}",
                entry.claim.id
            );
            assert!(kinds.iter().all(|kind| kinds[0] <= *kind) && kinds[1] > kinds[0]);
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen}");
}

/// Rows that differ would be measurements with that many items; as printed they are not taken for such.
#[test]
fn identical_rows_are_read_as_capped_ones() {
    let readings = |paper: &Paper| {
        let claim = find("T6.identical").unwrap();
        let finding = claim.judge(paper, &Records::none(), &[]);
        match finding.verdict {
            Verdict::DependsOnReading { readings } => readings[0].reading.clone(),
            other => panic!("{other}"),
        }
    };
    let paper = Paper::published();
    assert!(readings(&paper).contains("at most"));
    let differing = with(&paper, &[("tab:thm6/K=15/ece.sd", "0.011")]);
    assert!(readings(&differing).contains("for each entity"));
}

/// "Vacuous" may be the word for a rule that learns nothing; that no bound can be given fails at the printed
/// N and would hold for one example.
#[test]
fn averaging_is_bounded_by_lemma_2_for_many_examples() {
    use VerdictKind::{Refuted, Reproduced, Vacuous};
    let kinds = |paper: &Paper| {
        let claim = find("X.averaging").unwrap();
        match claim.judge(paper, &Records::none(), &[]).verdict {
            Verdict::DependsOnReading { readings } => {
                let kinds = readings.iter().map(|r| r.verdict.kind());
                kinds.collect::<Vec<_>>()
            }
            other => panic!("{other}"),
        }
    };
    let paper = Paper::published();
    assert_eq!(kinds(&paper), [Vacuous, Refuted]);
    let one = with(&paper, &[("sec:exp-thm3/N", "1")]);
    assert_eq!(kinds(&one), [Reproduced, Vacuous]);
}

#[test]
fn every_claim_that_fails_is_defended() {
    for entry in judged_without_records() {
        let kind = entry.finding.verdict.kind();
        let fails = matches!(kind, VerdictKind::Inconsistent | VerdictKind::Refuted);
        assert_eq!(fails, !entry.claim.defence.is_empty(), "{}", entry.claim.id);
    }
}

#[test]
fn one_of_the_seven_theorems_holds_as_stated() {
    let judged = judged_without_records();
    let theorems = judged
        .iter()
        .filter(|entry| matches!(node(&entry.claim.id), Some(Node::Theorem(_))));
    let kinds: Vec<_> = theorems
        .map(|entry| (entry.claim.id.as_str(), entry.finding.verdict.kind()))
        .collect();
    let of = |kind| {
        kinds
            .iter()
            .filter(move |(_, k)| *k == kind)
            .map(|(id, _)| *id)
    };
    assert_eq!(kinds.len(), 7);
    assert_eq!(of(VerdictKind::Proved).collect::<Vec<_>>(), ["T2"]);
    assert_eq!(
        of(VerdictKind::DependsOnReading).collect::<Vec<_>>(),
        ["T7"]
    );
    assert_eq!(of(VerdictKind::Refuted).count(), 5);
}
