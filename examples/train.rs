//! A model is trained on labelled embeddings and then answers evidence that it has not seen.

use std::ops::ControlFlow;

use lpf::model::{FitSettings, Split, fit};
use lpf::synthetic::{DOMAINS, Generator};
use lpf::{Answerer, Method};

fn main() -> lpf::Result<()> {
    // Entities of a synthetic domain; a corpus of your own is filled with `Corpus::push`.
    let generator = Generator::new(&DOMAINS[0]);
    let corpus = generator.corpus(1, 0, 120);
    let split = Split::new(corpus.labels.len(), 1);
    let mut settings = FitSettings::default();
    settings.vae.epochs = 3;
    settings.aggregator = Some(16);
    let model = fit(&corpus, &split, &settings, |_| ControlFlow::Continue(()))?;

    let lpf = Answerer::builder(Method::Learned).model(model).build()?;
    let unseen = generator.entity(1, 500);
    let items: Vec<String> = unseen
        .embeddings
        .chunks(corpus.dimension)
        .map(|row| format!("{{\"embedding\": {row:?}}}"))
        .collect();
    let line = format!(r#"{{"entity": "new", "evidence": [{}]}}"#, items.join(", "));
    let answer = lpf.answer(line)?;
    let truth = &corpus.classes[unseen.label];
    println!(
        "{} ({:.3}); in truth {truth}",
        answer.prediction, answer.confidence
    );
    Ok(())
}
