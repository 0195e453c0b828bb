//! Long inputs, long lines, slow writers and readers that leave.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use super::{infer, lpf};

const LINE: &str = "{\"entity\":\"a\",\"evidence\":[{\"factor\":[0.5,0.25,0.25],\"weight\":0.5},{\"factor\":[0.1,0.2,0.7]}]}\n";

#[test]
fn a_line_of_100_megabytes_is_refused_before_it_is_in_memory() {
    let mut input = LINE.as_bytes().to_vec();
    input.extend(b"{\"entity\":\"");
    input.resize(100_000_000, b'x');
    let run = infer(&[], &input);
    let message = "error: standard input:2: line: more than 67108864 bytes in one line, the limit line-bytes; --max line-bytes=N allows more\n";
    assert_eq!((run.code, &*run.err), (Some(2), message));
    // The line before it was answered.
    assert_eq!(run.out.lines().count(), 1);
}

/// Negative control of the limit: a line just below it is read (and is no JSON).
#[test]
fn a_line_of_64_mebibytes_is_read() {
    let mut input = vec![b'x'; 64 << 20];
    input.push(b'\n');
    let run = infer(&[], &input);
    assert!(
        run.err
            .starts_with("error: standard input:1: line: not JSON"),
        "{}",
        run.err
    );
    input.insert(0, b'x');
    let run = infer(&[], &input);
    assert!(
        run.err
            .starts_with("error: standard input:1: line: more than 67108864 bytes in one line"),
        "{}",
        run.err
    );
}

/// Answers come as lines do, and what a process holds does not grow with what it has seen.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    let mut child = lpf()
        .args(["infer", "-", "--threads", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // Kilobytes at most so far, once `lines` more lines have been answered.
    let mut peak_after = |lines: usize| -> u64 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let block = LINE.repeat(1000);
                for _ in 0..lines / 1000 {
                    stdin.write_all(block.as_bytes()).unwrap();
                }
            });
            for _ in 0..lines {
                assert!(
                    answers
                        .next()
                        .unwrap()
                        .unwrap()
                        .starts_with("{\"entity\":\"a\"")
                );
            }
        });
        let status = std::fs::read_to_string(&status).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let early = peak_after(20_000);
    let late = peak_after(150_000);
    // 150,000 lines are 14 megabytes, and their answers more; what may differ is how batches
    // happened to fall.
    assert!(late < early + 5_000, "{early} kB, then {late} kB");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = lpf()
        .args(["infer", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(LINE.as_bytes()).unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    // Whether the process still takes lines is its own business.
    let _ = stdin.write_all(LINE.repeat(50_000).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

#[test]
fn the_table_is_aligned_and_plain_in_a_pipe() {
    let input = "{\"entity\":\"first\",\"classes\":[\"low\",\"medium\",\"high\"],\"evidence\":[{\"id\":\"e1\",\"factor\":[0.5,0.25,0.25]},{\"id\":\"e2\",\"factor\":[0.5,0.5,0]}]}\n";
    let run = infer(&["--format", "text", "--explain"], input.as_bytes());
    // By hand: (1/4, 1/8, 0) gives 2/3 and 1/3. Without e1: 1/6 + 1/6; without e2: 1/6 + 1/12 + 1/4.
    let want = "\
entity                prediction        k_eff  low                medium             high
first                 low                2.00   66.7% #######...   33.3% ###.......    0.0% ..........
  e1                  weight 1.0000     influence 0.3333 ##........  factor 0.5000 0.2500 0.2500
  e2                  weight 1.0000     influence 0.5000 ###.......  factor 0.5000 0.5000 0.0000
";
    assert_eq!((&*run.out, run.code), (want, Some(0)));
}
