//! Strings that come from outside, made safe for where they are shown.

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

/// Makes characters that could disturb a terminal visible (`\u{1b}`).
///
/// These are control characters, which can move the cursor or recolour the screen, and those that
/// change the direction of what follows or are not seen at all.
#[must_use]
pub fn escape_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let unseen = matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || unseen {
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
