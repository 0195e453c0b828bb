//! What happens when the process is told to end, or is refused something by a signal.
//!
//! | signal | what happens |
//! |---|---|
//! | SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU | unfinished files are removed, then the process ends by that signal; not where it was started with the signal ignored (`nohup`) |
//! | SIGINT in `lpf train` | the first one asks for an end after the current epoch |
//! | SIGXFSZ | ignored: the write that is too long fails with an error like any other |
//! | SIGABRT | exit code 2: that is how the language ends where the system gives no memory |

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::Failure;

/// Set where a first SIGINT is a request.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn failed(error: impl ToString) -> Failure {
    Failure::Threads(format!("no handler for signals: {}", error.to_string()))
}

/// Sets up everything above.
///
/// # Errors
/// [`Failure::Threads`] where the system refuses.
#[cfg(unix)]
pub(super) fn install() -> Result<(), Failure> {
    use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::{flag, iterator::Signals};
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    let always = Arc::new(AtomicBool::new(true));
    flag::register_conditional_shutdown(SIGABRT, 2, always).map_err(failed)?;
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU]
        .into_iter()
        .filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(heeded).map_err(failed)?;
    let listen = move || {
        for signal in signals.forever() {
            let asked =
                signal == SIGINT && STOP.get().is_some_and(|s| !s.swap(true, Ordering::Relaxed));
            if !asked {
                crate::files::abandon();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(128 + signal);
            }
        }
    };
    let thread = std::thread::Builder::new().name("signals".to_string());
    thread.spawn(listen).map_err(failed)?;
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn install() -> Result<(), Failure> {
    Ok(())
}

/// The signals that whoever started the process wants ignored, as bits from SIGHUP on.
#[cfg(unix)]
fn ignored() -> u64 {
    // Where the system does not tell, none are.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .unwrap_or(0)
}

/// From now on the first SIGINT only sets this flag; the second one ends the process.
///
/// # Errors
/// [`Failure::Threads`] where the system refuses.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    #[cfg(not(unix))]
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop)).map_err(failed)?;
    Ok(stop)
}
