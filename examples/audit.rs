//! A log of predictions with their outcomes is judged; the page with all figures is one string.

use lpf::Audit;
use lpf::audit::{CheckVerdict, Log};

fn main() -> lpf::Result<()> {
    // Sure to 90 %, right in 70 %: as JSON lines here, or the path of a .jsonl, .csv or .parquet file.
    let log: String = (0..400)
        .map(|i| {
            let label = usize::from(i % 10 >= 7);
            format!("{{\"entity\": \"e{i}\", \"label\": {label}, \"probs\": [0.9, 0.1]}}\n")
        })
        .collect();
    let report = Audit::of(Log::stream("demo", log.as_bytes()))
        .classes(["yes", "no"])
        .limit("ece", 0.05)
        .run()?;
    for check in &report.checks {
        if let CheckVerdict::Fail = check.verdict {
            println!("{}: {}", check.title, check.sentence);
        }
    }
    println!(
        "passed: {}; a page of {} bytes",
        report.passed(),
        report.to_html().len()
    );
    Ok(())
}
