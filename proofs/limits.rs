//! Bounds on what is read: no limit can be passed, and none but an announced length within it is taken in.

use super::engine::{Cases, any, below, check};
use crate::log::Limits;

/// Small numbers as well as any: random ones alone would all be too large.
fn length() -> u64 {
    if any() { u64::from(below(16)) } else { any() }
}

/// A limit refuses exactly what is above it, and names itself and its value.
///
/// Claims: none
/// Domain: any two u64, the limits `items` and `group-bytes`
#[cfg_attr(kani, kani::proof, kani::unwind(12), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_limit_refuses_exactly_what_is_above_it() {
    check(Cases::Random(200_000), || {
        let (most, found) = (length(), length());
        let limits = Limits {
            items: most,
            group_bytes: most,
            ..Limits::default()
        };
        let outcomes = [limits.items(found), limits.group_bytes(found)];
        cover!(found == most, "exactly the limit");
        cover!(found > most, "more");
        for outcome in outcomes {
            assert!(outcome.is_ok() == (found <= most));
            assert!(outcome.is_ok() || outcome.is_err_and(|e| e.most == most));
        }
    });
}

/// The header of a model file is taken in only if its announced length, the first eight bytes, is
/// within the limit; files that are too short to announce one are left to the format's own check.
///
/// Claims: none
/// Domain: any 9 bytes or their beginning, any limit
#[cfg_attr(kani, kani::proof, kani::unwind(12), kani::solver(cadical))]
#[cfg_attr(not(kani), test)]
fn a_model_header_beyond_the_limit_is_refused() {
    check(Cases::Random(200_000), || {
        let announced = length();
        let mut bytes = [any::<u8>(); 9];
        bytes[..8].copy_from_slice(&announced.to_le_bytes());
        let taken = usize::from(below(10));
        let limits = Limits {
            header_bytes: length(),
            ..Limits::default()
        };
        let outcome = limits.header_of(&bytes[..taken]);
        cover!(outcome.is_err(), "refused");
        cover!(outcome.is_ok() && taken == 9 && announced > 0, "accepted");
        assert!(outcome.is_ok() == (taken < 8 || announced <= limits.header_bytes));
    });
}
