//! `lpf generate`: synthetic evidence as records.

use std::path::PathBuf;
use std::process::ExitCode;

use std::io::Write;

use super::Failure;
use super::output::Output;
use crate::synthetic::{Domain, EMBEDDING, Generator};

const EXAMPLES: &str = "\
Domains: compliance, healthcare, finance, legal, academic, materials, construction, fever.

Each line is an entity with its label and the embeddings of its items; an item without content has
an embedding of zeros. The same seed gives the same bytes. With --truth each record also has the
exact Bayes posterior of its whole evidence, and each item that of its own, both under `posterior`.

Examples:
  lpf generate compliance --entities 900 --seed 1 --output data.jsonl
  lpf generate fever --entities 10 --truth | head -1";

/// Generate synthetic evidence whose exact Bayes posterior is known.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Domain to generate
    #[arg(value_name = "DOMAIN", default_value = "compliance")]
    domain: String,

    /// Number of entities
    #[arg(long, value_name = "N", default_value_t = 900)]
    entities: u64,

    /// Seed of the random draws
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Add the exact posterior of each item and of each entity
    #[arg(long)]
    truth: bool,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let domain = Domain::named(&args.domain).map_err(|e| Failure::Usage(e.to_string()))?;
    let generator = Generator::new(domain);
    let mut output = Output::create(args.output.as_deref())?;
    let mut line = Vec::new();
    for index in 0..args.entities {
        line.clear();
        record(&generator, args, index, &mut line);
        output.write(&line)?;
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Appends one line. Names are those of the domain, which need no escapes.
fn record(generator: &Generator, args: &Args, index: u64, out: &mut Vec<u8>) {
    let domain = generator.domain();
    let entity = generator.entity(args.seed, index);
    let label = domain.classes[entity.label];
    // Writing to memory cannot fail.
    let _ = write!(
        out,
        "{{\"entity\":\"{}\",\"label\":\"{label}\",\"classes\":{:?}",
        generator.entity_name(index),
        domain.classes
    );
    if args.truth {
        posterior(generator, &entity.embeddings, out);
    }
    let _ = write!(out, ",\"evidence\":[");
    for (item, embedding) in entity.embeddings.chunks(EMBEDDING).enumerate() {
        let comma = if item == 0 { "" } else { "," };
        let _ = write!(out, "{comma}{{\"id\":\"e{item}\"");
        if args.truth {
            posterior(generator, embedding, out);
        }
        let _ = write!(out, ",\"embedding\":[");
        for (i, x) in embedding.iter().enumerate() {
            // The shortest digits that read back as the same number.
            let _ = write!(out, "{}{x}", if i == 0 { "" } else { "," });
        }
        let _ = write!(out, "]}}");
    }
    let _ = writeln!(out, "]}}");
}

fn posterior(generator: &Generator, embeddings: &[f32], out: &mut Vec<u8>) {
    // The generator's own embeddings are near its centres, where likelihoods are finite.
    if let Ok(p) = generator.posterior(embeddings) {
        let _ = write!(out, ",\"posterior\":{:?}", p.probabilities());
    }
}
