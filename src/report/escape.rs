//! Strings that come from outside, made safe for where they are shown.

use std::fmt::Write;

/// Escapes for HTML and XML text and quoted attributes.
///
/// Control characters that XML 1.0 forbids become U+FFFD, so that the result is well-formed
/// whatever the input holds.
#[must_use]
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes for a Markdown table cell or paragraph: no markup, no line breaks, no raw HTML.
#[must_use]
pub fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Characters that are not seen themselves: control and format characters, separators of lines, and
/// whatever Unicode says is to be ignored (categories Cc, Cf, Zl, Zp; Default_Ignorable_Code_Point).
const UNSEEN: [(char, char); 27] = [
    ('\u{0000}', '\u{001f}'),
    ('\u{007f}', '\u{009f}'),
    ('\u{00ad}', '\u{00ad}'),
    ('\u{034f}', '\u{034f}'),
    ('\u{0600}', '\u{0605}'),
    ('\u{061c}', '\u{061c}'),
    ('\u{06dd}', '\u{06dd}'),
    ('\u{070f}', '\u{070f}'),
    ('\u{0890}', '\u{0891}'),
    ('\u{08e2}', '\u{08e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{13438}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a character shows nothing of itself, so that two texts which look alike may differ by it.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    if (' '..='~').contains(&c) {
        return false;
    }
    let at = UNSEEN.partition_point(|(_, last)| *last < c);
    UNSEEN.get(at).is_some_and(|(first, _)| *first <= c)
}

/// Appends a character as JSON escapes it, two escapes where UTF-16 needs two.
pub fn escape_json(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to memory cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Makes characters that could disturb a terminal visible (`\u{1b}`).
///
/// These are control characters, which can move the cursor or recolour the screen, and those that
/// change the direction of what follows or are not seen at all: see [`is_unseen`].
#[must_use]
pub fn escape_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fixture is Perl's view of Unicode; its header says which.
    #[test]
    fn the_unseen_are_those_that_unicode_lists() {
        let listed = include_str!("../../tests/fixtures/unicode/unseen.txt");
        let ranges: Vec<(u32, u32)> = listed
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let (first, last) = line.split_once(' ').unwrap();
                let number = |digits| u32::from_str_radix(digits, 16).unwrap();
                (number(first), number(last))
            })
            .collect();
        let mut unseen = 0;
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            let expected = ranges.iter().any(|(a, b)| (*a..=*b).contains(&code));
            assert_eq!(is_unseen(c), expected, "{code:x}");
            unseen += u32::from(expected);
        }
        assert!(unseen > 4000);
        let mut json = String::new();
        "\u{ad}\u{1d173}"
            .chars()
            .for_each(|c| escape_json(c, &mut json));
        assert_eq!(json, "\\u00ad\\ud834\\udd73");
    }

    #[test]
    fn markup_and_control_characters_are_harmless() {
        let evil = "<script>alert('&\"')</script>\u{1b}[31m|`x`\u{202e}";
        let html = escape_html(evil);
        assert!(!html.contains(['<', '>', '"', '\'', '\u{1b}']));
        let markdown = escape_markdown(evil);
        assert!(!markdown.contains('<') && markdown.contains("\\|\\`x\\`"));
        let terminal = escape_terminal(evil);
        assert!(terminal.contains("\\u{1b}[31m") && terminal.contains("\\u{202e}"));
        assert!(!terminal.contains('\u{1b}'));
    }
}
