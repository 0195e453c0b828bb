//! The targets of `tests/fuzz`, as functions of bytes: nothing makes a reader panic, and what it accepts
//! can be used.

macro_rules! target {
    ($name:ident, $read:expr) => {
        pub fn $name(bytes: &[u8]) {
            let read = $read;
            read(bytes, true);
        }
    };
}

#[path = "../../tests/fuzz/readers.rs"]
mod readers;

pub use readers::*;
