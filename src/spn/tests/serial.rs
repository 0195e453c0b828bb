//! The serialized form.

use super::random::{Numbers, generator, network};
use crate::spn::Network;

#[test]
fn a_network_survives_the_round_trip_to_the_bit() {
    let mut rng = generator(4);
    for numbers in [Numbers::Eighths, Numbers::Extreme] {
        for _ in 0..100 {
            let network = network(&mut rng, 4, numbers);
            let text = serde_json::to_string(&network).unwrap();
            assert_eq!(serde_json::from_str::<Network>(&text).unwrap(), network);
        }
    }
}

#[test]
fn what_is_read_is_checked_like_what_is_built() {
    let read = |nodes: &str| {
        let text = format!(r#"{{"cardinalities": [2, 2], "nodes": [{nodes}]}}"#);
        serde_json::from_str::<Network>(&text).map_err(|e| e.to_string())
    };
    let a = r#"{"leaf": {"variable": 0, "values": [0.5, 0.5]}}"#;
    let b = r#"{"leaf": {"variable": 1, "values": [0.5, 0.5]}}"#;
    let cases = [
        (r#"{"product": {"children": [0, 1]}}"#, ""),
        (
            r#"{"sum": {"children": [0, 1], "weights": [1, 1]}}"#,
            "sum 2 is not complete",
        ),
        (
            r#"{"product": {"children": [0, 0]}}"#,
            "product 2 is not decomposable",
        ),
        (
            r#"{"product": {"children": [0, 2]}}"#,
            "child 2 was not added before",
        ),
        (
            r#"{"product": {"children": [0, 4294967295]}}"#,
            "child 4294967295 was not added",
        ),
        (
            r#"{"sum": {"children": [0], "weights": [1, 1]}}"#,
            "2 weights for 1 children",
        ),
        (
            r#"{"sum": {"children": [0], "weights": [-1]}}"#,
            "weight 0 is -1",
        ),
        (
            r#"{"product": {"children": [1]}}"#,
            "variables {0} are nowhere below the root 2",
        ),
        (
            r#"{"product": {"children": [1], "weights": [1]}}"#,
            "unknown field",
        ),
    ];
    for (node, message) in cases {
        match read(&format!("{a}, {b}, {node}")) {
            Ok(_) => assert_eq!(message, "", "{node} was accepted"),
            Err(error) => assert!(!message.is_empty() && error.contains(message), "{error}"),
        }
    }
    assert!(read("").unwrap_err().contains("no node 0"));
}
