//! Claims that stand on theorems alone, and claims of ours that finite domains illustrate.

use super::Check;
use super::exact::{BITS, Tally, distributions, fraction, l1};
use crate::ledger::verdict::Finding;
use crate::math::Enclosure;

pub(super) const CHECKS: &[(&str, Check)] = &[
    ("L2.printed", |_| Ok(printed_hoeffding(4))),
    ("L6'", |cx| cx.by_theorem("L6'")),
    ("E1", |cx| cx.by_theorem("E1")),
    ("E2", |cx| cx.by_theorem("E2")),
    ("E3", |cx| cx.by_theorem("E3")),
    ("E4", |cx| cx.by_theorem("E4")),
    ("Norm", |cx| cx.by_theorem("Norm")),
    ("A6.excludes", |_| Ok(floored(12))),
];

/// Eight constants, `ones` of them 1 and the others 0, which are independent; ε = 2/5.
fn printed_hoeffding(ones: u64) -> Finding {
    let n = 8;
    let (average, epsilon) = (fraction(ones, n), fraction(2, 5));
    let exponent = fraction(2 * n, 1) * &epsilon * &epsilon;
    let bound = &Enclosure::integer(2) * &Enclosure::exact(-exponent.clone()).exp(BITS);
    let mut steps = vec![
        format!(
            "{ones} variables are 1 and {} are 0, always; constants are independent",
            n - ones
        ),
        format!("their average is {average}, and E[Xᵢ] is 0 or 1"),
    ];
    // The claim holds if it does for some i: every mean that occurs must be far from the average.
    let means = [(ones, fraction(1, 1)), (n - ones, fraction(0, 1))];
    let occurring = means.iter().filter(|(count, _)| *count > 0);
    let mut far = true;
    for (_, mean) in occurring {
        let off = l1(std::slice::from_ref(&average), std::slice::from_ref(mean));
        steps.push(format!("from the mean {mean} it is {off} away, surely"));
        far &= off > epsilon;
    }
    steps.push(format!(
        "2·exp(−2·{n}·ε²) at ε = {epsilon} is {:.4}",
        bound.approx()
    ));
    if far && Enclosure::integer(1).exceeds(&bound) {
        let witness = format!(
            "half of {n} constants 0, half 1: a deviation of {average} has probability 1 where {:.4} is \
             claimed",
            bound.approx()
        );
        Finding::refuted(witness, steps)
    } else {
        Finding::checked(format!("{ones} of {n} constants are 1"), steps)
    }
}

/// Three classes, all entries at least `1/6`: distributions with a denominator that 6 divides.
fn floored(denominator: u64) -> Finding {
    let mut tally = Tally::default();
    let all = distributions(3, denominator, denominator / 6);
    let (most, one) = (fraction(2, 3), fraction(1, 1));
    for p in &all {
        tally.case(p.iter().all(|x| *x <= most), || format!("{p:?}"));
        for q in &all {
            tally.case(l1(p, q) <= one, || format!("{p:?} and {q:?}"));
        }
    }
    tally.finding("three classes, entries at least 1/6, denominator 12")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::VerdictKind;
    use crate::ledger::claims::{find, judge_all, recompute};
    use crate::ledger::paper::Paper;
    use crate::ledger::{Records, Theory};

    #[test]
    fn variables_with_one_mean_do_not_refute_the_printed_form() {
        let kind = |ones| printed_hoeffding(ones).verdict.kind();
        assert_eq!(
            (kind(4), kind(8), kind(7)),
            (
                VerdictKind::Refuted,
                VerdictKind::Checked,
                VerdictKind::Checked
            )
        );
    }

    /// Without the record nothing is proved; what was checked is checked only.
    #[test]
    fn proved_comes_from_the_record_alone() {
        let (paper, records) = (Paper::published(), Records::none());
        let empty = Theory::default();
        for id in ["L1", "T2'", "T5'", "E1", "Norm", "A6.excludes"] {
            let claim = find(id).unwrap();
            let kind = |theory| {
                let finding = claim.judge_by(theory, &paper, &records, &recompute::all());
                finding.verdict.kind()
            };
            assert_eq!(kind(Theory::committed()), VerdictKind::Proved, "{id}");
            assert_ne!(kind(&empty), VerdictKind::Proved, "{id}");
        }
    }

    /// The bounds of K_eff are proved, and the claim about it is refuted all the same.
    #[test]
    fn a_refutation_wins_over_a_theorem_about_a_part() {
        let judged = judge_all(&Paper::published(), &Records::none());
        let entry = judged.iter().find(|e| e.claim.id == "T1.Keff").unwrap();
        assert_eq!(entry.finding.verdict.kind(), VerdictKind::Refuted);
        let text = entry.finding.verdict.to_string();
        assert!(text.contains("T1_Keff_refuted"), "{text}");
        for entry in &judged {
            if entry.finding.verdict.kind() == VerdictKind::Proved {
                let standing = "not re-run here";
                let lines = &entry.finding.evidence;
                assert!(
                    lines.iter().any(|line| line.contains(standing)),
                    "{}",
                    entry.claim.id
                );
            }
        }
    }
}
