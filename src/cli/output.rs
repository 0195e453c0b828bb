//! Where results go: standard output as they come, or a file that appears complete or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::Failure;

/// A destination for results.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    /// A device or a pipe: there is nothing to rename into place.
    Stream(BufWriter<File>),
    /// A new file beside the one to be replaced.
    Replacing(Option<Replacement>),
}

#[derive(Debug)]
struct Replacement {
    file: BufWriter<File>,
    temporary: PathBuf,
    target: PathBuf,
}

impl Output {
    /// Standard output, or the file at `path`.
    ///
    /// A regular file is written under another name in the same folder and takes its place in
    /// [`finish`](Output::finish); dropping the output before that leaves no trace.
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
        let sink = open(path).map_err(|error| Failure::write(&name, error))?;
        Ok(Output { name, sink })
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(&self.sink, Sink::Stdout(stdout) if stdout.is_terminal())
    }

    /// Writes, and for standard output shows at once, one batch of results.
    ///
    /// # Errors
    /// [`Failure::Write`], or [`Failure::ClosedPipe`] where the reader has gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match &mut self.sink {
            Sink::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                stdout.write_all(bytes).and_then(|()| stdout.flush())
            }
            Sink::Stream(file) => file.write_all(bytes).and_then(|()| file.flush()),
            Sink::Replacing(Some(new)) => new.file.write_all(bytes),
            Sink::Replacing(None) => Ok(()),
        };
        written.map_err(|error| Failure::write(&self.name, error))
    }

    /// Puts the file in its place.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let name = std::mem::take(&mut self.name);
        let Sink::Replacing(new) = &mut self.sink else {
            return Ok(());
        };
        let Some(new) = new.as_mut() else {
            return Ok(());
        };
        let placed = new
            .file
            .flush()
            .and_then(|()| fs::rename(&new.temporary, &new.target));
        match placed {
            Ok(()) => {
                self.sink = Sink::Replacing(None);
                Ok(())
            }
            Err(error) => Err(Failure::write(&name, error)),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Sink::Replacing(Some(new)) = &self.sink {
            // Nothing can be done, or need be said, about a temporary file that has gone already.
            let _ = fs::remove_file(&new.temporary);
        }
    }
}

fn open(path: &Path) -> io::Result<Sink> {
    let existing = match fs::metadata(path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(found) = &existing {
        if !found.is_file() {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Sink::Stream(BufWriter::new(file)));
        }
        if found.permissions().readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    // Through symbolic links to the file that is meant, so that the link stays one.
    let target = match &existing {
        Some(_) => fs::canonicalize(path)?,
        None => path.to_path_buf(),
    };
    let (file, temporary) = create_beside(&target)?;
    if let Some(found) = existing
        && let Err(error) = fs::set_permissions(&temporary, found.permissions())
    {
        fs::remove_file(&temporary)?;
        return Err(error);
    }
    Ok(Sink::Replacing(Some(Replacement {
        file: BufWriter::new(file),
        temporary,
        target,
    })))
}

/// A new file in the folder of `target`, under a name that nothing there has.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut number = 0u32;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = target.with_file_name(hidden);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                number += 1
            }
            opened => return opened.map(|file| (file, temporary)),
        }
    }
}
