//! Against output in the format of Kani's driver; see `tests/fixtures/kani/README.md`.

use super::*;

fn one(text: &str) -> Checked {
    let mut verdicts = parse(text);
    assert_eq!(verdicts.len(), 1);
    verdicts.pop_first().unwrap().1
}

#[test]
fn success_with_every_cover_satisfied_is_proved() {
    let checked = one(include_str!("../../../tests/fixtures/kani/success.txt"));
    assert_eq!(checked.verdict, Verdict::Proved);
    assert_eq!(checked.covers, Some((2, 2)));
    assert_eq!(checked.seconds, Some(4.251));
}

#[test]
fn an_expected_panic_is_proved_and_its_absence_is_not() {
    let checked = one(include_str!(
        "../../../tests/fixtures/kani/should_panic.txt"
    ));
    assert_eq!(checked.verdict, Verdict::Proved);
    let checked = one(include_str!("../../../tests/fixtures/kani/no_panic.txt"));
    let expected = "encountered no panics, but at least one was expected";
    assert_eq!(checked.verdict, Verdict::Failed(expected.into()));
}

#[test]
fn a_failed_check_is_named() {
    let checked = one(include_str!("../../../tests/fixtures/kani/failure.txt"));
    let check = "assertion failed: p >= S::zero() && p <= S::one()";
    assert_eq!(checked.verdict, Verdict::Failed(check.into()));
    assert_eq!(checked.seconds, Some(12.5));
}

#[test]
fn an_unsatisfied_cover_is_not_a_proof() {
    let checked = one(include_str!("../../../tests/fixtures/kani/uncovered.txt"));
    assert_eq!(checked.verdict, Verdict::Uncovered);
    assert_eq!(checked.covers, Some((1, 2)));
}

#[test]
fn a_timeout_is_neither_success_nor_failure() {
    let checked = one(include_str!("../../../tests/fixtures/kani/timeout.txt"));
    assert_eq!(checked.verdict, Verdict::Timeout);
    let checked = one(include_str!("../../../tests/fixtures/kani/broken.txt"));
    assert_eq!(checked.verdict, Verdict::Broken);
}

#[test]
fn a_harness_without_a_result_is_missing() {
    let text = include_str!("../../../tests/fixtures/kani/missing.txt");
    let names = ["first", "second", "third"].map(|name| format!("proofs::kish::{name}"));
    let verdicts = judge(&names, text);
    let said = |name: &str| verdicts[&format!("proofs::kish::{name}")].verdict.clone();
    assert_eq!(said("first"), Verdict::Proved);
    // Begun, but the output ends.
    assert_eq!(said("second"), Verdict::Missing);
    // Never begun.
    assert_eq!(said("third"), Verdict::Missing);
}

#[test]
fn a_solver_that_gives_no_answer_is_an_error_and_no_refutation() {
    let checked = one(include_str!("../../../tests/fixtures/kani/error.txt"));
    assert!(matches!(checked.verdict, Verdict::Error(_)), "{checked:?}");
    // Nor is a failure that names no check.
    let empty = "Checking harness a::b...\nVERIFICATION:- FAILED\n";
    assert!(matches!(one(empty).verdict, Verdict::Error(_)));
}

/// An optimized program can have one cover in several places of which some are out of reach.
#[test]
fn a_doubled_cover_counts_once() {
    let checked = one(include_str!("../../../tests/fixtures/kani/doubled.txt"));
    assert_eq!(checked.verdict, Verdict::Proved);
    assert_eq!(checked.covers, Some((2, 2)));
}

#[test]
fn colours_do_not_hide_a_verdict() {
    let coloured = "Checking harness a::b...\nFailed Checks: \u{1b}[1mx\u{1b}[0m\n\
                    VERIFICATION:- \u{1b}[31mFAILED\u{1b}[0m\n";
    assert_eq!(one(coloured).verdict, Verdict::Failed("x".into()));
    let coloured = "Checking harness a::b...\nVERIFICATION:- \u{1b}[32mSUCCESSFUL\u{1b}[0m\n";
    assert_eq!(one(coloured).verdict, Verdict::Proved);
}

#[test]
fn the_version_is_compared_as_a_number() {
    for printed in [
        "Kani Rust Verifier 0.68.0 (cargo plugin)",
        "Kani Rust Verifier 0.67.0 (cargo plugin)",
        "cargo-kani 0.100.0",
    ] {
        assert!(is_new_enough(printed), "{printed}");
    }
    for printed in ["cargo-kani 0.66.0", "cargo-kani 0.9.0", "no number", "1.2"] {
        assert!(!is_new_enough(printed), "{printed}");
    }
}

#[test]
fn the_versions_of_cbmc_and_of_the_solver_are_read_off_the_output() {
    let text = include_str!("../../../tests/fixtures/kani/success.txt");
    let versions = output::versions(text);
    assert_eq!(versions["cbmc"], "6.6.0");
    assert_eq!(versions["cadical"], "2.1.3");
}
