//! Settings, as messages of the library name them, shown as the options of the command that set them.

use crate::log::Limits;

/// What stands before the name of a setting in a message of the library.
const SETTING: &str = "the setting `";

/// A message with its settings and limits as options: "the setting `probs`" is `--probs`, "the setting
/// `positive` = yes" is `--positive yes`, and a limit that was met is followed by how to raise it.
#[must_use]
pub fn with_options(message: &str) -> String {
    with_limits(&with_settings(message))
}

fn with_settings(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once(SETTING) {
        let name = after.split_once('`');
        let name = name.filter(|(name, _)| is_name(name));
        let Some((name, after)) = name else {
            out.push_str(before);
            out.push_str(SETTING);
            rest = after;
            continue;
        };
        out.push_str(before);
        out.push_str("--");
        out.push_str(name);
        rest = match after.strip_prefix(" = ") {
            Some(value) => {
                out.push(' ');
                value
            }
            None => after,
        };
    }
    out + rest
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

fn with_limits(message: &str) -> String {
    let met = Limits::ALL.iter().find_map(|kind| {
        let met = format!(", the limit {}", kind.name);
        let end = message.find(&met)? + met.len();
        let goes_on = message[end..].starts_with(|c: char| c.is_ascii_lowercase() || c == '-');
        (!goes_on).then_some((end, kind.name))
    });
    match met {
        Some((end, name)) => {
            let (before, after) = message.split_at(end);
            format!("{before}; --max {name}=N allows more{after}")
        }
        None => message.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_options;

    #[test]
    fn settings_are_shown_as_options() {
        for (message, shown) in [
            ("name it with the setting `label`", "name it with --label"),
            (
                "the setting `probs` names it, the setting `answer-from-evidence` answers",
                "--probs names it, --answer-from-evidence answers",
            ),
            (
                "say so with the setting `positive` = 1",
                "say so with --positive 1",
            ),
            // What a log holds is not a setting.
            (
                "the setting `A b` and the setting `",
                "the setting `A b` and the setting `",
            ),
            ("nothing", "nothing"),
        ] {
            assert_eq!(with_options(message), shown);
        }
    }

    #[test]
    fn a_limit_that_was_met_is_followed_by_how_to_raise_it() {
        for (message, shown) in [
            (
                "more than 2 items, the limit items",
                "more than 2 items, the limit items; --max items=N allows more",
            ),
            (
                "more than 2 bytes, the limit line-bytes: too long",
                "more than 2 bytes, the limit line-bytes; --max line-bytes=N allows more: too long",
            ),
            ("a word, the limit itemsets", "a word, the limit itemsets"),
        ] {
            assert_eq!(with_options(message), shown);
        }
    }
}
