//! The checkout that a verification runs in, where it is one of this program's own version.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::ledger::{Evidence, EvidenceKind, PINNED};

/// A checkout with this version's verdicts.
#[derive(Debug)]
pub(super) struct Checkout {
    root: PathBuf,
    /// The commit.
    pub(super) commit: String,
    modified: bool,
}

impl Checkout {
    /// The checkout around the current folder; none where git knows none, or where it is one of
    /// another program: a report must not name the commit of whatever folder it is run in.
    pub(super) fn here() -> Option<Self> {
        let root = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
        let pinned = std::fs::read_to_string(root.join("src/ledger/verdicts.txt")).ok()?;
        (pinned == PINNED).then_some(())?;
        let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
        Some(Checkout {
            root,
            commit: git(&["rev-parse", "HEAD"])?,
            modified: !changed.is_empty(),
        })
    }

    /// The commit in words.
    pub(super) fn words(&self) -> String {
        let commit = &self.commit;
        match self.modified {
            true => format!("commit {commit} with uncommitted changes"),
            false => format!("commit {commit}"),
        }
    }

    /// The way from a folder inside the checkout to its root, such as `../../../`; none for a folder
    /// elsewhere, from where a page would not find it once it is moved.
    pub(super) fn seen_from(&self, folder: &Path) -> Option<String> {
        let folder = folder.canonicalize().ok()?;
        let inside = folder.strip_prefix(self.root.canonicalize().ok()?).ok()?;
        let normal = |part: &Component| matches!(part, Component::Normal(_));
        Some("../".repeat(inside.components().filter(normal).count()))
    }

    /// Finds the line of a piece of evidence, by the name that it has there.
    pub(super) fn locate(&self, piece: &mut Evidence) {
        let sign = match piece.kind {
            EvidenceKind::Harness => {
                let name = piece.name.rsplit("::").next().unwrap_or_default();
                format!("fn {name}(")
            }
            EvidenceKind::Property => format!("name: \"{}\"", piece.name),
            EvidenceKind::Experiment => "const EXPERIMENT: Experiment".to_owned(),
            EvidenceKind::Bound => "pub fn ".to_owned(),
            _ => return,
        };
        if piece.line.is_none()
            && let Ok(text) = std::fs::read_to_string(self.root.join(&piece.file))
        {
            let at = text.lines().position(|line| line.contains(&sign));
            piece.line = at.map(|at| at as u64 + 1);
        }
    }
}

/// What git says, in one line.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
