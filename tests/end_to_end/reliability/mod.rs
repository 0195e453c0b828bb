//! The promises "no panic, exit code 0, 1 or 2, bounded memory, nothing left behind" under attack.
//!
//! | file | what it attacks |
//! |---|---|
//! | `limits` | every size that comes from outside |
//! | `outputs` | everything that is written: devices, links, modes, full disks, closed pipes |
//! | `signals` | processes that are told to end, killed, or refused memory |
//! | `messages` | what is said: length, place, characters that are not seen |
//! | `hostile` | every reader, with changed inputs by the thousand |
//! | `large` | every command, with inputs that are large, deep, wide or packed, and the memory they take |

mod hostile;
mod large;
mod limits;
mod messages;
mod outputs;
mod signals;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No command on any input of these tests takes longer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// What no input makes a command take, in KiB.
const MOST_MEMORY: u64 = 1 << 20;

/// How a process ended.
#[derive(Debug)]
struct Ended {
    /// None where a signal ended it.
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
    /// The most memory it held, in KiB, as the system counted it.
    peak: u64,
}

/// A folder that goes away, and the commands that run in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of all that lies here, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries.map(|e| name(e).into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lpf"));
        command.args(args).current_dir(self.0.path());
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, b"")
    }

    /// A run with this on standard input.
    fn run_with(&self, args: &[&str], input: &[u8]) -> Ended {
        ended(self.command(args), input)
    }

    /// A run in a shell that says something first, such as `ulimit -f 1`.
    fn run_after(&self, shell: &str, args: &[&str]) -> Ended {
        let mut command = Command::new("sh");
        let script = format!("{shell}; exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_lpf")]);
        command.args(args).current_dir(self.0.path());
        ended(command, b"")
    }

    /// A run that must end with exit code 2, quickly, in little memory, with a short message.
    fn refused(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.err);
        assert!(ended.peak < MOST_MEMORY, "{args:?}: {} KiB", ended.peak);
        assert!(
            ended.err.len() < 4096,
            "{args:?}: {} bytes",
            ended.err.len()
        );
        ended.err
    }
}

/// The highest mark of the memory of a process, in KiB; what was seen last where it is gone.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn ended(mut command: Command, input: &[u8]) -> Ended {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A run that stops early closes its end: not being able to write is then no fault.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let out = std::thread::spawn(move || {
        let mut out = Vec::new();
        stdout.read_to_end(&mut out).unwrap();
        out
    });
    let err = std::thread::spawn(move || {
        let mut err = Vec::new();
        stderr.read_to_end(&mut err).unwrap();
        String::from_utf8_lossy(&err).into_owned()
    });
    let (start, mut highest) = (Instant::now(), 0);
    let status = loop {
        highest = peak(&child).unwrap_or(highest).max(highest);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("no end within {PATIENCE:?}: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let ended = Ended {
        code: status.code(),
        out: out.join().unwrap(),
        err: err.join().unwrap(),
        peak: highest,
    };
    writer.join().unwrap();
    ended
}

/// A small record that can be answered.
const RECORD: &str = r#"{"entity":"a","evidence":[{"factor":[0.75,0.25]}]}"#;
/// A small log.
const LOG: &str = "{\"label\":0,\"probs\":[0.75,0.25]}\n{\"label\":1,\"probs\":[0.5,0.5]}\n";

/// A model of a few units, made once for all tests.
fn model() -> &'static Path {
    static MODEL: std::sync::OnceLock<(Place, PathBuf)> = std::sync::OnceLock::new();
    let (_, path) = MODEL.get_or_init(|| {
        let place = Place::new();
        let ended = place.run(&[
            "train",
            "--entities",
            "20",
            "--epochs",
            "1",
            "--output",
            "m",
        ]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let path = place.path("m");
        (place, path)
    });
    path
}
