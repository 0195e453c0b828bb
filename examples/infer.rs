//! Evidence in, one calibrated answer out; and which item moved it how far.

use lpf::{Answerer, Method};

const CASES: &str = r#"
{"entity": "C5", "evidence": [{"id": "audit", "factor": [0.1, 0.8, 0.1], "weight": 0.9}, {"id": "news", "factor": [0.3, 0.4, 0.3], "weight": 0.4}]}
{"entity": "C6", "evidence": [{"id": "filing", "factor": [0.7, 0.2, 0.1]}, {"id": "press", "factor": [0.6, 0.3, 0.1]}]}
"#;

fn main() -> lpf::Result<()> {
    let lpf = Answerer::builder(Method::PriorCorrected)
        .classes(["low", "medium", "high"])
        .prior([0.5, 0.3, 0.2])
        .influence(true)
        .build()?;
    // Any reader will do: a file, standard input, a socket. Errors name line and field.
    for answer in lpf.answers(CASES.as_bytes()) {
        let a = answer?;
        println!("{}: {} with {:.3}", a.entity, a.prediction, a.confidence);
        for item in a.items.unwrap_or_default() {
            let id = item.id.unwrap_or_default();
            println!("  without {id} the answer moves by {:.3?}", item.influence);
        }
    }
    Ok(())
}
