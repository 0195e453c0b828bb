//! Negative proofs: each is a false variant of a theorem under the theorem's own script, and must
//! fail in its proof. One that compiles, or that fails before its proof starts, is a problem.

use serde_json::{Value, json};

use crate::coq::{Coq, Outcome, in_parallel};
use crate::sources::{Sources, digest, script_of, without_comments};

/// Where and why a negative proof failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line that Coq refused.
    pub line: usize,
    /// What it said, one line.
    pub message: String,
}

/// Runs them all; the entries of the record, or what is wrong.
pub fn run(coq: &Coq, sources: &Sources) -> Result<(Vec<Value>, Vec<String>), String> {
    let files: Vec<(&String, &String)> = sources.negative.iter().collect();
    let results = in_parallel(&files, |(file, text)| -> Result<Outcome, String> {
        let mut modules = std::collections::BTreeSet::new();
        for name in crate::sources::needs(text) {
            modules.extend(sources.closure(&name));
        }
        let key = format!(
            "{} {} {}",
            coq.version,
            digest(text),
            sources.digest_of(&modules)
        );
        coq.file(file, text, &key, false)
    });
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for ((file, text), result) in files.into_iter().zip(results) {
        match judge(text, &result?) {
            Ok(failure) => {
                let denied = sources.denied(file);
                let script = denied.and_then(|name| {
                    let theorem = sources.theorems().find(|(_, t)| t.name == *name)?;
                    Some(theorem.1.script.clone())
                });
                entries.push(json!({
                    "file": file,
                    "of": denied,
                    "wrong": first_comment(text),
                    "fails_at_line": failure.line,
                    "message": failure.message,
                    "same_script": script.is_some() && script == script_of(text),
                }));
            }
            Err(problem) => problems.push(format!("{file}: {problem}")),
        }
    }
    Ok((entries, problems))
}

/// Whether it failed as it should.
fn judge(text: &str, outcome: &Outcome) -> Result<Failure, String> {
    let plain = without_comments(text);
    let theorem = plain
        .lines()
        .position(|l| l.trim_start().starts_with("Theorem "))
        .ok_or("no `Theorem`")?;
    let proofs: Vec<usize> = plain
        .lines()
        .enumerate()
        .filter(|(_, l)| l.contains("Proof."))
        .map(|(n, _)| n + 1)
        .collect();
    // The last `Proof.`: lemmas may stand before the theorem, and must be accepted.
    let proof = *proofs.last().ok_or("no `Proof.`")?;
    if proof <= theorem {
        return Err("the theorem is not the last thing in it".into());
    }
    if !plain.trim_end().ends_with("Qed.") {
        return Err("it does not end in `Qed.`".into());
    }
    if outcome.accepted {
        return Err("COMPILES, so the false variant is accepted".into());
    }
    let failure = failure(&outcome.error)
        .ok_or_else(|| format!("fails without a place: {}", outcome.error.trim()))?;
    if failure.line < proof {
        return Err(format!(
            "fails in line {}, before its proof: {}",
            failure.line, failure.message
        ));
    }
    // Written wrongly, rather than wrong. A name that the script introduces may be missing because
    // the false variant has cases that the theorem does not have.
    let missing = "was not found in the current environment";
    let introduced = |name: &str| {
        let script = script_of(text).unwrap_or_default();
        let words = |sentence: &str| {
            let mut words = sentence.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'');
            words.any(|w| w == name)
        };
        script.split(". ").any(|s| s.contains("intros") && words(s))
    };
    let name = failure
        .message
        .strip_prefix("The reference ")
        .and_then(|m| m.split(' ').next());
    let absent = failure.message.contains(missing) && !name.is_some_and(introduced);
    if absent
        || ["Syntax error", "Unable to locate library"]
            .iter()
            .any(|r| failure.message.contains(r))
    {
        return Err(format!("fails for another reason: {}", failure.message));
    }
    Ok(failure)
}

/// The first error in what Coq prints.
fn failure(text: &str) -> Option<Failure> {
    let at = text.find("Error:")?;
    let place = text[..at].rfind(", line ")?;
    let digits: String = text[place + ", line ".len()..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let message = text[at + "Error:".len()..]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    Some(Failure {
        line: digits.parse().ok()?,
        message: message.chars().take(200).collect(),
    })
}

/// The comment that the file starts with.
fn first_comment(text: &str) -> String {
    let inner = text
        .trim_start()
        .strip_prefix("(*")
        .and_then(|t| t.split_once("*)"))
        .map_or("", |t| t.0);
    inner
        .trim_start_matches('*')
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "(* Wrong:\n   one is not two. *)\nRequire Import Reals.\nTheorem a : 1 = 2.\nProof.\n  reflexivity.\nQed.\n";

    fn judged(accepted: bool, error: &str) -> Result<Failure, String> {
        judge(
            TEXT,
            &Outcome {
                accepted,
                output: String::new(),
                error: error.into(),
                seconds: 0.0,
                earlier: false,
            },
        )
    }

    #[test]
    fn it_must_fail_in_its_proof() {
        let error = "File \"./negative/a.v\", line 6, characters 2-13:\nError:\nUnable to unify \"2\" with\n \"1\".\n";
        assert_eq!(
            judged(false, error),
            Ok(Failure {
                line: 6,
                message: "Unable to unify \"2\" with \"1\".".into()
            })
        );
        assert!(judged(true, "").unwrap_err().contains("COMPILES"));
        let early = error.replace("line 6", "line 4");
        assert!(
            judged(false, &early)
                .unwrap_err()
                .contains("before its proof")
        );
        let broken = error.replace("Unable to unify", "Syntax error: illegal");
        assert!(
            judged(false, &broken)
                .unwrap_err()
                .contains("another reason")
        );
        let absent = error.replace(
            "Unable to unify",
            "The reference n was not found in the current environment",
        );
        assert!(
            judged(false, &absent)
                .unwrap_err()
                .contains("another reason")
        );
        assert!(judged(false, "Out of memory").is_err());
        assert_eq!(first_comment(TEXT), "Wrong: one is not two.");
    }
}
