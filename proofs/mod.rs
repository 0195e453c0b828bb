//! Proof harnesses: run by Kani, and by `cargo test` on finite or random domains.
