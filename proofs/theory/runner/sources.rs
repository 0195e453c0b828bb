//! What is read off the sources without running Coq: theorems, caveats, dependencies, digests.
//!
//! Everything that the record and the documentation say about a theorem stands above it in its
//! source and nowhere else:
//!
//! ```text
//! (** claim: T5 | refutes | caveats: reals
//!     What it says, in words. Paper: theorem 5, section 3.5. *)
//! Theorem T5_refuted : forall C, ~ theorem_5 C.
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What a theorem does to the claims it names.
pub const SAYS: [&str; 3] = ["proves", "refutes", "sharpens"];

/// Words that let something pass unproved, wherever they stand outside comments.
const FORBIDDEN: [&str; 12] = [
    "Admitted",
    "admit",
    "give_up",
    "Axiom",
    "Axioms",
    "Parameter",
    "Parameters",
    "Conjecture",
    "Conjectures",
    "bypass_check",
    "Unset Guard",
    "Unset Positivity",
];

/// Words that assume something unless they stand in a section.
const SECTION_ONLY: [&str; 6] = [
    "Variable",
    "Variables",
    "Hypothesis",
    "Hypotheses",
    "Context",
    "Unset Universe",
];

/// One headline theorem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theorem {
    /// The claims of the paper, or of the replacement theorems.
    pub claims: Vec<String>,
    /// One of [`SAYS`].
    pub says: String,
    /// Names of caveats, each defined in `caveats/`.
    pub caveats: Vec<String>,
    /// What it says, in words.
    pub words: String,
    /// Its name.
    pub name: String,
    /// Line of its first word.
    pub line: usize,
    /// From its first word to `Proof.`, as written.
    pub source: String,
    /// From `Proof.` to the end, without comments, blanks made one.
    pub script: String,
}

/// One file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the module: `T5`, or `model.Normalize`.
    pub module: String,
    /// Path relative to `proofs/theory/`.
    pub file: String,
    /// The text.
    pub text: String,
    /// Modules of ours that it needs, directly.
    pub needs: Vec<String>,
    /// Its headline theorems.
    pub theorems: Vec<Theorem>,
}

/// Everything under `proofs/theory/`.
pub struct Sources {
    /// Files by module, theorems and models.
    pub files: BTreeMap<String, Source>,
    /// Negative proofs: path relative to `proofs/theory/`, and text.
    pub negative: BTreeMap<String, String>,
    /// Caveats by name.
    pub caveats: BTreeMap<String, String>,
    /// The pinned axioms.
    pub pinned: String,
}

impl Sources {
    /// Reads the folder.
    ///
    /// # Errors
    /// A file cannot be read, a comment above a theorem has another form than it should, or a
    /// caveat is defined twice.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        for (prefix, sub) in [("", ""), ("model.", "model")] {
            for path in listed(&folder.join(sub), "v")? {
                let stem = stem(&path);
                let module = format!("{prefix}{stem}");
                let file = format!("{}{stem}.v", prefix.replace('.', "/"));
                let text = text(&path)?;
                let theorems = theorems(&text).map_err(|e| format!("{file}, {e}"))?;
                let source = Source {
                    needs: needs(&text),
                    module: module.clone(),
                    file,
                    text,
                    theorems,
                };
                files.insert(module, source);
            }
        }
        // Names in `Require` are those of modules of ours, of either folder.
        let known: BTreeSet<String> = files.keys().cloned().collect();
        for source in files.values_mut() {
            let find = |name: &String| {
                let in_models = format!("model.{name}");
                let full = [name.clone(), in_models];
                let found = full.into_iter().find(|n| known.contains(n));
                found.ok_or_else(|| format!("{}: there is no {name}.v here", source.file))
            };
            source.needs = source.needs.iter().map(find).collect::<Result<_, _>>()?;
        }
        let mut negative = BTreeMap::new();
        for path in listed(&folder.join("negative"), "v")? {
            negative.insert(format!("negative/{}.v", stem(&path)), text(&path)?);
        }
        let mut caveats = BTreeMap::new();
        for path in listed(&folder.join("caveats"), "txt")? {
            define(&mut caveats, &text(&path)?)
                .map_err(|e| format!("caveats/{}.txt: {e}", stem(&path)))?;
        }
        let pinned = fs::read_to_string(folder.join("assumptions.txt")).unwrap_or_default();
        Ok(Sources {
            files,
            negative,
            caveats,
            pinned,
        })
    }

    /// All headline theorems, in order of file and line.
    pub fn theorems(&self) -> impl Iterator<Item = (&Source, &Theorem)> {
        let files = self.files.values();
        files.flat_map(|source| source.theorems.iter().map(move |theorem| (source, theorem)))
    }

    /// All modules that `module` rests on, itself included.
    pub fn closure(&self, module: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut open = vec![module.to_owned()];
        while let Some(next) = open.pop() {
            if let Some(source) = self.files.get(&next)
                && all.insert(next)
            {
                open.extend(source.needs.iter().cloned());
            }
        }
        all
    }

    /// The digest of a file and of all files of ours that it rests on.
    pub fn closure_digest(&self, module: &str) -> String {
        self.digest_of(&self.closure(module))
    }

    /// The digest of the sources of some modules.
    pub fn digest_of(&self, modules: &BTreeSet<String>) -> String {
        let mut hash = Sha256::new();
        for module in modules {
            if let Some(source) = self.files.get(module) {
                hash.update(format!("{module} {}\n", digest(&source.text)));
            }
        }
        hex(hash)
    }

    /// Modules in an order in which each comes after what it needs.
    ///
    /// # Errors
    /// Some files need each other.
    pub fn order(&self) -> Result<Vec<String>, String> {
        let mut done: Vec<String> = Vec::new();
        while done.len() < self.files.len() {
            let before = done.len();
            for (module, source) in &self.files {
                if !done.contains(module) && source.needs.iter().all(|n| done.contains(n)) {
                    done.push(module.clone());
                }
            }
            if done.len() == before {
                return Err("some files of proofs/theory need each other".into());
            }
        }
        Ok(done)
    }

    /// What the sources break, one line each: words that assume something, caveats without a
    /// definition, two theorems of one name, theorems without a negative proof, negative proofs
    /// without a theorem.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for source in self.files.values() {
            for (line, word) in assumed(&source.text) {
                problems.push(format!("{}:{line}: {word}", source.file));
            }
        }
        let mut names = BTreeSet::new();
        let mut used = BTreeSet::new();
        for (source, theorem) in self.theorems() {
            let place = format!("{}:{}: {}", source.file, theorem.line, theorem.name);
            if !names.insert(theorem.name.as_str()) {
                problems.push(format!("{place}: the name is used twice"));
            }
            for caveat in &theorem.caveats {
                used.insert(caveat.as_str());
                if !self.caveats.contains_key(caveat) {
                    problems.push(format!(
                        "{place}: caveat {caveat:?} is not defined in caveats/"
                    ));
                }
            }
            if !self
                .negative
                .keys()
                .any(|f| self.denied(f) == Some(&theorem.name))
            {
                problems.push(format!(
                    "{place}: no negative proof negative/{}_*.v",
                    theorem.name
                ));
            }
        }
        for file in self.negative.keys() {
            if self.denied(file).is_none() {
                problems.push(format!("{file}: no headline theorem has this name"));
            }
        }
        for caveat in self.caveats.keys().filter(|c| !used.contains(c.as_str())) {
            problems.push(format!("caveats/: {caveat:?} is defined and never used"));
        }
        problems
    }

    /// The theorem that a negative proof is a false variant of: the longest name that its file's
    /// name starts with.
    pub fn denied(&self, file: &str) -> Option<&String> {
        let stem = file.strip_prefix("negative/")?.strip_suffix(".v")?;
        let names = self.theorems().map(|(_, theorem)| &theorem.name);
        let starts = |name: &&String| {
            stem.strip_prefix(name.as_str())
                .is_some_and(|r| r.starts_with('_'))
        };
        names.filter(starts).max_by_key(|name| name.len())
    }
}

fn listed(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| format!("{}: {e}", folder.display()))?
            .path();
        let hidden = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if !hidden && path.extension().is_some_and(|e| e == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

/// SHA-256 of a text, in hexadecimal digits.
pub fn digest(text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(text.as_bytes());
    hex(hash)
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// Reads `name: definition` lines.
fn define(caveats: &mut BTreeMap<String, String>, text: &str) -> Result<(), String> {
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let (name, definition) = line
            .split_once(": ")
            .ok_or_else(|| format!("not `name: definition`: {line:?}"))?;
        let definition = definition.trim();
        match caveats.insert(name.trim().to_owned(), definition.to_owned()) {
            Some(old) if old != definition => {
                return Err(format!("{name} is defined twice, and not alike"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The text with comments blanked out, line by line as before; strings stay.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut in_string) = (0u32, false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('(', Some('*')) if !in_string => {
                rest.next();
                depth += 1;
                out.push_str("  ");
            }
            ('*', Some(')')) if !in_string && depth > 0 => {
                rest.next();
                depth -= 1;
                out.push_str("  ");
            }
            _ => {
                if c == '"' {
                    in_string = !in_string;
                }
                out.push(if depth == 0 || c == '\n' { c } else { ' ' });
            }
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// Where a word stands as a word.
fn occurrences<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            !line[..at]
                .chars()
                .next_back()
                .is_some_and(|c| is_word(c) || c == '.')
                && !line[at + word.len()..].chars().next().is_some_and(is_word)
        })
}

/// Lines with a word that assumes something unproved.
pub fn assumed(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut sections = 0usize;
    let mut ended = Vec::new();
    for (number, line) in without_comments(text).lines().enumerate() {
        let words: Vec<&str> = line
            .split(|c| !is_word(c))
            .filter(|w| !w.is_empty())
            .collect();
        if let ["Section", name, ..] = words[..] {
            sections += 1;
            ended.push(name.to_owned());
        }
        if let ["End", name, ..] = words[..]
            && ended.last().is_some_and(|open| open == name)
        {
            ended.pop();
            sections -= 1;
        }
        for word in FORBIDDEN {
            if occurrences(line, word).next().is_some() {
                found.push((number + 1, word));
            }
        }
        for word in SECTION_ONLY {
            // A command, not an argument: at the start of a sentence.
            let starts = |at: usize| {
                let before = line[..at].trim_end();
                before.is_empty() || before.ends_with('.') || before.ends_with("Local")
            };
            let always = word.starts_with("Unset");
            if (sections == 0 || always) && occurrences(line, word).any(starts) {
                found.push((number + 1, word));
            }
        }
    }
    found
}

/// Modules of ours named by `From LPF Require`.
pub fn needs(text: &str) -> Vec<String> {
    let plain = without_comments(text);
    let mut all = Vec::new();
    let mut rest = plain.as_str();
    while let Some(at) = rest.find("From LPF") {
        rest = &rest[at + "From LPF".len()..];
        let end = sentence_end(rest);
        for word in rest[..end].split_whitespace() {
            let word = word.trim_end_matches('.');
            if !["Require", "Import", "Export", ""].contains(&word) {
                let name = word.rsplit('.').next().unwrap_or(word);
                all.push(name.to_owned());
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Where the first sentence ends: after a full stop that a blank follows.
fn sentence_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = (0..bytes.len())
        .find(|&i| bytes[i] == b'.' && bytes.get(i + 1).is_none_or(u8::is_ascii_whitespace));
    end.map_or(text.len(), |i| i + 1)
}

/// Words with one blank between.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A proof's script: what stands between `Proof.` and the end, without comments.
pub fn script_of(text: &str) -> Option<String> {
    let plain = without_comments(text);
    let start = plain.find("Proof.")? + "Proof.".len();
    let end = ["Qed.", "Defined."]
        .iter()
        .filter_map(|e| plain[start..].find(e))
        .min()?;
    Some(squeezed(&plain[start..start + end]))
}

/// The headline theorems of a file.
fn theorems(text: &str) -> Result<Vec<Theorem>, String> {
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("(** claim:") {
        let start = from + at;
        let line_of = |at: usize| text[..at].matches('\n').count() + 1;
        let wrong = |what: &str| format!("line {}: {what}", line_of(start));
        let length = text[start..]
            .find("*)")
            .ok_or_else(|| wrong("the comment does not end"))?;
        let comment = &text[start + "(** claim:".len()..start + length];
        let (first, words) = comment
            .split_once('\n')
            .ok_or_else(|| wrong("no words below the claim"))?;
        let parts: Vec<&str> = first.split('|').map(str::trim).collect();
        let [claims, says, caveats] = parts[..] else {
            return Err(wrong("not `claim: ids | says | caveats: names`"));
        };
        if !SAYS.contains(&says) {
            return Err(wrong("it says neither proves nor refutes nor sharpens"));
        }
        let list = |text: &str| -> Vec<String> {
            let names = text.split(',').map(|n| n.trim().to_owned());
            names.filter(|n| !n.is_empty() && n != "none").collect()
        };
        let caveats = caveats
            .strip_prefix("caveats:")
            .ok_or_else(|| wrong("no caveats"))?;
        let after = start + length + 2;
        let begin = after + text[after..].len() - text[after..].trim_start().len();
        let mut of = text[begin..].split(|c: char| c.is_whitespace() || "({:.".contains(c));
        let (kind, name) = (of.next().unwrap_or(""), of.next().unwrap_or(""));
        if !["Theorem", "Lemma", "Corollary", "Proposition"].contains(&kind) || name.is_empty() {
            return Err(wrong("no theorem below the comment"));
        }
        let body = &text[begin..];
        let proof = body.find("Proof.").ok_or_else(|| wrong("no `Proof.`"))?;
        let theorem = Theorem {
            claims: list(claims),
            says: says.to_owned(),
            caveats: list(caveats),
            words: squeezed(words),
            name: name.to_owned(),
            line: line_of(begin),
            source: body[..proof].trim_end().to_owned(),
            script: script_of(body).ok_or_else(|| wrong("the proof does not end"))?,
        };
        if theorem.claims.is_empty() || theorem.words.is_empty() {
            return Err(wrong("no claims, or no words"));
        }
        all.push(theorem);
        from = begin;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "(* Imports. *)\nRequire Import Reals.\nFrom LPF Require Import Sums Probability.\n\n\
        (** claim: T5, T5.all | refutes | caveats: reals, finite\n    In words, and\n    more. Paper: theorem 5. *)\n\
        Theorem T5_refuted (C : R) : ~ theorem_5 C.\nProof.\n  intros H. (* why *) lra.\nQed.\n";

    fn sources(text: &str, negative: &[&str], caveats: &str) -> Sources {
        let folder = tempfile::tempdir().unwrap();
        for sub in ["negative", "caveats", "model"] {
            fs::create_dir(folder.path().join(sub)).unwrap();
        }
        fs::write(folder.path().join("T5.v"), text).unwrap();
        fs::write(folder.path().join("Sums.v"), "Definition one := 1.\n").unwrap();
        fs::write(
            folder.path().join("Probability.v"),
            "From LPF Require Import Sums.\n",
        )
        .unwrap();
        fs::write(folder.path().join("caveats/a.txt"), caveats).unwrap();
        for name in negative {
            fs::write(folder.path().join(format!("negative/{name}.v")), "").unwrap();
        }
        Sources::read(folder.path()).unwrap()
    }

    const CAVEATS: &str = "reals: not floats\nfinite: finitely many values\n";

    #[test]
    fn what_stands_above_a_theorem_is_read() {
        let all = theorems(TEXT).unwrap();
        let [theorem] = &all[..] else {
            panic!("{all:?}");
        };
        assert_eq!(theorem.claims, ["T5", "T5.all"]);
        assert_eq!(theorem.says, "refutes");
        assert_eq!(theorem.caveats, ["reals", "finite"]);
        assert_eq!(theorem.words, "In words, and more. Paper: theorem 5.");
        assert_eq!((theorem.name.as_str(), theorem.line), ("T5_refuted", 8));
        assert_eq!(
            theorem.source,
            "Theorem T5_refuted (C : R) : ~ theorem_5 C."
        );
        assert_eq!(theorem.script, "intros H. lra.");
        for (from, to) in [
            ("refutes", "denies"),
            ("| caveats: reals, finite", ""),
            ("Theorem T5_refuted", "Definition T5_refuted"),
            ("Qed", "Abort"),
        ] {
            assert!(theorems(&TEXT.replace(from, to)).is_err(), "{to}");
        }
    }

    #[test]
    fn a_digest_follows_all_that_a_file_rests_on() {
        let mut all = sources(TEXT, &[], CAVEATS);
        assert_eq!(all.files["T5"].needs, ["Probability", "Sums"]);
        assert_eq!(all.order().unwrap(), ["Sums", "Probability", "T5"]);
        let (t5, other) = (all.closure_digest("T5"), all.closure_digest("Sums"));
        all.files.get_mut("Probability").unwrap().text.push(' ');
        assert_ne!(all.closure_digest("T5"), t5);
        assert_eq!(all.closure_digest("Sums"), other);
    }

    #[test]
    fn each_gate_that_reads_sources_fails_where_it_should() {
        assert_eq!(
            sources(TEXT, &["T5_refuted_c"], CAVEATS).problems(),
            [""; 0]
        );
        for (text, negative, caveats, problem) in [
            (
                TEXT.replace("Qed.", "Admitted. Qed."),
                "T5_refuted_c",
                CAVEATS,
                "T5.v:11: Admitted",
            ),
            (
                TEXT.replace("lra.", "admit."),
                "T5_refuted_c",
                CAVEATS,
                "T5.v:10: admit",
            ),
            (
                format!("Axiom false : False.\n{TEXT}"),
                "T5_refuted_c",
                CAVEATS,
                "T5.v:1: Axiom",
            ),
            (
                format!("Variable p : nat.\n{TEXT}"),
                "T5_refuted_c",
                CAVEATS,
                "T5.v:1: Variable",
            ),
            (
                TEXT.to_owned(),
                "T5_c",
                CAVEATS,
                "no negative proof negative/T5_refuted_*.v",
            ),
            (
                TEXT.to_owned(),
                "T6_c",
                CAVEATS,
                "negative/T6_c.v: no headline theorem",
            ),
            (
                TEXT.to_owned(),
                "T5_refuted_c",
                "reals: no",
                "\"finite\" is not defined",
            ),
        ] {
            let problems = sources(&text, &[negative], caveats).problems();
            assert!(
                problems.iter().any(|p| p.contains(problem)),
                "{problem}: {problems:?}"
            );
        }
    }

    #[test]
    fn comments_names_and_sections_assume_nothing() {
        let text = "(* Admitted (* Axiom *) *)\nSection A.\nVariable p : nat.\nContext (q : nat).\nEnd A.\n\
            Definition admitted := Classical.Axiom_like.\nLemma my_Axiom : True. Proof. easy. Qed.\n";
        assert_eq!(assumed(text), []);
        assert_eq!(
            assumed("Section A.\nEnd A.\n Variable p : nat.\n"),
            [(3, "Variable")]
        );
        assert_eq!(
            assumed("Lemma a : False.\n#[bypass_check(guard)] Fixpoint"),
            [(2, "bypass_check")]
        );
    }

    #[test]
    fn a_caveat_has_one_definition() {
        let mut caveats = BTreeMap::new();
        define(&mut caveats, "reals: not floats\n").unwrap();
        define(&mut caveats, "reals: not floats\n").unwrap();
        assert!(define(&mut caveats, "reals: something else\n").is_err());
        assert!(define(&mut caveats, "reals\n").is_err());
    }
}
