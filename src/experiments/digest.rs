//! One number for all results: equal digests, equal bits.

use sha2::{Digest, Sha256};

use super::Outcome;
use crate::log::hexadecimal;

/// SHA-256 of the outcomes as JSON, in hexadecimal.
///
/// JSON numbers are the shortest decimals that read back as the same double, so that a change of
/// the last bit of any finite number is another text; NaN and infinities are all `null`.
pub fn digest(outcomes: &[Outcome]) -> String {
    let mut hash = Sha256::new();
    for outcome in outcomes {
        // Keys are strings and numbers are doubles: nothing here can fail to become JSON.
        hash.update(serde_json::to_vec(outcome).unwrap_or_default());
    }
    hexadecimal(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhibit::{Cell, Table};

    fn outcome(value: f64) -> Outcome {
        Outcome {
            id: "x".into(),
            title: String::new(),
            settings: Vec::new(),
            tables: vec![Table {
                id: "x".into(),
                title: String::new(),
                columns: vec!["a".into()],
                rows: vec![vec![Cell::number(value, 1)]],
            }],
            figures: Vec::new(),
            sentence: String::new(),
            statements: Vec::new(),
        }
    }

    #[test]
    fn the_last_bit_changes_it_and_nothing_else_does() {
        let one = digest(&[outcome(0.1)]);
        assert_eq!(one.len(), 64);
        assert_eq!(one, digest(&[outcome(0.1)]));
        assert_ne!(one, digest(&[outcome(0.1f64.next_up())]));
        // Of nothing, by the standard (FIPS 180-4 test vectors).
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(&[]), empty);
    }
}
