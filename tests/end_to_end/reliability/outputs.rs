//! Everything that is written: to devices, through links, over other files, or not at all.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

use super::hostile::MAP;
use super::{LOG, Place, RECORD};

/// The commands that write a file (`experiment` and `verify` take longer, the same way), with the option before the name.
const WRITERS: [&[&str]; 9] = [
    &["infer", "a.jsonl", "--output"],
    &["audit", "log.jsonl", "--output"],
    &["audit", "log.jsonl", "--partial"],
    &["calibrate", "log.jsonl", "--method", "isotonic", "--output"],
    &["generate", "--entities", "3", "--output"],
    &["train", "--entities", "20", "--epochs", "1", "--output"],
    &["apply", "log.jsonl", "--calibration", "map", "--output"],
    &["claims", "L2", "--output"],
    &["monitor", "log.jsonl", "--html"],
];

fn place() -> Place {
    let place = Place::new();
    place.write("a.jsonl", RECORD);
    place.write("log.jsonl", LOG.repeat(10));
    place.write("map", MAP);
    place
}

/// What lies there from the start.
const FIRST: [&str; 3] = ["a.jsonl", "log.jsonl", "map"];

#[test]
fn modes_links_devices_and_pipes_are_what_they_were() {
    for writer in WRITERS {
        let place = place();
        let run = |name: &str| place.run(&[writer, &[name]].concat());
        let before = place.names().len();
        // A mode that nobody else may read, behind a link.
        place.write("secret", "old");
        fs::set_permissions(place.path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("secret", place.path("link")).unwrap();
        let ended = run("link");
        assert_eq!(ended.code, Some(0), "{writer:?}: {}", ended.err);
        assert!(
            fs::symlink_metadata(place.path("link"))
                .unwrap()
                .is_symlink()
        );
        let secret = fs::metadata(place.path("secret")).unwrap();
        assert_eq!(secret.mode() & 0o777, 0o600, "{writer:?}");
        assert_ne!(place.read("secret"), b"old", "{writer:?}");
        // A device, and a pipe with a reader.
        assert_eq!(run("/dev/null").code, Some(0), "{writer:?}");
        assert_eq!(run("/dev/full").code, Some(2), "{writer:?}");
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
        let fifo = place.path("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        let reader = std::thread::spawn(move || fs::read(fifo).unwrap());
        assert_eq!(run("fifo").code, Some(0), "{writer:?}");
        assert_eq!(reader.join().unwrap(), place.read("secret"), "{writer:?}");
        assert!(!fs::metadata(place.path("fifo")).unwrap().is_file());
        // Standard output; a map and a state are followed or preceded by nothing else.
        let shown = run("-");
        assert_eq!(shown.code, Some(0), "{writer:?}: {}", shown.err);
        assert!(shown.out.starts_with(&place.read("secret")), "{writer:?}");
        // A folder that is not there is told before the work.
        let ended = run("no/such/folder/file");
        assert_eq!(ended.code, Some(2), "{writer:?}");
        assert!(
            ended.err.contains("no/such/folder/file: cannot be written"),
            "{}",
            ended.err
        );
        assert_eq!(
            place.names().len(),
            before + 3,
            "{writer:?}: {:?}",
            place.names()
        );
    }
}

/// Standard output and standard error that cannot be written, or that nobody reads.
#[test]
fn closed_and_full_streams_are_no_panic() {
    let place = place();
    let commands: [&[&str]; 14] = [
        &["infer", "a.jsonl"],
        &["apply", "log.jsonl", "--calibration", "map"],
        &["monitor", "log.jsonl"],
        &["bound", "t3-prime", "--n", "900", "--errors", "42"],
        &["claims", "L2"],
        &["completions", "bash"],
        &["man"],
        &["audit", "log.jsonl"],
        &[
            "calibrate",
            "log.jsonl",
            "--method",
            "isotonic",
            "--output",
            "map",
        ],
        &[
            "train",
            "--entities",
            "20",
            "--epochs",
            "1",
            "--output",
            "model",
        ],
        &["generate"],
        &["--help"],
        &["--version"],
        &["limits"],
    ];
    for args in commands {
        for shell in ["exec >/dev/full", "exec >&-"] {
            let ended = place.run_after(shell, args);
            // Without a standard output the language writes to nowhere.
            let expected: &[Option<i32>] = if shell.ends_with('-') {
                &[Some(0), Some(2)]
            } else {
                &[Some(2)]
            };
            assert!(
                expected.contains(&ended.code),
                "{args:?} {shell}: {:?} {}",
                ended.code,
                ended.err
            );
        }
        let mut child = place
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 2)), "{args:?} | true: {code:?}");
    }
    for args in [
        &["infer", "missing"][..],
        &["nonsense"],
        &["audit", "a.jsonl", "--strict"],
    ] {
        for shell in ["exec 2>/dev/full", "exec 2>&-", "exec >/dev/full 2>&1"] {
            let ended = place.run_after(shell, args);
            assert_eq!(ended.code, Some(2), "{args:?} {shell}");
        }
    }
}

#[test]
fn inputs_are_not_replaced_except_by_their_sum() {
    let place = place();
    symlink("log.jsonl", place.path("link.jsonl")).unwrap();
    fs::hard_link(place.path("a.jsonl"), place.path("hard.jsonl")).unwrap();
    for args in [
        &["infer", "a.jsonl", "--output", "a.jsonl"][..],
        &["infer", "a.jsonl", "--output", "hard.jsonl"],
        &["audit", "log.jsonl", "--output", "./log.jsonl"],
        &["audit", "log.jsonl", "--partial", "link.jsonl"],
        &[
            "audit",
            "log.jsonl",
            "--baseline",
            "a.jsonl",
            "--output",
            "a.jsonl",
        ],
        &[
            "calibrate",
            "log.jsonl",
            "--method",
            "isotonic",
            "--output",
            "link.jsonl",
        ],
        &["train", "--data", "a.jsonl", "--output", "a.jsonl"],
    ] {
        let err = place.refused(args);
        assert!(
            err.contains("is an input, and would be replaced"),
            "{args:?}: {err}"
        );
        assert_eq!(
            (place.read("a.jsonl"), place.read("log.jsonl").len()),
            (RECORD.into(), LOG.len() * 10)
        );
    }
}

#[test]
fn two_outputs_are_two_files() {
    let place = place();
    let args = ["monitor", "log.jsonl", "--state", "s", "--html", "s"];
    let err = place.refused(&args);
    assert!(err.contains("--state and --html are one file"), "{err}");
    assert_eq!(place.names(), FIRST);
}

/// Rows that a failed run has seen are not in the state: the next run may be given them again.
#[test]
fn a_monitor_that_fails_leaves_its_state_as_it_was() {
    let place = place();
    let watch = ["monitor", "log.jsonl", "--state", "s"];
    let page = [&watch[..], &["--html", "/dev/full"]].concat();
    let fail = || {
        assert_eq!(place.run(&page).code, Some(2));
        let ended = place.run_after("exec >/dev/full", &watch);
        assert_eq!(ended.code, Some(2), "{}", ended.err);
    };
    fail();
    assert_eq!(place.names(), FIRST);
    assert_eq!(place.run(&watch).code, Some(0));
    let state = place.read("s");
    fail();
    assert_eq!(place.read("s"), state);
}

/// A tree of states, any of which may be written over: the report is that of the whole log.
#[test]
fn states_of_states_give_the_same_report() {
    let place = Place::new();
    let parts: Vec<String> = (0..5)
        .map(|i| format!("{{\"label\":{},\"probs\":[0.{i}5,0.{}5]}}\n", i % 2, 9 - i))
        .collect();
    let names: Vec<String> = (0..5).map(|i| format!("{i}.jsonl")).collect();
    for (i, part) in parts.iter().enumerate() {
        place.write(&names[i], part.repeat(i + 1));
        let args = ["audit", &names[i], "--partial", &format!("{i}.state")];
        assert_eq!(place.run(&args).code, Some(0));
    }
    let merge = |parts: &[&str], into: &str| {
        let ended = place.run(&[&["audit", "--merge"], parts, &["--partial", into]].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended.err
    };
    assert_eq!(merge(&["3.state", "1.state"], "31.state"), "");
    assert_eq!(merge(&["0.state", "4.state"], "04.state"), "");
    let said = merge(&["04.state", "2.state"], "04.state");
    assert_eq!(said, "04.state is read, and replaced when all are merged\n");
    let mut files: Vec<&str> = vec!["audit", "--format", "json"];
    files.extend(names.iter().map(String::as_str));
    let whole = place.run(&files);
    let tree = place.run(&[
        "audit", "--merge", "31.state", "04.state", "--format", "json",
    ]);
    assert_eq!(whole.code, tree.code);
    assert_eq!(String::from_utf8(whole.out), String::from_utf8(tree.out));
}

#[test]
fn a_command_that_fails_leaves_no_folder() {
    let place = place();
    let trials = [
        "experiment",
        "T2",
        "--trials",
        "1",
        "--output",
        "new/folder",
    ];
    // Refused in the course of the work: too few entities for what it does.
    let ended = place.run_after("ulimit -f 0", &trials);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert_eq!(place.names(), FIRST);
    // Two thousand folders can be made before the path is too long.
    let err = place.refused(&["experiment", "T2", "--output", &"y/".repeat(3000)]);
    assert!(err.contains("File name too long"), "{err}");
    assert_eq!(place.names(), FIRST);
}

/// A new command is one line more in the script, or this test fails.
#[test]
fn every_command_is_tortured() {
    let script = include_str!("../../torture/syscalls.sh");
    let attacked = |command: &str| {
        script
            .lines()
            .filter_map(|line| line.trim().strip_prefix("torture "))
            // Behind what is there before and how many calls.
            .filter_map(|rest| rest.split_whitespace().nth(2))
            .any(|word| word.trim_matches(['\'', '"']) == command)
    };
    let help = String::from_utf8(Place::new().run(&["--help"]).out).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    // Descriptions go on in lines that are further to the right.
    let named = |line: &str| line.starts_with("  ") && !line.starts_with("   ");
    let commands: Vec<&str> = commands
        .lines()
        .filter(|line| named(line))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() >= 14, "{commands:?}");
    let forgotten: Vec<&&str> = commands.iter().filter(|name| !attacked(name)).collect();
    assert!(
        forgotten.is_empty(),
        "tests/torture/syscalls.sh has no line for {forgotten:?}"
    );
}
