//! The one way out: results to standard output as they come or to a file that appears complete or not
//! at all, and words to standard error.
//!
//! Nothing else in this program writes to a standard stream: the macros of the language end the program
//! where a pipe is closed or a disk is full.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Failure;
use crate::files::NewFile;

/// A destination for results.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    File(NewFile),
}

impl Output {
    /// Standard output for none or `-`, or the file at `path`, as [`NewFile`] has it.
    ///
    /// # Errors
    /// [`Failure::Write`] where nothing can be written there.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Output {
                name: "standard output".to_string(),
                sink: Sink::Stdout(io::stdout()),
            });
        };
        let name = path.to_string_lossy().into_owned();
        let file = NewFile::create(path).map_err(|error| Failure::write(&name, error))?;
        let sink = Sink::File(file);
        Ok(Output { name, sink })
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(&self.sink, Sink::Stdout(stdout) if stdout.is_terminal())
    }

    /// Writes, and to a stream shows at once, one batch of results.
    ///
    /// # Errors
    /// [`Failure::Write`], or [`Failure::ClosedPipe`] where the reader has gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let sink: &mut dyn Write = match &mut self.sink {
            Sink::Stdout(stdout) => stdout,
            Sink::File(file) => file,
        };
        let written = sink.write_all(bytes).and_then(|()| sink.flush());
        written.map_err(|error| Failure::write(&self.name, error))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`Failure::Write`].
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.sink {
            Sink::Stdout(_) => Ok(()),
            Sink::File(file) => file.finish().map_err(|e| Failure::write(&self.name, e)),
        }
    }
}

/// Writes one whole result.
///
/// # Errors
/// As [`Output`].
pub(crate) fn write(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let mut output = Output::create(path)?;
    output.write(text.as_bytes())?;
    output.finish()
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether notes and progress are to be left out.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether nothing but errors is to be said.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says something that is no error on standard error, unless asked not to.
pub(crate) fn note(line: &str) {
    if !is_quiet() {
        say(line);
    }
}

/// Says something on standard error. Where that cannot be written there is nobody left to tell.
pub(crate) fn say(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(line.as_bytes())
        .and_then(|()| stderr.write_all(b"\n"));
}

/// Refuses an output that is one of the inputs: it would be gone.
///
/// # Errors
/// [`Failure::Usage`] that names the file.
pub(crate) fn check_distinct<'a>(
    output: Option<&Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let Some(output) = output.filter(|path| *path != Path::new("-")) else {
        return Ok(());
    };
    match inputs.into_iter().find(|input| same(output, input)) {
        Some(input) => Err(Failure::Usage(format!(
            "{} is an input, and would be replaced by the output; name another file",
            input.display()
        ))),
        None => Ok(()),
    }
}

/// Whether two paths are one regular file, by whatever names.
pub(crate) fn same(a: &Path, b: &Path) -> bool {
    let (Ok(found), Ok(other)) = (fs::metadata(a), fs::metadata(b)) else {
        return false;
    };
    if !found.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (found.dev(), found.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        other.is_file() && fs::canonicalize(a).ok() == fs::canonicalize(b).ok()
    }
}
