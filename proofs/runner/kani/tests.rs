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
    let inventory =
        read_inventory(include_str!("../../../tests/fixtures/kani/kani-list.json")).unwrap();
    assert_eq!(inventory.len(), 4);
    let selected: Vec<String> = inventory.iter().cloned().collect();
    let verdicts = judge(&selected, &inventory, text);
    let said = |name: &str| verdicts[&format!("proofs::kish::{name}")].verdict.clone();
    assert_eq!(said("first"), Verdict::Proved);
    // Begun, but the output ends.
    assert_eq!(said("second"), Verdict::Missing);
    // Never begun.
    assert_eq!(said("third"), Verdict::Missing);
    // Verified, but Kani's own inventory does not have it.
    let without: BTreeSet<String> = [selected[1].clone()].into();
    let verdicts = judge(&selected[..1], &without, text);
    assert_eq!(verdicts[&selected[0]].verdict, Verdict::Missing);
}

#[test]
fn colours_do_not_hide_a_verdict() {
    let coloured = "Checking harness a::b...\nVERIFICATION:- \u{1b}[31mFAILED\u{1b}[0m\n";
    assert_eq!(one(coloured).verdict, Verdict::Failed(String::new()));
    let coloured = "Checking harness a::b...\nVERIFICATION:- \u{1b}[32mSUCCESSFUL\u{1b}[0m\n";
    assert_eq!(one(coloured).verdict, Verdict::Proved);
}

#[test]
fn an_inventory_without_harnesses_is_refused() {
    assert!(read_inventory("{}").is_err());
    assert!(read_inventory("not json").is_err());
}
