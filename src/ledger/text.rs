//! The ledger's text files: the paper's numbers, how they follow from each other, and the claims.

use std::fmt;

/// A line of one of the ledger's text files that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The file.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for TextError {}

/// The lines that are neither empty nor comments, with their numbers. A line that is indented by
/// four or more spaces continues the one above.
pub(super) fn lines(text: &'static str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        match lines.last_mut() {
            Some((_, above)) if line.starts_with("    ") => {
                above.push(' ');
                above.push_str(content);
            }
            _ => lines.push((index + 1, line.trim_end().to_owned())),
        }
    }
    lines
}

/// The content of a file that is part of the program and that a test reads.
///
/// # Panics
/// Where the embedded file has an error, which the tests of this crate rule out.
pub(super) fn embedded<T>(content: Result<T, TextError>) -> T {
    content.unwrap_or_else(|error| panic!("{error}"))
}
