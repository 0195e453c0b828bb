//! The verdicts that were reviewed last, and what differs from them now.

use super::claims::Judged;

/// One line `id verdict` for each claim, after the counts. Written by the test
/// `every_verdict_is_as_pinned` in `snapshots`, and reviewed as a diff.
pub const PINNED: &str = include_str!("verdicts.txt");

/// What happened to a claim since the verdicts were pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The claim's id.
    pub id: String,
    /// The pinned verdict; `None` for a claim that is new.
    pub pinned: Option<String>,
    /// The verdict now; `None` for a claim that is gone.
    pub now: Option<String>,
}

impl Change {
    /// The change in one line.
    pub fn text(&self) -> String {
        let word = |kind: &Option<String>| kind.clone().unwrap_or_else(|| "absent".to_owned());
        let (pinned, now) = (word(&self.pinned), word(&self.now));
        format!("{}: pinned {pinned}, now {now}", self.id)
    }
}

/// Each claim and its pinned verdict.
fn pinned() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, table) = PINNED.split_once("\n\n").unwrap_or_default();
    table.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    })
}

/// Every claim whose verdict is not the pinned one, is new, or is gone.
pub fn changes(judged: &[Judged]) -> Vec<Change> {
    let old = |id: &str| pinned().find(|(p, _)| *p == id).map(|(_, kind)| kind);
    let mut changes: Vec<Change> = judged
        .iter()
        .map(|entry| Change {
            id: entry.claim.id.clone(),
            pinned: old(&entry.claim.id).map(str::to_owned),
            now: Some(entry.finding.verdict.kind().name().to_owned()),
        })
        .filter(|change| change.pinned != change.now)
        .collect();
    let gone = pinned().filter(|(id, _)| !judged.iter().any(|entry| entry.claim.id == *id));
    changes.extend(gone.map(|(id, kind)| Change {
        id: id.to_owned(),
        pinned: Some(kind.to_owned()),
        now: None,
    }));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Finding;
    use crate::ledger::claims::judged_without_records;

    #[test]
    fn every_claim_is_pinned_and_a_changed_verdict_is_noticed() {
        let mut judged = judged_without_records();
        assert_eq!(pinned().count(), judged.len());
        assert_eq!(changes(&judged), []);
        let first = judged.remove(0);
        judged[0].finding = Finding::not_reproducible("a fault", Vec::new());
        let noticed: Vec<String> = changes(&judged).iter().map(Change::text).collect();
        assert_eq!(noticed.len(), 2, "{noticed:?}");
        assert!(noticed[1].starts_with(&first.claim.id) && noticed[1].ends_with("now absent"));
    }
}
