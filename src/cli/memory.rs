//! The ceiling of the memory that the process may take.
//!
//! Every size that comes from outside has a limit of its own, checked before memory is made for it. This
//! is the last line behind them: a thread looks at the memory of the process every few milliseconds and
//! ends it with exit code 2 and a message, before the system ends it with none. How much a process takes
//! is read from `/proc`; where there is none, there is no ceiling.

use std::path::Path;
use std::time::Duration;

use super::Failure;
use super::output::say;

/// Between two looks; a thread fills some ten megabytes in that time.
const PERIOD: Duration = Duration::from_millis(5);

/// Ends the process with exit code 2 once it takes more than `ceiling` bytes, by default half of what the
/// machine or its container has.
///
/// # Errors
/// [`Failure::Usage`] where a ceiling is asked for on a system that does not say what a process takes,
/// [`Failure::Threads`] where there is no thread for it.
pub(super) fn watch(ceiling: Option<u64>) -> Result<(), Failure> {
    if ceiling.is_some() && taken().is_none() {
        let what = "--memory: this system has no /proc/self/status to read the memory from";
        return Err(Failure::Usage(what.to_string()));
    }
    let Some(ceiling) = ceiling.or_else(|| Some(machine()? / 2)) else {
        return Ok(());
    };
    let look = move || loop {
        if taken().is_some_and(|taken| taken > ceiling) {
            crate::files::abandon();
            say(&format!(
                "error: the memory ceiling of {} MiB is reached; give a smaller input, or raise it with --memory",
                ceiling >> 20
            ));
            std::process::exit(2);
        }
        std::thread::sleep(PERIOD);
    };
    let thread = std::thread::Builder::new().name("memory".to_string());
    let started = thread.spawn(look);
    started.map_err(|error| Failure::Threads(error.to_string()))?;
    Ok(())
}

/// The memory that this process takes.
fn taken() -> Option<u64> {
    kibibytes(
        &std::fs::read_to_string("/proc/self/status").ok()?,
        "VmRSS:",
    )
}

/// The number of bytes in a line such as `VmRSS:  1234 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.trim().strip_suffix("kB")?;
    number.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The memory of this machine, or of the container that we run in.
fn machine() -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let all = kibibytes(&all, "MemTotal:")?;
    let container = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let given = |path: &&str| {
        std::fs::read_to_string(Path::new(path))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    Some(container.iter().filter_map(given).fold(all, u64::min))
}

/// Reads a number, of bytes mostly: `512M`, `2G`, or plain.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim_end_matches(['i', 'B', 'b']) {
        text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 10),
        text if text.ends_with(['m', 'M']) => (&text[..text.len() - 1], 20),
        text if text.ends_with(['g', 'G']) => (&text[..text.len() - 1], 30),
        text => (text, 0),
    };
    let number = digits.parse::<u64>().ok();
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "write a whole number above zero, such as 4096, 512M or 2G".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        let text = "VmPeak:\t   90 kB\nVmRSS:\t    1234 kB\n";
        assert_eq!(kibibytes(text, "VmRSS:"), Some(1234 << 10));
        assert_eq!(kibibytes(text, "MemTotal:"), None);
    }

    #[test]
    fn bytes_are_read_with_their_unit() {
        let read = [
            ("7", 7),
            ("3k", 3 << 10),
            ("512M", 512 << 20),
            ("2GiB", 2 << 30),
        ];
        for (text, want) in read {
            assert_eq!(bytes(text), Ok(want), "{text}");
        }
        for wrong in ["", "G", "0", "-1", "1.5G", "99999999999G", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
