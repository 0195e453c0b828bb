//! Processes that are told to end, killed at any moment, or refused memory and disk.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Ended, LOG, Place, RECORD};

/// An audit that finds fault with a log has done its work.
fn has_answered(ended: &Ended) -> bool {
    matches!(ended.code, Some(0 | 1))
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// A process that has begun its output and waits for more input.
fn waiting(place: &Place) -> Child {
    let mut child = place
        .command(&["infer", "-", "--output", "out"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = RECORD.to_string();
    line.push('\n');
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(line.as_bytes())
        .unwrap();
    let start = Instant::now();
    while !place.names().iter().any(|name| name.ends_with(".tmp")) {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "no output was begun"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn told_to_end_a_process_leaves_nothing_and_ends_by_the_signal() {
    for (signal, number) in [
        ("-INT", 2),
        ("-TERM", 15),
        ("-HUP", 1),
        ("-QUIT", 3),
        ("-XCPU", 24),
    ] {
        let place = Place::new();
        place.write("out", "old");
        let mut child = waiting(&place);
        // To wait for a child closes its input, and at the end of its input it would finish its work.
        let input = child.stdin.take();
        send(signal, &child);
        let status = child.wait().unwrap();
        drop(input);
        assert_eq!(status.signal(), Some(number), "{signal}: {status:?}");
        assert_eq!(place.names(), ["out"], "{signal}");
        assert_eq!(place.read("out"), b"old");
    }
}

/// What a shell with `nohup` has ignored stays ignored.
#[test]
fn a_process_that_was_started_to_survive_a_hang_up_does() {
    let place = Place::new();
    let mut command = Command::new("sh");
    let script = "trap '' HUP; exec \"$0\" infer - --output out";
    command.args(["-c", script, env!("CARGO_BIN_EXE_lpf")]);
    let mut child = command
        .current_dir(place.path(""))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while place.names().is_empty() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(2));
    }
    send("-HUP", &child);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(RECORD.as_bytes())
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(place.names(), ["out"]);
}

/// A hundred and more left-overs of killed processes, of whatever number, are collected.
#[test]
fn what_the_killed_leave_is_collected() {
    let place = Place::new();
    place.write("a.jsonl", RECORD);
    for number in 0..150 {
        place.write(&format!(".out.lpf-{number}.tmp"), "half");
    }
    for _ in 0..3 {
        let mut child = waiting(&place);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(place.names().len() > 1);
    assert_eq!(
        place.run(&["infer", "a.jsonl", "--output", "out"]).code,
        Some(0)
    );
    assert_eq!(place.names(), ["a.jsonl", "out"]);
}

/// Killed at moments spread over the whole run: the old file or the new one, whole, and the next run
/// collects what is left.
#[test]
fn killed_at_any_moment_a_command_tears_nothing() {
    let place = Place::new();
    place.write("a.jsonl", format!("{RECORD}\n").repeat(20_000));
    place.write("log.jsonl", LOG.repeat(5_000));
    let commands: [&[&str]; 4] = [
        &["infer", "a.jsonl", "--output", "out"],
        &["audit", "log.jsonl", "--output", "out"],
        &["audit", "log.jsonl", "--partial", "out"],
        &["generate", "--entities", "400", "--output", "out"],
    ];
    let mut killed = 0;
    for args in commands {
        let start = Instant::now();
        assert!(has_answered(&place.run(args)));
        let whole = place.read("out");
        let time = start.elapsed();
        for step in 0..8u32 {
            place.write("out", "old");
            let mut child = place.command(args).spawn().unwrap();
            std::thread::sleep(time * step / 7);
            let _ = child.kill();
            killed += u32::from(child.wait().unwrap().signal() == Some(9));
            let found = place.read("out");
            assert!(
                found == b"old" || found == whole,
                "{args:?} step {step} tore the file"
            );
        }
        assert!(has_answered(&place.run(args)));
        assert_eq!(place.names(), ["a.jsonl", "log.jsonl", "out"], "{args:?}");
        assert_eq!(place.read("out"), whole);
    }
    assert!(killed >= 10, "only {killed} of 32 were killed in time");
}

/// A file that may not grow further is an error like any other.
#[test]
fn a_limit_of_file_sizes_is_an_error() {
    let place = Place::new();
    place.write("a.jsonl", format!("{RECORD}\n").repeat(20_000));
    place.write("log.jsonl", LOG.repeat(100));
    place.write("out", "old");
    let commands: [&[&str]; 4] = [
        &["infer", "a.jsonl", "--output", "out"],
        &["generate", "--entities", "50", "--output", "out"],
        &[
            "train",
            "--entities",
            "20",
            "--epochs",
            "1",
            "--output",
            "out",
        ],
        &["audit", "log.jsonl", "--format", "html", "--output", "out"],
    ];
    for args in commands {
        for blocks in [0, 1, 8, 30] {
            let ended = place.run_after(&format!("ulimit -f {blocks}"), args);
            assert_eq!(ended.code, Some(2), "{args:?} {blocks}: {}", ended.err);
            assert!(
                ended.err.contains("out: cannot be written"),
                "{}",
                ended.err
            );
            assert_eq!(place.names(), ["a.jsonl", "log.jsonl", "out"]);
            assert_eq!(place.read("out"), b"old");
        }
    }
}

/// How large a stack the shell allows does not matter, and few open files are an error like any other.
#[test]
fn small_limits_of_the_shell_are_no_crash() {
    let place = Place::new();
    place.write("a.jsonl", RECORD);
    place.write("log.jsonl", LOG.repeat(100));
    let commands: [&[&str]; 3] = [
        &["infer", "a.jsonl", "--output", "out"],
        &["audit", "log.jsonl", "--output", "out"],
        &[
            "train",
            "--entities",
            "20",
            "--epochs",
            "1",
            "--output",
            "out",
        ],
    ];
    for args in commands {
        for kibibytes in [64, 256, 1024] {
            let ended = place.run_after(&format!("ulimit -s {kibibytes}"), args);
            assert!(has_answered(&ended), "{args:?} {kibibytes}: {}", ended.err);
        }
        for files in 4..12 {
            let ended = place.run_after(&format!("ulimit -n {files}"), args);
            let said = ended.code == Some(2) && !ended.err.is_empty();
            // Below some number the loader of the system opens nothing.
            let never_ran = ended.code == Some(127);
            assert!(
                has_answered(&ended) || said || never_ran,
                "{args:?} {files}: {ended:?}"
            );
            assert!(!ended.err.contains("panicked"), "{}", ended.err);
        }
        assert_eq!(place.names(), ["a.jsonl", "log.jsonl", "out"]);
    }
}

/// The memory that the system gives shrinks to what the start itself takes: whichever allocation is refused
/// after that, the process ends with a code, and nothing is torn. Below it nothing of ours runs: a process
/// that is refused the few bytes of its handler for signals ends by the system's.
#[cfg(target_os = "linux")]
#[test]
fn refused_memory_at_any_point_is_an_error() {
    let place = Place::new();
    place.write("a.jsonl", format!("{RECORD}\n").repeat(500));
    place.write("log.jsonl", LOG);
    let commands: [&[&str]; 3] = [
        &["infer", "a.jsonl", "--threads", "1", "--output", "out"],
        &["audit", "log.jsonl", "--threads", "1", "--output", "out"],
        &[
            "train",
            "--entities",
            "40",
            "--epochs",
            "1",
            "--output",
            "out",
        ],
    ];
    // What starts in this is not always enough for the next start: addresses are random.
    let starts = |kibibytes: &u32| {
        let ended = place.run_after(&format!("ulimit -v {kibibytes}"), &["--version"]);
        ended.code == Some(0)
    };
    let start = (18_000..90_000).step_by(1_000).find(starts).unwrap() + 1_500;
    let mut refused = 0;
    for args in commands {
        assert!(has_answered(&place.run(args)));
        let whole = place.read("out");
        let mut done = 0;
        for kibibytes in (start..start + 24_000)
            .step_by(4_000)
            .chain([100_000, 160_000, 300_000])
        {
            place.write("out", "old");
            let ended = place.run_after(&format!("ulimit -v {kibibytes}"), args);
            let found = place.read("out");
            match ended.code {
                Some(0 | 1) => {
                    assert_eq!(found, whole);
                    done += 1;
                }
                Some(2) => {
                    assert!(!ended.err.is_empty());
                    assert!(found == b"old" || found == whole);
                    refused += 1;
                }
                // The loader of the system, before our first line.
                Some(127) => {}
                other => panic!("{args:?} with {kibibytes} KiB: {other:?} {}", ended.err),
            }
        }
        assert!(done > 0, "{args:?} was never done");
        assert!(has_answered(&place.run(args)));
        assert_eq!(place.names(), ["a.jsonl", "log.jsonl", "out"]);
    }
    assert!(refused > 0, "no allocation was refused");
}

/// Our own ceiling ends with a message and without a trace.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_ceiling_is_a_message_and_not_an_abort() {
    let place = Place::new();
    let items = vec!["{\"factor\":[0.5,0.5]}"; 1_000_000].join(",");
    place.write(
        "big.jsonl",
        format!("{{\"entity\":\"a\",\"evidence\":[{items}]}}\n"),
    );
    let ended = place.run(&["infer", "big.jsonl", "--output", "out", "--memory", "100M"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(
        ended.err,
        "error: the memory ceiling of 100 MiB is reached; give a smaller input, or raise it with --memory\n"
    );
    assert!(ended.peak < 400 << 10, "{} KiB", ended.peak);
    assert_eq!(place.names(), ["big.jsonl"]);
    let ended = place.run(&["infer", "big.jsonl", "--output", "out"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.peak < super::MOST_MEMORY, "{} KiB", ended.peak);
}
