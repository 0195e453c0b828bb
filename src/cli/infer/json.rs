//! One answer as a line of JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

use crate::answer::Answer;
use crate::report::{escape_json, is_unseen};

/// The line for `answer`.
///
/// Numbers are the shortest that read back as the same double. Characters that are not seen are written
/// as `\\u....`, so that no name can disturb a terminal or look like another.
pub(crate) fn line(answer: &Answer) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    // Plain structs of numbers and strings cannot fail to become JSON, nor memory to be written.
    let _ = answer.serialize(&mut Serializer::with_formatter(&mut out, Harmless));
    out.push(b'\n');
    out
}

struct Harmless;

impl Formatter for Harmless {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        // Rust's shortest form that reads back the same is JSON for every finite number; all are.
        write!(out, "{value:?}")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unseen(*c)) {
            let (plain, after) = rest.split_at(at);
            let mut escaped = plain.to_string();
            escape_json(c, &mut escaped);
            out.write_all(escaped.as_bytes())?;
            rest = &after[c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let byte = match escape {
            CharEscape::Quote => return out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => return out.write_all(b"\\\\"),
            CharEscape::Solidus => return out.write_all(b"/"),
            CharEscape::Backspace => 0x08,
            CharEscape::FormFeed => 0x0c,
            CharEscape::LineFeed => b'\n',
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Tab => b'\t',
            CharEscape::AsciiControl(byte) => byte,
        };
        write!(out, "\\u{byte:04x}")
    }
}
