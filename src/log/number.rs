//! Numbers as they stand in text, read in place.
//!
//! A decimal of at most 19 digits is `m / 10ᵏ` with a whole number `m < 2⁶⁴`, `k` of its digits behind the point.
//!
//! | digits | what is computed | right because |
//! |---|---|---|
//! | `m ≤ 2⁵³`, `k ≤ 22` | one division | both are doubles, and their quotient is rounded to nearest (Clinger 1990) |
//! | `m < 2⁶⁴`, `k ≤ 19` | one product with a reciprocal of 64 bits | [`by_reciprocal`], where that is certain |
//! | any other | the reader of Rust's standard library | it is right for all |
//!
//! Each gives the double nearest to what is written, as every right reader does.

/// `10ᵏ`, all of them doubles.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// No whole number of so many digits is beyond 64 bits.
const MOST_DIGITS: usize = 19;

/// `⌈2^(63 + b) / 10ᵏ⌉` with `b` the bits of `10ᵏ`, at least 2⁶³ and below 2⁶⁴; and `b`. Not for `k = 0`.
const RECIPROCALS: [(u64, u32); MOST_DIGITS + 1] = {
    let mut all = [(0, 0); MOST_DIGITS + 1];
    let mut power = 1u128;
    let mut k = 1;
    while k <= MOST_DIGITS {
        power *= 10;
        let bits = u128::BITS - power.leading_zeros();
        all[k] = ((1u128 << (63 + bits)).div_ceil(power) as u64, bits);
        k += 1;
    }
    all
};

/// The number that begins at `at` as JSON writes numbers, and where it ends; none where there is no such
/// number, or it is negative or too large for a double. What follows it is the caller's to look at.
#[inline]
pub(super) fn number(text: &str, at: usize) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    // Nearly every number is below ten.
    let mut value = u64::from(bytes.get(at)?.wrapping_sub(b'0'));
    if value > 9 {
        return None;
    }
    let mut end = at + 1;
    if bytes.get(end).is_some_and(u8::is_ascii_digit) {
        // Zeros do not stand before other digits.
        if value == 0 {
            return None;
        }
        digits(bytes, &mut end, &mut value);
    }
    let whole = end - at;
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
    if plain && whole + behind <= MOST_DIGITS {
        if value <= 1 << 53
            && let Some(power) = POWERS.get(behind)
        {
            // Of a signed number of 64 bits the conversion is one instruction everywhere.
            return Some((value as i64 as f64 / power, end));
        }
        if let Some(value) = by_reciprocal(value, behind) {
            return Some((value, end));
        }
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

/// The double nearest to `m / 10ᵏ`, for `m > 0` and `k` in `1..=19`; none where that is not certain.
///
/// With `z` zeros before the first bit of `m` let `x = 2^z·m·2^(63+b) / 10ᵏ`, which lies between 2¹²⁶ and 2¹²⁸.
/// The reciprocal `r` is too large by less than one, and so `P = 2^z·m·r` by less than 2⁶⁴: its upper half
/// `h = ⌊P / 2⁶⁴⌋` has `h − 1 < x / 2⁶⁴ < h + 1`. A double keeps 53 bits of the 63 or 64 of `h`, the others are
/// rounded: to the same side for all of that interval unless `h` itself is halfway between two doubles, and its
/// last nine bits are zeros then. Where the interval holds a power of two it is `h`, and the doubles below, of which
/// there are twice as many, are still further away than one.
#[inline]
fn by_reciprocal(m: u64, k: usize) -> Option<f64> {
    let &(reciprocal, bits) = RECIPROCALS.get(k).filter(|_| k > 0 && m > 0)?;
    let zeros = m.leading_zeros();
    let product = u128::from(m << zeros) * u128::from(reciprocal);
    let upper = (product >> 64) as u64;
    // m / 10ᵏ is x / 2⁶⁴ times 2^(1 − z − b), a normal number as z and b are at most 64.
    let scale = f64::from_bits(u64::from(1024 - zeros - bits) << 52);
    (upper & 0x1ff != 0).then_some(upper as f64 * scale)
}

/// Takes up the digits from `end` on, which moves behind them; of more than [`MOST_DIGITS`] the value is lost.
/// Where they end is found by branches, which processors guess: numbers of a log are mostly of one length.
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

    /// Halfway between two doubles, and a little beside: the standard library decides.
    #[test]
    fn numbers_halfway_between_doubles_are_rounded_to_even() {
        for m in (1u64 << 53)..(1 << 53) + 200 {
            for tenths in 0..10 {
                let text = format!("{m}.{tenths}");
                let want = text.parse().unwrap();
                assert_eq!(number(&text, 0), Some((want, text.len())), "{text}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// All numbers of up to 19 digits, by the oracle of the standard library; most are certain.
        #[test]
        fn reciprocals_give_the_nearest_double(m in 1u64..10_000_000_000_000_000_000, shift in 0u32..63, k in 1usize..=19) {
            let m = (m >> shift).max(1);
            let want: f64 = format!("{m}e-{k}").parse().unwrap();
            let got = by_reciprocal(m, k);
            prop_assert!(got.is_none_or(|got| got.to_bits() == want.to_bits()), "{got:?} {want}");
            // Of 17 digits and more one in 512 is left.
            let text = format!("0.{m:017}");
            prop_assert_eq!(number(&text, 0), Some((text.parse().unwrap(), text.len())));
        }

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
