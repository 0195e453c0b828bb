//! A file that takes its place when it is finished.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::temporary::Temporary;

/// A file being written: it appears complete in [`finish`](NewFile::finish), or not at all where it is
/// dropped before.
///
/// A file that it replaces hands on its mode and its owner; through a symbolic link the file that is
/// meant is replaced, and the link stays. A device or a pipe is written as the bytes come.
#[derive(Debug)]
pub struct NewFile(Sink);

#[derive(Debug)]
enum Sink {
    Stream(File),
    Replacing {
        file: BufWriter<File>,
        temporary: Temporary,
        target: PathBuf,
    },
}

/// Writes a whole file.
///
/// # Errors
/// As [`NewFile`]; what was there before is then untouched.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

impl NewFile {
    /// Starts a file.
    ///
    /// # Errors
    /// Where nothing can be written there, or an existing file is read-only or of an owner that cannot
    /// be kept.
    pub fn create(path: &Path) -> io::Result<Self> {
        step()?;
        let existing = match fs::metadata(path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(found) = &existing {
            if !found.is_file() {
                let file = OpenOptions::new().write(true).open(path)?;
                return Ok(NewFile(Sink::Stream(file)));
            }
            if found.permissions().readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
        }
        let target = meant(path)?;
        let (file, temporary) = Temporary::beside(&target, existing.is_some())?;
        if let Some(found) = existing {
            step()?;
            keep(&file, &found)?;
        }
        Ok(NewFile(Sink::Replacing {
            file: BufWriter::new(file),
            temporary,
            target,
        }))
    }

    /// Brings the file to the disk and puts it in its place.
    ///
    /// # Errors
    /// Where that fails. The old file is then untouched, unless only the folder could not be brought to
    /// the disk: then the new one is in its place, whole.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Sink::Stream(mut file) => file.flush(),
            Sink::Replacing {
                mut file,
                mut temporary,
                target,
            } => {
                step()?;
                file.flush()?;
                step()?;
                file.get_ref().sync_all()?;
                temporary.place(&target)?;
                step()?;
                sync_folder(&target)
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        step()?;
        match &mut self.0 {
            Sink::Stream(file) => file.write(bytes),
            Sink::Replacing { file, .. } => file.write(bytes),
        }
    }

    /// Shows what a stream got so far; a file is shown when it is finished.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Sink::Stream(file) => file.flush(),
            Sink::Replacing { .. } => Ok(()),
        }
    }
}

/// The file that a path means, which need not exist: symbolic links are followed.
fn meant(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST_LINKS: u32 = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.with_file_name("").join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Gives a new file the owner and the mode of the old one.
#[cfg(unix)]
fn keep(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid())).map_err(|error| {
            io::Error::new(error.kind(), format!("its owner cannot be kept: {error}"))
        })?;
    }
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Brings a new name to the disk: it stands in the folder, not in the file.
#[cfg(unix)]
fn sync_folder(target: &Path) -> io::Result<()> {
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Called before everything that the system may refuse, so that tests can refuse it.
#[cfg(not(test))]
#[inline]
pub(super) fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use tests::step;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// How many steps succeed before one fails; none fails where it is negative.
        static STEPS: Cell<i64> = const { Cell::new(-1) };
    }

    pub(crate) fn step() -> io::Result<()> {
        let left = STEPS.get();
        STEPS.set(left - 1);
        match left {
            0 => Err(io::Error::other("refused by the test")),
            _ => Ok(()),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn written(path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        let mut file = NewFile::create(path)?;
        for piece in pieces {
            file.write_all(piece)?;
        }
        file.finish()
    }

    /// Each operation is refused in turn, with an old file and without one.
    #[test]
    fn whatever_fails_leaves_the_old_file_or_the_new_one() {
        let long = vec![b'x'; 1 << 16];
        let pieces: [&[u8]; 3] = [b"new", &long, b"end"];
        let new = pieces.concat();
        for old in [None, Some(&b"old"[..])] {
            let mut refused = 0;
            loop {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("out");
                if let Some(old) = old {
                    fs::write(&path, old).unwrap();
                }
                STEPS.set(refused);
                let outcome = written(&path, &pieces);
                let done = STEPS.replace(-1) >= 0;
                let found = fs::read(&path).ok();
                match outcome {
                    Ok(()) => assert_eq!(found.as_deref(), Some(&new[..])),
                    // Only the very last step comes when the new file is in its place.
                    Err(_) => assert!(
                        found.as_deref() == old || found.as_deref() == Some(&new[..]),
                        "step {refused} tore the file"
                    ),
                }
                let expected: &[&str] = if found.is_some() { &["out"] } else { &[] };
                assert_eq!(names(folder.path()), expected, "step {refused}");
                if done {
                    break;
                }
                refused += 1;
            }
            // Look, create, (keep,) three writes, flush, sync, rename, sync of the folder.
            assert_eq!(refused, if old.is_some() { 10 } else { 9 });
        }
    }

    #[test]
    fn what_dead_processes_left_is_removed_and_what_live_ones_write_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let left = |n: u32| folder.path().join(format!(".out.lpf-{n}.tmp"));
        for number in 0..5 {
            fs::write(left(number), "half").unwrap();
        }
        // A live writer holds number 2; a pipe and a link of these names are nobody's left-over.
        let live = File::options().write(true).open(left(2)).unwrap();
        live.try_lock().unwrap();
        written(&path, &[b"new"]).unwrap();
        assert_eq!(names(folder.path()), [".out.lpf-2.tmp", "out"]);
        drop(live);
        written(&path, &[b"newer"]).unwrap();
        // It stops looking at the first number that is free.
        assert_eq!(names(folder.path()), [".out.lpf-2.tmp", "out"]);
        // Two writers at once.
        let mut first = NewFile::create(&path).unwrap();
        let mut second = NewFile::create(&path).unwrap();
        first.write_all(b"first").unwrap();
        second.write_all(b"second").unwrap();
        first.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        second.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_links_and_long_names_are_kept() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x".repeat(255));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // Only root can give a file away, and must then not take it back.
        let given = std::os::unix::fs::chown(&path, Some(12_345), Some(12_346)).is_ok();
        write_file(&path, b"new").unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!(found.mode() & 0o7777, 0o640);
        if given {
            assert_eq!((found.uid(), found.gid()), (12_345, 12_346));
        }
        // A link to a file that is not there yet.
        let (link, there) = (folder.path().join("link"), folder.path().join("there"));
        symlink("there", &link).unwrap();
        write_file(&link, b"through").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&there).unwrap(), b"through");
        write_file(&link, b"again").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(write_file(&circle, b"").is_err());
        assert!(write_file(folder.path(), b"").is_err());
        write_file(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
