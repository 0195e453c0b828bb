//! Numbers as they stand in text, read in place.
//!
//! A decimal whose digits make a whole number `m ≤ 2⁵³`, with `k ≤ 22` of them behind the point, is
//! `m / 10ᵏ`. Both are doubles, so that one division, rounded to nearest, gives the double nearest to what
//! is written (Clinger 1990), which is what every right reader gives. All other numbers are left to the
//! reader of Rust's standard library, which is right for all.

/// `10ᵏ`, all of them doubles.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The number that begins at `at` as JSON writes numbers, and where it ends; none where there is no such
/// number, or it is negative or too large for a double. What follows it is the caller's to look at.
#[inline]
pub(super) fn number(text: &str, at: usize) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let (mut value, mut end) = (0u64, at);
    digits(bytes, &mut end, &mut value);
    let whole = end - at;
    // Zeros do not stand before other digits.
    if whole == 0 || whole > 1 && bytes.get(at) == Some(&b'0') {
        return None;
    }
    let mut behind = 0;
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        let point = end;
        digits(bytes, &mut end, &mut value);
        behind = end - point;
        if behind == 0 {
            return None;
        }
    }
    let plain = !matches!(bytes.get(end), Some(b'e' | b'E'));
    // So many digits cannot have overflown.
    if let (true, true, Some(power)) = (plain, whole + behind <= 19, POWERS.get(behind))
        && value <= 1 << 53
    {
        return Some((value as f64 / power, end));
    }
    if !plain {
        end += 1;
        end += usize::from(matches!(bytes.get(end), Some(b'+' | b'-')));
        let power = end;
        digits(bytes, &mut end, &mut 0);
        if end == power {
            return None;
        }
    }
    let value: f64 = text.get(at..end)?.parse().ok()?;
    value.is_finite().then_some((value, end))
}

/// Takes up the digits from `end` on, which moves behind them; of more than 19 the value is lost.
#[inline]
fn digits(bytes: &[u8], end: &mut usize, value: &mut u64) {
    while let Some(chunk) = bytes.get(*end..).and_then(<[u8]>::first_chunk)
        && let Some(eight) = eight(*chunk)
    {
        *value = value.wrapping_mul(100_000_000).wrapping_add(eight);
        *end += 8;
    }
    while let Some(byte) = bytes.get(*end)
        && byte.is_ascii_digit()
    {
        *value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        *end += 1;
    }
}

/// The number that eight digits stand for, worked out in all of them at once: neighbours are joined to
/// numbers of two, four and eight digits.
#[inline]
fn eight(chunk: [u8; 8]) -> Option<u64> {
    let text = u64::from_le_bytes(chunk);
    // Digits are 0x30 to 0x39: adding 6 leaves their upper half a 3.
    let upper = |x: u64| x & 0xf0f0_f0f0_f0f0_f0f0;
    let threes = 0x3030_3030_3030_3030;
    if upper(text) != threes || upper(text.wrapping_add(0x0606_0606_0606_0606)) != threes {
        return None;
    }
    let ones = text - threes;
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_those_of_json() {
        for (text, want) in [
            ("0", Some((0.0, 1))),
            ("1", Some((1.0, 1))),
            ("0.5,", Some((0.5, 3))),
            ("12345678.12345678]", Some((12345678.12345678, 17))),
            // More digits than a double has.
            ("0.1250000000000000000000001", Some((0.125, 27))),
            ("1e-5 ", Some((1e-5, 4))),
            ("1.5E+3x", Some((1500.0, 6))),
            ("00", None),
            ("01", None),
            (".5", None),
            ("5.", None),
            ("5.e1", None),
            ("1e", None),
            ("1e+", None),
            ("-1", None),
            ("1e999", None),
            ("", None),
            ("x", None),
            ("nan", None),
        ] {
            assert_eq!(number(text, 0), want, "{text}");
        }
        // The eight bytes around the digits.
        for byte in 0..=u8::MAX {
            let is_digit = byte.is_ascii_digit();
            for place in 0..8 {
                let mut chunk = *b"12345678";
                chunk[place] = byte;
                let read = std::str::from_utf8(&chunk)
                    .ok()
                    .and_then(|t| t.parse().ok());
                assert_eq!(eight(chunk), read.filter(|_| is_digit), "{chunk:?}");
            }
        }
    }

    proptest! {
        /// The oracle is serde_json's own reader of numbers.
        #[test]
        fn what_is_read_is_what_serde_json_reads(
            text in "(0|[1-9][0-9]{0,20})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?", rest in "[,\\] }]"
        ) {
            let all = format!("x{text}{rest}");
            let want = serde_json::from_str::<f64>(&text).ok();
            let got = number(&all, 1);
            prop_assert_eq!(got.map(|(value, _)| value), want);
            prop_assert!(got.is_none_or(|(_, end)| end == 1 + text.len()));
        }

        #[test]
        fn whatever_is_no_number_is_none(text in "[0-9.eE+-]{0,12}") {
            let end = number(&text, 0).map(|(_, end)| end);
            let valid = |end: usize| serde_json::from_str::<f64>(&text[..end]).is_ok();
            prop_assert!(end.is_none_or(valid));
        }
    }
}
