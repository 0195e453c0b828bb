//! The file that is written before it gets its name.
//!
//! It is called `.NAME.lpf-0.tmp`, and its writer holds a lock on it, which the system gives up when the
//! process ends in whatever way. So a file that can be locked is left over from a process that died, and
//! is removed by the next one that writes the same NAME, also where every process has the same number,
//! as in containers.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::new_file::step;
use crate::log::sha256;

/// More writers of one name at a time are refused.
const MOST: u32 = 1000;

/// Longer names are shortened: file systems allow 255 bytes, and some are added here.
const LONGEST_NAME: usize = 200;

/// What would be left behind if the process ended now.
#[derive(Debug, Default)]
struct Registry {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    files: Vec::new(),
    folders: Vec::new(),
});

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes everything unfinished, before the process is ended from outside.
///
/// Nothing can be created or put in its place afterwards: whoever tries waits for the end.
pub fn abandon() {
    let held = registry();
    // What has gone already need not be removed, and nobody is left to be told of other errors.
    for file in &held.files {
        let _ = fs::remove_file(file);
    }
    for folder in held.folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
    std::mem::forget(held);
}

/// Notes folders that were made for what is still to be written.
pub(super) fn expect_folders(folders: &[PathBuf]) {
    registry().folders.extend_from_slice(folders);
}

/// These folders stay, or are gone.
pub(super) fn forget_folders(folders: &[PathBuf]) {
    // Byte by byte: to compare part by part takes minutes where folders lie thousands deep.
    let named = |known: &PathBuf| folders.iter().any(|f| f.as_os_str() == known.as_os_str());
    registry().folders.retain(|known| !named(known));
}

/// A new file beside another, removed when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    placed: bool,
}

impl Temporary {
    /// Makes one in the folder of `target`, and removes those that dead processes left there.
    pub(super) fn beside(target: &Path, secret: bool) -> io::Result<(File, Self)> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // What replaces a file is nobody's business before it has that file's mode.
        #[cfg(unix)]
        if secret {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut number = 0;
        let (file, path) = loop {
            let path = numbered(target, name, number);
            step()?;
            // Under the lock, so that a signal finds the file in the registry or not on the disk.
            let mut known = registry();
            match options.open(&path) {
                Ok(file) if is_ours(&file) => {
                    known.files.push(path.clone());
                    break (file, path);
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                // A file that could be removed leaves its number to us.
                Err(_) if remove_left_over(&path) => {}
                _ if number == MOST => return Err(busy()),
                _ => number += 1,
            }
        };
        for later in number + 1..MOST {
            let path = numbered(target, name, later);
            if !path.exists() {
                break;
            }
            remove_left_over(&path);
        }
        let temporary = Temporary {
            path,
            placed: false,
        };
        Ok((file, temporary))
    }

    /// Puts it in the place of `target`.
    pub(super) fn place(&mut self, target: &Path) -> io::Result<()> {
        // A signal comes before or after, not in between.
        let mut known = registry();
        step()?;
        fs::rename(&self.path, target)?;
        known.files.retain(|file| *file != self.path);
        self.placed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.placed {
            return;
        }
        let mut known = registry();
        // Nothing can be done, or need be said, about a temporary file that has gone already.
        let _ = fs::remove_file(&self.path);
        known.files.retain(|file| *file != self.path);
    }
}

fn busy() -> io::Error {
    let what = format!("{MOST} temporary files of this name are in use, or locks do not work here");
    io::Error::new(io::ErrorKind::ResourceBusy, what)
}

fn numbered(target: &Path, name: &std::ffi::OsStr, number: u32) -> PathBuf {
    let mut hidden = OsString::from(".");
    if name.len() <= LONGEST_NAME {
        hidden.push(name);
    } else {
        hidden.push(sha256(name.as_encoded_bytes()));
    }
    hidden.push(format!(".lpf-{number}.tmp"));
    target.with_file_name(hidden)
}

/// Locks a file that was just made; not ours where another process took it for a left-over first.
fn is_ours(file: &File) -> bool {
    match file.try_lock() {
        Ok(()) => is_linked(file),
        Err(TryLockError::WouldBlock) => false,
        // Without locks nothing is ever taken for a left-over.
        Err(TryLockError::Error(_)) => true,
    }
}

#[cfg(unix)]
fn is_linked(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|found| found.nlink() > 0)
}

#[cfg(not(unix))]
fn is_linked(_: &File) -> bool {
    true
}

/// Whether a file was left by a process that died, and is gone now.
fn remove_left_over(path: &Path) -> bool {
    // Neither a pipe that would block nor a link to something else.
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let Ok(file) = OpenOptions::new().write(true).open(path) else {
        return false;
    };
    file.try_lock().is_ok() && fs::remove_file(path).is_ok()
}
