//! Files that appear complete or not at all.
//!
//! | file | what it holds |
//! |---|---|
//! | `new_file` | [`NewFile`]: a file that takes its place when it is finished |
//! | `temporary` | the name it has until then, and what is left of processes that died |
//! | `new_folder` | [`NewFolder`]: a folder that goes again unless something was put into it |
//!
//! A regular file is written under another name in the same folder, brought to the disk, and renamed;
//! then the folder is brought to the disk too. Whenever the process ends, a reader finds the old file or
//! the new one. Devices and pipes have nothing to rename and are written through.

mod new_file;
mod new_folder;
mod temporary;

pub use new_file::{NewFile, write_file};
pub use new_folder::NewFolder;
pub use temporary::abandon;
