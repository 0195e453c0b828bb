//! `docs/audit.md`, `docs/calibrate.md` and `docs/evidence.md` show real runs: each command in them is
//! run, and must print what stands there.

use std::path::Path;
use std::process::Command;

/// Commands and the lines that stand below them, from the `console` blocks of a document.
fn shown(document: &str) -> Vec<(String, Vec<String>)> {
    let mut runs: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        match (line, line.strip_prefix("$ "), runs.last_mut()) {
            ("```console", ..) => inside = true,
            ("```", ..) => inside = false,
            (_, Some(command), _) if inside => runs.push((command.to_string(), Vec::new())),
            (line, None, Some((_, lines))) if inside => lines.push(line.to_string()),
            _ => {}
        }
    }
    runs
}

#[test]
fn what_the_page_on_audits_shows_is_what_the_program_prints() {
    shows_what_is_printed("docs/audit.md");
}

#[test]
fn what_the_page_on_real_evidence_shows_is_what_the_program_prints() {
    shows_what_is_printed("docs/evidence.md");
}

#[test]
fn what_the_page_on_calibration_shows_is_what_the_program_prints() {
    shows_what_is_printed("docs/calibrate.md");
}

fn shows_what_is_printed(page: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(root.join(page)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // The document speaks of files at the root of the repository; what it writes goes elsewhere.
    for name in ["tests", "docs"] {
        std::os::unix::fs::symlink(root.join(name), folder.path().join(name)).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_lpf")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let runs = shown(&document);
    assert!(runs.len() >= 6, "{} commands", runs.len());
    for (command, lines) in runs {
        let run = Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&run.stdout).into_owned()
            + &String::from_utf8_lossy(&run.stderr);
        let mut rest = printed.lines();
        // Lines of the document stand in the output in this order; "..." leaves some out.
        for line in lines.iter().filter(|line| *line != "...") {
            let line = line.trim_end();
            assert!(
                rest.any(|printed| printed.trim_end() == line),
                "$ {command}\ndoes not print\n{line}\nbut\n{printed}"
            );
        }
    }
}
