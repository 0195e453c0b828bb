//! The ceiling of the memory that the process may take.
//!
//! Every size that comes from outside has a limit of its own, checked before memory is made for it. This
//! is the last line behind them: a thread looks at the memory of the process every few milliseconds and
//! ends it with exit code 2 and a message, before the system ends it with none.

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
/// [`Failure::Threads`] where there is no thread for it.
pub(super) fn watch(ceiling: Option<u64>) -> Result<(), Failure> {
    // Where the system does not say how much it has, there is no default.
    let Some(ceiling) = ceiling.or_else(|| Some(machine()? / 2)) else {
        return Ok(());
    };
    let look = move || loop {
        let taken = memory_stats::memory_stats().map_or(0, |found| found.physical_mem as u64);
        if taken > ceiling {
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

/// The memory of this machine, or of the container that we run in.
fn machine() -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let all = all
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let all = all.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
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
