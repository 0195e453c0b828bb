//! What messages show of a text that comes from outside and may be long.

use std::borrow::Cow;

/// The most characters of such a text in a message.
pub const MOST_SHOWN: usize = 400;

/// The text, or its beginning and how much is left out.
///
/// ```
/// use lpf::log::brief;
///
/// assert_eq!(brief("short"), "short");
/// assert!(brief(&"x".repeat(1000)).ends_with("xx… (600 bytes more)"));
/// ```
pub fn brief(text: &str) -> Cow<'_, str> {
    shortened(text, MOST_SHOWN)
}

/// A name within a message.
pub(super) fn brief_name(name: &str) -> Cow<'_, str> {
    shortened(name, 80)
}

/// The same with another number of characters.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // At least one byte a character: short texts, nearly all, need not be walked.
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let (shown, rest) = text.split_at(end);
            Cow::Owned(format!("{shown}… ({} bytes more)", rest.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let long = "é".repeat(MOST_SHOWN);
        assert_eq!(brief(&long), long);
        let longer = format!("{long}éé");
        assert_eq!(brief(&longer), format!("{long}… (4 bytes more)"));
    }
}
