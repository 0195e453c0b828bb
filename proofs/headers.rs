//! The headers of Parquet files: no bytes make their reader panic, run past the end or accept a length
//! beyond its bound.

use super::engine::{Cases, any, below, check};
#[cfg(not(kani))]
use crate::log::parquet::thrift::{Stop, Thrift};
#[cfg(kani)]
use thrift::{Stop, Thrift};

// Kani is run without the feature, which brings in crates that no harness needs: this is the same file.
#[cfg(kani)]
#[path = "../src/log/parquet/thrift.rs"]
mod thrift;

/// Variable-length integers of any bytes: the value by its definition, the bytes up to the first
/// below 128 and no further, or an error at the end of the bytes or after ten of them.
///
/// Claims: none
/// Domain: any 11 bytes, or the first 0 to 10 of them
#[cfg_attr(kani, kani::proof, kani::unwind(13), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn an_integer_of_any_bytes_is_read_or_refused() {
    check(Cases::Random(200_000), || {
        let bytes: [u8; 11] = any();
        let length = usize::from(below(12));
        let mut reader = Thrift {
            bytes: &bytes[..length],
            at: 0,
            most: 0,
        };
        let outcome = reader.integer();
        // The definition: seven bits a byte, lowest first, up to ten bytes.
        let mut ends = None;
        let mut number = 0u128;
        for (i, &byte) in bytes.iter().enumerate().take(10) {
            if ends.is_none() && i < length {
                number |= u128::from(byte & 127) << (7 * i);
                if byte < 128 {
                    ends = Some(i + 1);
                }
            }
        }
        cover!(ends == Some(10), "ten bytes");
        cover!(matches!(outcome, Err(Stop::Short)), "too short");
        cover!(matches!(outcome, Err(Stop::Wrong)), "too long");
        match (outcome, ends) {
            (Ok(found), Some(end)) => {
                // Even numbers are not negative: 0, −1, 1, −2, …
                let half = (number as u64 >> 1) as i64;
                assert!(found == if number & 1 == 0 { half } else { -half - 1 });
                assert!(reader.at == end);
            }
            (Err(Stop::Short), None) => assert!(length < 10 && reader.at == length),
            (Err(Stop::Wrong), None) => assert!(length >= 10 && reader.at == 10),
            _ => panic!("neither read nor refused for a reason"),
        }
    });
}

/// Skipping a value of any type in any bytes ends within them: no panic, no step past their end, and
/// no text or list that is longer than the bound.
///
/// Claims: none
/// Domain: any 4 bytes, any type, texts and lists of at most 2; nothing in lists and structs
#[cfg_attr(kani, kani::proof, kani::unwind(6), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn skipping_any_bytes_stays_within_them() {
    // Each level of nesting multiplies the paths by twelve; tests go one deeper.
    let levels = if cfg!(kani) { 1 } else { 2 };
    check(Cases::Random(500_000), || {
        let bytes: [u8; 4] = any();
        let mut reader = Thrift {
            bytes: &bytes,
            at: 0,
            most: 2,
        };
        let kind = below(16);
        let outcome = reader.skip(kind, levels);
        cover!(kind == 8 && outcome.is_ok() && reader.at == 3, "a text");
        cover!(kind == 9 && outcome.is_ok(), "a list");
        cover!(kind == 12 && outcome.is_ok(), "a struct");
        assert!(reader.at <= 4);
        // A length in one byte; longer ones are those of the harness above.
        if outcome.is_ok() && kind == 8 && bytes[0] < 128 {
            assert!(bytes[0] <= 2 && reader.at == 1 + usize::from(bytes[0]));
        }
        if outcome.is_ok() && kind == 3 {
            assert!(reader.at == 1);
        }
    });
}
