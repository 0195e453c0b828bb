//! A folder for results, which goes again unless there are some.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::temporary::{expect_folders, forget_folders};

/// A folder that is made before the work, so that one that cannot be made is known early. Dropped
/// without [`keep`](NewFolder::keep), it is removed again as far as it was made here and is empty.
#[derive(Debug)]
#[must_use = "a folder that is dropped is removed"]
pub struct NewFolder {
    /// Outermost first.
    made: Vec<PathBuf>,
}

impl NewFolder {
    /// Makes the folder and those around it, where they are missing.
    ///
    /// # Errors
    /// Where that is not possible; nothing is left then.
    pub fn create(path: &Path) -> io::Result<Self> {
        let missing = path.ancestors().take_while(|folder| !folder.exists());
        let mut missing: Vec<PathBuf> = missing
            .filter(|folder| *folder != Path::new(""))
            .map(Path::to_path_buf)
            .collect();
        missing.reverse();
        let mut folder = NewFolder { made: Vec::new() };
        for path in missing {
            match fs::create_dir(&path) {
                Ok(()) => {
                    expect_folders(std::slice::from_ref(&path));
                    folder.made.push(path);
                }
                // Somebody else was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        if !path.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(folder)
    }

    /// Leaves the folder where it is.
    pub fn keep(mut self) {
        forget_folders(&self.made);
        self.made.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // A folder with something in it stays.
            let _ = fs::remove_dir(folder);
        }
        forget_folders(&self.made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_and_is_empty_goes() {
        let root = tempfile::tempdir().unwrap();
        let (outer, inner) = (root.path().join("a"), root.path().join("a/b/c"));
        drop(NewFolder::create(&inner).unwrap());
        assert!(!outer.exists() && root.path().exists());
        let folder = NewFolder::create(&inner).unwrap();
        fs::write(outer.join("kept"), "").unwrap();
        drop(folder);
        assert!(outer.exists() && !outer.join("b").exists());
        NewFolder::create(&inner).unwrap().keep();
        drop(NewFolder::create(&inner).unwrap());
        assert!(inner.exists());
        assert!(NewFolder::create(&outer.join("kept")).is_err());
        assert!(NewFolder::create(&outer.join("kept/below")).is_err());
    }
}
