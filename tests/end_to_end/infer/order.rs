//! The same bytes for every order of the evidence and every number of threads.

use super::{infer, reference};
use serde_json::{Value, json};

const METHODS: [&[&str]; 5] = [
    &["--method", "spn"],
    &["--method", "uniform"],
    &["--method", "vote"],
    &["--method", "max"],
    &["--method", "prior-corrected", "--prior", "0.2,0.5,0.3"],
];

fn lines(records: &[Value]) -> Vec<u8> {
    let text: String = records.iter().map(|r| format!("{r}\n")).collect();
    text.into_bytes()
}

/// A shuffle by a small linear congruence; which one does not matter.
fn shuffle(items: &mut [Value], seed: u64) {
    let mut state = seed;
    for i in (1..items.len()).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        items.swap(i, (state >> 33) as usize % (i + 1));
    }
}

/// The reference's entities, and ones with more items than are aggregated one by one.
fn records() -> Vec<Value> {
    let mut records = reference();
    let all: Vec<Value> = records
        .iter()
        .flat_map(|r| r["evidence"].as_array().unwrap().clone())
        .collect();
    for k in [99, 100, 101, 250] {
        records.push(json!({"entity": format!("K{k}"), "evidence": all[..k]}));
    }
    records
}

#[test]
fn shuffled_evidence_gives_the_same_bytes() {
    let records = records();
    for method in METHODS {
        let want = infer(method, &lines(&records));
        assert_eq!(
            (want.code, want.out.lines().count()),
            (Some(0), records.len())
        );
        for seed in [1, 2] {
            let mut shuffled = records.clone();
            for (i, record) in shuffled.iter_mut().enumerate() {
                shuffle(
                    record["evidence"].as_array_mut().unwrap(),
                    seed + 97 * i as u64,
                );
            }
            assert_ne!(shuffled, records);
            assert_eq!(infer(method, &lines(&shuffled)), want);
        }
    }
}

/// Enough records for several batches, explanations included.
#[test]
fn one_thread_and_several_give_the_same_bytes() {
    let one = lines(&records());
    let input = one.repeat(1 + (3 << 20) / one.len());
    for (method, format) in METHODS
        .iter()
        .zip(["jsonl", "text", "jsonl", "text", "jsonl"])
    {
        let run = |threads: &str| {
            let further = ["--explain", "--format", format, "--threads", threads];
            infer(&[method, &further[..]].concat(), &input)
        };
        let want = run("1");
        assert_eq!(want.code, Some(0));
        assert!(want.out.len() > input.len() / 4);
        for threads in ["2", "3"] {
            assert_eq!(run(threads), want, "{method:?}");
        }
    }
}

/// Of several wrong lines, the first is reported, and all answers before it are given.
#[test]
fn the_first_wrong_line_is_the_one_reported() {
    let good = lines(&reference());
    let mut input = good.repeat(30);
    let last = input.iter().filter(|&&b| b == b'\n').count();
    input.extend(b"{\"entity\": []}\n");
    input.extend(&good);
    input.extend(b"]\n");
    let want = infer(&["--threads", "1"], &input);
    assert_eq!(want.code, Some(2));
    assert_eq!(want.out.lines().count(), last);
    let place = format!("error: standard input:{}: entity: ", last + 1);
    assert!(want.err.starts_with(&place), "{}", want.err);
    assert_eq!(infer(&["--threads", "2"], &input), want);
}
