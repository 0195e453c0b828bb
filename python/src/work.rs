//! Long work without the interpreter's lock, which Ctrl-C ends.
//!
//! Each call has threads of its own: those of a pool that lives on would be missing in a process that was
//! forked from this one, and whoever waits for them would wait forever.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::plain;

/// Between two looks for a signal.
const PERIOD: Duration = Duration::from_millis(50);

/// Whether work is to end.
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

/// What work that was ended unwinds with.
struct Stopped;

impl Stop {
    /// Ends the work here, without a word, where that was asked for.
    pub(crate) fn look(&self) {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Does the work on threads of its own. A signal whose handler raises an exception (KeyboardInterrupt) asks
/// the work to end, which it does at its next [`Stop::look`].
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&Stop) -> T + Send,
) -> PyResult<T> {
    let stop = Stop::default();
    let outcome = py.detach(|| {
        let (done, is_done) = channel::<()>();
        std::thread::scope(|scope| {
            let stop = &stop;
            let worker = scope.spawn(move || {
                let _done = done;
                catch_unwind(AssertUnwindSafe(|| {
                    pool(threads)?.install(|| Ok(work(stop)))
                }))
            });
            let mut interrupted = None;
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(PERIOD) {
                if interrupted.is_none() {
                    interrupted = Python::attach(|py| py.check_signals()).err();
                    stop.0.store(interrupted.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join().and_then(|outcome| outcome), interrupted)
        })
    });
    match outcome {
        (_, Some(interrupted)) => Err(interrupted),
        (Ok(result), None) => result,
        (Err(_), None) => Err(fault()),
    }
}

/// The same for work that has no place to look: the caller does not wait for its end.
pub(crate) fn run_apart<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    py.detach(|| {
        let (done, outcome) = channel();
        std::thread::spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| pool(threads)?.install(|| Ok(work()))));
            // Nobody may be waiting any more.
            let _ = done.send(result);
        });
        loop {
            match outcome.recv_timeout(PERIOD) {
                Ok(Ok(result)) => return result,
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(fault()),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            }
        }
    })
}

fn pool(threads: Option<usize>) -> PyResult<rayon::ThreadPool> {
    let (asked, most) = (threads.unwrap_or(0), lpf::log::Limits::default().threads);
    if asked as u64 > most {
        let what = format!("threads: more than {most} threads, the limit threads");
        return Err(Python::attach(|py| plain(py, "SettingError", what)));
    }
    let builder = rayon::ThreadPoolBuilder::new().num_threads(asked);
    let built = builder.build();
    built.map_err(|error| PyRuntimeError::new_err(format!("no threads: {error}")))
}

fn fault() -> PyErr {
    PyRuntimeError::new_err("this is a fault of lpf itself; please report it with the input")
}
