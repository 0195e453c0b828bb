//! Text for a person's terminal.

use indicatif::ProgressStyle;

use crate::log::shortened;
pub(crate) use crate::report::escape_terminal as escaped;

/// The most characters of a part of a message, as they are shown.
const LONGEST: usize = 2000;

/// What a message says of a text that comes from outside: its beginning where it is long, and nothing
/// that moves a cursor.
pub(crate) fn message(text: &str) -> String {
    // Cut first, as escapes of a long text are longer still.
    let shown = escaped(&shortened(text, LONGEST));
    shortened(&shown, LONGEST).into_owned()
}

/// The look of a progress bar; a template that indicatif refuses gives its default look.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The text, escaped, in exactly `width` characters: padded with spaces, or cut with `…` (or `~`).
pub(crate) fn fitted(text: &str, width: usize, unicode: bool) -> String {
    let text = escaped(text);
    let length = text.chars().count();
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push(if unicode { '…' } else { '~' });
    cut
}

/// A bar of `width` cells for a share in `[0, 1]`, in eighths of a cell where Unicode is allowed.
pub(crate) fn bar(share: f64, width: usize, unicode: bool) -> String {
    let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
    let mut out = String::with_capacity(3 * width);
    if unicode {
        const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = (share * (8 * width) as f64).round() as usize;
        out.push_str(&"█".repeat(eighths / 8));
        out.push_str(PARTS[eighths % 8]);
        let used = eighths.div_ceil(8);
        out.push_str(&" ".repeat(width.saturating_sub(used)));
    } else {
        let full = (share * width as f64).round() as usize;
        out.push_str(&"#".repeat(full));
        out.push_str(&".".repeat(width.saturating_sub(full)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short_whatever_they_quote() {
        assert_eq!(message("short\u{1b}"), "short\\u{1b}");
        for text in ["x".repeat(1 << 20), "\u{1b}".repeat(1 << 20)] {
            assert!(message(&text).chars().count() < LONGEST + 40);
        }
    }

    #[test]
    fn nothing_that_moves_a_cursor_gets_through() {
        assert_eq!(escaped("plain – ünïcode"), "plain – ünïcode");
        assert_eq!(
            escaped("a\x1b[2Jb\r\n\u{9b}\u{202e}"),
            "a\\u{1b}[2Jb\\u{d}\\u{a}\\u{9b}\\u{202e}"
        );
    }

    #[test]
    fn cells_are_as_wide_as_asked() {
        for (text, want) in [
            ("abc", "abc  "),
            ("abcde", "abcde"),
            ("abcdef", "abcd…"),
            ("é", "é    "),
        ] {
            assert_eq!(fitted(text, 5, true), want);
        }
        assert_eq!(fitted("abcdef", 5, false), "abcd~");
    }

    #[test]
    fn bars_are_as_wide_as_asked_and_as_long_as_the_share() {
        let shares = [
            (0.0, "    "),
            (1.0, "████"),
            (0.5, "██  "),
            (0.53125, "██▏ "),
            (f64::NAN, "    "),
        ];
        for (share, want) in shares {
            assert_eq!(bar(share, 4, true), want, "{share}");
        }
        assert_eq!(bar(0.5, 4, false), "##..");
        assert_eq!(bar(1e-9, 4, false), "....");
    }
}
