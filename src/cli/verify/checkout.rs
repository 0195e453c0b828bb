//! The checkout that a verification runs in, where it is one of this program's own version.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::ledger::{Evidence, EvidenceKind, PINNED, read_record};

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
        // A record comes from outside, and the file that it names must not.
        let normal = |part: Component<'_>| matches!(part, Component::Normal(_));
        if piece.line.is_none()
            && Path::new(&piece.file).components().all(normal)
            && let Some(bytes) = read_record(&self.root.join(&piece.file))
        {
            let text = String::from_utf8_lossy(&bytes);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_checkout_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkout");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.rs"), "//\nfn leaf() {}\n").unwrap();
        std::fs::write(folder.path().join("b.rs"), "fn leaf() {}\n").unwrap();
        let checkout = Checkout {
            root: root.clone(),
            commit: String::new(),
            modified: false,
        };
        let line = |file: &str| {
            let mut piece = Evidence {
                kind: EvidenceKind::Harness,
                name: "proofs::leaf".to_owned(),
                file: file.to_owned(),
                line: None,
                claims: Vec::new(),
            };
            checkout.locate(&mut piece);
            piece.line
        };
        assert_eq!(line("src/a.rs"), Some(2));
        let outside = folder.path().join("b.rs");
        assert_eq!(line(outside.to_str().unwrap()), None);
        assert_eq!(line("../b.rs"), None);
        // A device has no end.
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/zero", root.join("src/zero.rs")).unwrap();
            assert_eq!(line("src/zero.rs"), None);
        }
    }
}
