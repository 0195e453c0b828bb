//! What `lpf audit` writes, as a process: formats, schema, gate, shards, hostile input.

mod docs;
mod formats;
mod gate;
mod hostile;
mod markup;
mod schema;
mod shards;
mod standards;

use std::path::Path;
use std::process::{Command, Stdio};

/// How a run ended.
#[derive(Debug, PartialEq)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

fn lpf(args: &[&str], folder: &Path) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_lpf"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A log of `rows` predictions that are sure to 90 % and right `rights` times of ten, each with
/// two items whose product is the answer.
fn log(rows: usize, rights: usize) -> String {
    (0..rows)
        .map(|i| {
            // A stride of 7 visits all of 0..10 in every ten rows.
            let label = usize::from(i * 7 % 10 >= rights);
            format!(
                "{{\"entity\":\"e{i}\",\"label\":{label},\"probs\":[0.9,0.1],\"evidence\":[{{\"id\":\"x\",\"factor\":[0.75,0.25]}},{{\"id\":\"y\",\"factor\":[0.75,0.25]}}]}}\n"
            )
        })
        .collect()
}
