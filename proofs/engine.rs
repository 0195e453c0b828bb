//! What a harness may ask for: values, assumptions, reachability. The engine is chosen here, once.
//!
//! | in a harness | Kani | `cargo test` |
//! |---|---|---|
//! | `any()` | every value of the type | the next value of the enumeration, or a random one |
//! | `below(n)` | every value in `0..n` | the same |
//! | `each(n, body)` | `body` for every value in `0..n`, on a path of its own | the same |
//! | `assume!(c)` | only paths where `c` holds | skips the case otherwise |
//! | `cover!(c, "…")` | some path reaches it with `c` | some case does, or the test fails |
//! | `check(cases, body)` | `body` once, symbolically | `body` for each case |

#[cfg(kani)]
pub use symbolic::*;

#[cfg(not(kani))]
pub(super) use concrete::*;

/// How `cargo test` goes through the domain of a harness. Kani always takes all of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cases {
    /// Every value of the domain; there are exactly this many.
    All(u64),
    /// This many random values, the same ones in each run.
    Random(u64),
}

/// Runs `body` on any value in `0..n`. A solver that is given `below(n)` has to follow a formula
/// wherever it goes; here it has a path for each value, and the number itself on it.
pub(super) fn each(n: u8, body: impl Fn(u8)) {
    let chosen = below(n);
    for value in 0..n {
        if value == chosen {
            body(value);
        }
    }
}

#[cfg(kani)]
#[macro_use]
mod symbolic {
    pub use kani::{Arbitrary as Any, any};

    /// Any value in `0..n`.
    pub fn below(n: u8) -> u8 {
        let x: u8 = any();
        kani::assume(x < n);
        x
    }

    /// Runs `body` once, on symbolic values.
    pub fn check(_: super::Cases, body: impl Fn()) {
        body();
    }

    macro_rules! assume {
        ($condition:expr) => {
            kani::assume($condition)
        };
    }

    macro_rules! cover {
        ($condition:expr, $what:literal) => {
            kani::cover!($condition, $what)
        };
    }
}

#[cfg(not(kani))]
#[path = "engine_concrete.rs"]
#[macro_use]
mod concrete;
