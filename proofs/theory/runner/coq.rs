//! Runs Coq: compiles what changed, two files at a time, and asks what each theorem rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sources::{Sources, Theorem, digest};

/// How many files are compiled at a time.
const WORKERS: usize = 2;
/// Against what never ends. The longest, coqchk, takes a minute and a half where nothing else runs, and
/// more than ten minutes on a busy machine.
const LIMIT: Duration = Duration::from_secs(3600);

/// Coq, and the folder where everything is compiled.
pub struct Coq {
    /// `8.16.1`.
    pub version: String,
    /// Versions of Coq and of its libraries, where they can be found.
    pub versions: BTreeMap<String, String>,
    folder: PathBuf,
}

/// What a file said, and how long it took.
pub struct Outcome {
    /// Whether it was accepted.
    pub accepted: bool,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub error: String,
    /// Wall-clock seconds, of the run that is being quoted.
    pub seconds: f64,
    /// Whether the run was an earlier one, of the same sources.
    pub earlier: bool,
}

/// What Coq says about a theorem.
pub struct Answer {
    /// The statement as Coq prints it.
    pub statement: String,
    /// The axioms it rests on, sorted.
    pub axioms: Vec<String>,
}

/// What came of compiling everything.
#[derive(Default)]
pub struct Built {
    /// Seconds by module.
    pub seconds: BTreeMap<String, f64>,
    /// Answers by name of the theorem.
    pub answers: BTreeMap<String, Answer>,
    /// What failed, one entry each.
    pub problems: Vec<String>,
    /// How many modules were compiled in this run.
    pub compiled: usize,
}

impl Coq {
    /// Looks for `coqc` and the libraries.
    ///
    /// # Errors
    /// What is missing.
    pub fn find(folder: &Path) -> Result<Self, String> {
        let run = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success().then_some(text)
        };
        let text = run("coqc", &["--version"]).ok_or("coqc is not installed")?;
        run("coqchk", &["--version"]).ok_or("coqchk is not installed")?;
        let version = text
            .split("version ")
            .nth(1)
            .and_then(|t| t.split_whitespace().next());
        let version = version.ok_or("coqc does not say its version")?.to_owned();
        let contrib = run("coqc", &["-where"]).unwrap_or_default();
        let contrib = Path::new(contrib.trim()).join("user-contrib");
        let mut versions = BTreeMap::from([("coq".to_owned(), version.clone())]);
        for library in ["Coquelicot", "Flocq", "Interval"] {
            if !contrib.join(library).is_dir() {
                return Err(format!("Coq's library {library} is not installed"));
            }
            let name = library.to_lowercase();
            let debian = format!("libcoq-{name}");
            let opam = format!("coq-{name}");
            let found = run("dpkg-query", &["-W", "-f", "${Version}", &debian]).or_else(|| {
                run(
                    "opam",
                    &["list", "--short", "--columns=version", "--installed", &opam],
                )
            });
            if let Some(found) = found.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()) {
                versions.insert(name, found);
            }
        }
        fs::create_dir_all(folder)
            .map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        Ok(Coq {
            version,
            versions,
            folder: folder.to_owned(),
        })
    }

    /// Compiles every file that changed or rests on one that did, and asks about its theorems.
    pub fn build(&self, sources: &Sources) -> Result<Built, String> {
        let order = sources.order()?;
        self.forget_all_but(&order)?;
        let state = Mutex::new(State::default());
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some(module) = next(sources, &order, &state, &changed) {
                        let result = self.module(sources, &module);
                        let mut state = state.lock().unwrap_or_else(|e| e.into_inner());
                        match result {
                            Ok(done) => {
                                state.built.seconds.insert(module.clone(), done.seconds);
                                state.built.answers.extend(done.answers);
                                state.built.compiled += usize::from(!done.earlier);
                                state.done.insert(module);
                            }
                            Err(problem) => {
                                state.built.problems.push(problem);
                                state.failed.insert(module);
                            }
                        }
                        drop(state);
                        changed.notify_all();
                    }
                });
            }
        });
        let state = state.into_inner().unwrap_or_else(|e| e.into_inner());
        Ok(state.built)
    }

    /// Removes what was compiled from files that no longer exist.
    fn forget_all_but(&self, modules: &[String]) -> Result<(), String> {
        let cannot = |e: std::io::Error| format!("cannot clean {}: {e}", self.folder.display());
        for (prefix, sub) in [("", "."), ("model.", "model")] {
            let folder = self.folder.join(sub);
            fs::create_dir_all(&folder).map_err(cannot)?;
            for entry in fs::read_dir(&folder).map_err(cannot)? {
                let path = entry.map_err(cannot)?.path();
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                if path.extension().is_some_and(|e| e == "vo")
                    && !modules.contains(&format!("{prefix}{name}"))
                {
                    fs::remove_file(&path).map_err(cannot)?;
                }
            }
        }
        Ok(())
    }

    fn module(&self, sources: &Sources, module: &str) -> Result<Module, String> {
        let source = &sources.files[module];
        let key = format!("{} {}", self.version, sources.closure_digest(module));
        let compiled = self.file(&source.file, &source.text, &key, true)?;
        if !compiled.accepted {
            return Err(format!(
                "{} is not accepted:\n{}",
                source.file,
                compiled.error.trim_end()
            ));
        }
        let mut answers = BTreeMap::new();
        if !source.theorems.is_empty() {
            let query = query(module, &source.theorems);
            let file = format!("ask/{}.v", module.replace('.', "_"));
            let asked = self.file(&file, &query, &format!("{key} {}", digest(&query)), false)?;
            if !asked.accepted {
                return Err(format!(
                    "{file} is not accepted:\n{}",
                    asked.error.trim_end()
                ));
            }
            answers = read_answers(&asked.output)?;
            for theorem in &source.theorems {
                if !answers.contains_key(&theorem.name) {
                    return Err(format!(
                        "{}: Coq does not know {}",
                        source.file, theorem.name
                    ));
                }
            }
        }
        Ok(Module {
            seconds: compiled.seconds,
            earlier: compiled.earlier,
            answers,
        })
    }

    /// Compiles a text, or quotes the run of the same text with the same key.
    ///
    /// # Errors
    /// Coq cannot be run, or takes longer than any file of ours should.
    pub fn file(&self, file: &str, text: &str, key: &str, keep: bool) -> Result<Outcome, String> {
        let path = self.folder.join(file);
        let stamp = path.with_extension("stamp");
        let object = path.with_extension("vo");
        if let Some(outcome) = read_stamp(&stamp, key)
            && (!keep || !outcome.accepted || object.is_file())
        {
            return Ok(outcome);
        }
        let cannot = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(cannot)?;
        }
        let _ = fs::remove_file(&stamp);
        fs::write(&path, text).map_err(cannot)?;
        let outcome = self.run(
            "coqc",
            &["-q", "-w", "none", "-noglob", "-Q", ".", "LPF", file],
            file,
        )?;
        if !keep {
            let _ = fs::remove_file(&object);
        }
        let value = json!({
            "key": key, "accepted": outcome.accepted, "output": outcome.output,
            "error": outcome.error, "seconds": outcome.seconds,
        });
        fs::write(&stamp, value.to_string()).map_err(cannot)?;
        Ok(outcome)
    }

    /// The independent checker: on every module with all that it rests on, and apart on those that
    /// rest on the Interval library, which itself would take it longer than everything else.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn check(&self, sources: &Sources) -> Result<Outcome, String> {
        let modules: Vec<&String> = sources
            .files
            .keys()
            .filter(|m| !m.starts_with("model."))
            .collect();
        let all = modules.iter().map(|m| m.to_string()).collect();
        let key = format!("{} {}", self.version, sources.digest_of(&all));
        let stamp = self.folder.join("coqchk.stamp");
        if let Some(outcome) = read_stamp(&stamp, &key) {
            return Ok(outcome);
        }
        let on_interval = |module: &str| {
            let closure = sources.closure(module);
            let requires = |m: &String| sources.files[m].text.contains("From Interval Require");
            closure.iter().any(requires)
        };
        let (apart, whole): (Vec<&String>, Vec<&String>) =
            modules.into_iter().partition(|m| on_interval(m));
        let base = ["-silent", "-bytecode-compiler", "yes", "-Q", ".", "LPF"];
        let mut arguments: Vec<String> = base.iter().map(|a| a.to_string()).collect();
        arguments.push("-o".into());
        arguments.extend(whole.iter().map(|m| format!("LPF.{m}")));
        let mut outcome = self.run("coqchk", &arguments, "coqchk")?;
        // It prints its summary as it prints errors.
        outcome.output.push_str(&outcome.error);
        // A file without a proof only makes an instance of the library.
        let apart = apart
            .into_iter()
            .filter(|m| sources.files[*m].text.contains("Qed."));
        let apart: Vec<String> = apart.map(|m| format!("LPF.{m}")).collect();
        if outcome.accepted && !apart.is_empty() {
            let mut arguments: Vec<String> = base.iter().map(|a| a.to_string()).collect();
            for module in apart {
                arguments.extend(["-norec".into(), module]);
            }
            let second = self.run("coqchk", &arguments, "coqchk")?;
            outcome.accepted = second.accepted;
            outcome.error.push_str(&second.error);
            outcome.seconds += second.seconds;
        }
        if outcome.accepted {
            let value = json!({
                "key": key, "accepted": true, "output": outcome.output,
                "error": "", "seconds": outcome.seconds,
            });
            fs::write(&stamp, value.to_string())
                .map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
        }
        Ok(outcome)
    }

    fn run<A: AsRef<std::ffi::OsStr>>(
        &self,
        program: &str,
        arguments: &[A],
        name: &str,
    ) -> Result<Outcome, String> {
        let log = |what: &str| {
            self.folder
                .join(format!("{}.{what}", name.trim_end_matches(".v")))
        };
        let (out, err) = (log("out"), log("err"));
        let create = |path: &Path| {
            fs::File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
        };
        let start = Instant::now();
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?)
            .spawn()
            .map_err(|e| format!("cannot run {program}: {e}"))?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|e| format!("{program}: {e}"))? {
                break status;
            }
            if start.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "{program} on {name}: stopped after {} s",
                    LIMIT.as_secs()
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let read = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            let _ = fs::remove_file(path);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Outcome {
            accepted: status.success(),
            output: read(&out),
            error: read(&err),
            seconds: start.elapsed().as_secs_f64(),
            earlier: false,
        })
    }
}

/// Does `work` for each item, two at a time; the results keep the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let at = Mutex::new(0);
    let results: Mutex<BTreeMap<usize, R>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let i = {
                        let mut at = at.lock().unwrap_or_else(|e| e.into_inner());
                        *at += 1;
                        *at - 1
                    };
                    let Some(item) = items.get(i) else {
                        break;
                    };
                    let result = work(item);
                    results
                        .lock()
                        .unwrap_or_else(|e| e.into_inner())
                        .insert(i, result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.into_values().collect()
}

struct Module {
    seconds: f64,
    earlier: bool,
    answers: BTreeMap<String, Answer>,
}

#[derive(Default)]
struct State {
    taken: BTreeSet<String>,
    done: BTreeSet<String>,
    failed: BTreeSet<String>,
    built: Built,
}

/// The next module that can be compiled; waits for one; `None` where none is left.
fn next(
    sources: &Sources,
    order: &[String],
    state: &Mutex<State>,
    changed: &Condvar,
) -> Option<String> {
    let mut state = state.lock().unwrap_or_else(|e| e.into_inner());
    loop {
        let mut open = false;
        for module in order {
            if state.taken.contains(module) {
                continue;
            }
            let needs = &sources.files[module].needs;
            if needs.iter().any(|n| state.failed.contains(n)) {
                state.taken.insert(module.clone());
                state.failed.insert(module.clone());
                continue;
            }
            open = true;
            if needs.iter().all(|n| state.done.contains(n)) {
                state.taken.insert(module.clone());
                return Some(module.clone());
            }
        }
        if !open {
            return None;
        }
        state = changed.wait(state).unwrap_or_else(|e| e.into_inner());
    }
}

fn read_stamp(path: &Path, key: &str) -> Option<Outcome> {
    let value: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    (value["key"] == key).then(|| Outcome {
        accepted: value["accepted"] == true,
        output: value["output"].as_str().unwrap_or_default().to_owned(),
        error: value["error"].as_str().unwrap_or_default().to_owned(),
        seconds: value["seconds"].as_f64().unwrap_or(0.0),
        earlier: true,
    })
}

const MARK: &str = "@@";

/// A file that asks Coq for the statement and the axioms of each theorem of a module.
fn query(module: &str, theorems: &[Theorem]) -> String {
    let mut text = format!(
        "Require Import Reals List ZArith.\nRequire LPF.{module}.\nImport LPF.{module}.\n\
         Open Scope R_scope.\nSet Printing Width 100.\n"
    );
    for Theorem { name, .. } in theorems {
        let full = format!("LPF.{module}.{name}");
        for (what, command) in [("statement", "Check"), ("axioms", "Print Assumptions")] {
            text.push_str(&format!(
                "Goal True. idtac \"{MARK} {what} {name}\". Abort.\n{command} {full}.\n"
            ));
        }
    }
    text
}

/// Reads what [`query`] makes Coq print.
fn read_answers(output: &str) -> Result<BTreeMap<String, Answer>, String> {
    let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
    for part in output.split(MARK).skip(1) {
        let (head, body) = part.split_once('\n').ok_or("an answer of Coq is cut off")?;
        let mut words = head.split_whitespace();
        let (what, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let answer = answers.entry(name.to_owned()).or_insert_with(|| Answer {
            statement: String::new(),
            axioms: Vec::new(),
        });
        if what == "statement" {
            let (_, statement) = body.split_once(':').ok_or("a statement without a colon")?;
            answer.statement = shifted(statement);
        } else {
            answer.axioms = axioms(body)?;
        }
    }
    Ok(answers)
}

/// The statement without the indentation that Coq gives its lines.
fn shifted(statement: &str) -> String {
    let lines: Vec<&str> = statement.trim_end().lines().collect();
    let margin = lines
        .iter()
        .skip(1)
        .map(|l| l.len() - l.trim_start().len())
        .min()
        .unwrap_or(0);
    let cut = |l: &&str| l.get(margin..).unwrap_or(l).trim_end().to_owned();
    let mut all: Vec<String> = lines.iter().take(1).map(|l| l.trim().to_owned()).collect();
    all.extend(lines.iter().skip(1).map(cut));
    all.join("\n")
}

/// The names of axioms that `Print Assumptions` lists, sorted.
pub fn axioms(text: &str) -> Result<Vec<String>, String> {
    if text.trim() == "Closed under the global context" {
        return Ok(Vec::new());
    }
    let Some((before, list)) = text.split_once("Axioms:") else {
        return Err(format!("not a list of axioms: {}", text.trim()));
    };
    if !before.trim().is_empty() {
        return Err(format!("not only axioms: {}", before.trim()));
    }
    // Names start at the margin; their types may go on, indented.
    let names = list
        .lines()
        .filter(|l| !l.starts_with(' ') && !l.trim().is_empty());
    let mut all: Vec<String> = names
        .map(|l| l.split([' ', ':']).next().unwrap_or(l).to_owned())
        .collect();
    all.sort();
    Ok(all)
}

/// The axioms in the context summary of `coqchk -o`, sorted; anything but axioms is a problem.
pub fn checked_axioms(output: &str) -> Result<Vec<String>, String> {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = None;
    for line in output.lines() {
        if let Some(head) = line.strip_prefix("* ") {
            let (head, rest) = head.split_once(':').unwrap_or((head, ""));
            current = Some(head);
            let rest = rest.trim();
            sections
                .entry(head)
                .or_default()
                .extend(Some(rest).filter(|r| !r.is_empty() && *r != "<none>"));
        } else if let (Some(head), false) = (current, line.trim().is_empty()) {
            sections.entry(head).or_default().push(line.trim());
        }
    }
    let axioms = sections.remove("Axioms").ok_or("coqchk lists no axioms")?;
    sections.remove("Theory");
    for (head, entries) in sections {
        if !entries.is_empty() {
            return Err(format!("coqchk: {head}: {}", entries.join(", ")));
        }
    }
    let mut all: Vec<String> = axioms.into_iter().map(str::to_owned).collect();
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        let output = "@@ statement a\na\n     : forall x : R,\n       x = x\n@@ axioms a\nAxioms:\n\
            ClassicalDedekindReals.sig_forall_dec\n  : forall P : nat -> Prop,\n    True\n\
            Classical_Prop.classic : forall P : Prop, P \\/ ~ P\n\
            @@ statement b\nb : True\n@@ axioms b\nClosed under the global context\n";
        let answers = read_answers(output).unwrap();
        assert_eq!(answers["a"].statement, "forall x : R,\nx = x");
        assert_eq!(
            answers["a"].axioms,
            [
                "ClassicalDedekindReals.sig_forall_dec",
                "Classical_Prop.classic"
            ]
        );
        assert_eq!(answers["b"].statement, "True");
        assert_eq!(answers["b"].axioms, [""; 0]);
        assert!(axioms("Section Variables:\np : nat\n").is_err());
    }

    #[test]
    fn the_checker_s_summary_is_read() {
        let summary = |theory: &str| {
            format!(
                "CONTEXT SUMMARY\n===============\n\n* Theory: Set is predicative\n  \n* Axioms:\n    \
                 Coq.Logic.Classical_Prop.classic\n  \n* Constants/Inductives relying on type-in-type: {theory}\n  \n\
                 * Inductives whose positivity is assumed: <none>\n"
            )
        };
        assert_eq!(
            checked_axioms(&summary("<none>")).unwrap(),
            ["Coq.Logic.Classical_Prop.classic"]
        );
        assert!(checked_axioms(&summary("LPF.T5.bad")).is_err());
        assert!(checked_axioms("").is_err());
    }

    #[test]
    fn work_in_parallel_keeps_its_order() {
        let items: Vec<u32> = (0..50).collect();
        assert_eq!(
            in_parallel(&items, |i| i * 2),
            items.iter().map(|i| i * 2).collect::<Vec<_>>()
        );
    }
}
