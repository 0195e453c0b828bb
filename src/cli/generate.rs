//! `lpf generate`: synthetic or real evidence as records, or the log of answers to the latter.

use std::path::PathBuf;
use std::process::ExitCode;

use std::io::Write;

use super::Failure;
use super::output::Output;
use crate::experiments::{LogSettings, Settings, real_log};
use crate::log::Record;
use crate::synthetic::{Domain, EMBEDDING, Generator, REAL, RealSet};

const EXAMPLES: &str = "\
Domains: compliance, healthcare, finance, legal, academic, materials, construction, fever.

Each line is an entity with its label and the embeddings of its items; an item without content has
an embedding of zeros. The same seed gives the same bytes. With --truth each record also has the
exact Bayes posterior of its whole evidence, and each item that of its own, both under `posterior`.

Real evidence: digits (numerals in six views: R. Duin, Multiple Features, UCI Machine Learning
Repository, https://doi.org/10.24432/C5HC70, CC BY 4.0) and phishing (web pages by nine indicators:
N. Abdelhamid, Website Phishing, https://doi.org/10.24432/C5B301, CC BY 4.0). With --log a model is
trained on the first 900 (625) entities, and what it says about the others is written, with the
factors behind it: a log for `lpf audit`.

Examples:
  lpf generate compliance --entities 900 --seed 1 --output data.jsonl
  lpf generate fever --entities 10 --truth | head -1
  lpf generate digits --log --output digits.jsonl";

/// Generate synthetic evidence whose exact Bayes posterior is known, or real evidence.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Domain to generate
    #[arg(value_name = "DOMAIN", default_value = "compliance")]
    domain: String,

    /// Number of entities [default: 900, or all of a real set]
    #[arg(long, value_name = "N", conflicts_with = "log")]
    entities: Option<u64>,

    /// Seed of the random draws
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Add the exact posterior of each item and of each entity
    #[arg(long)]
    truth: bool,

    /// Of a real set, write the log of a trained model's answers
    #[arg(long)]
    log: bool,

    /// With --log, count every item as one instead of by its confidence
    #[arg(long, requires = "log")]
    unweighted: bool,

    /// With --log, maximum number of training epochs [default: 50]
    #[arg(long, value_name = "N", requires = "log", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,

    /// Where to write: a file that appears complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(set) = RealSet::named(&args.domain) {
        return real(set, args);
    }
    let unknown = |e| Failure::Usage(format!("{e}; {}", real_names()));
    let domain = Domain::named(&args.domain).map_err(unknown)?;
    if args.log {
        let what = format!(
            "--log: there is one for real evidence only; {}",
            real_names()
        );
        return Err(Failure::Usage(what));
    }
    let generator = Generator::new(domain);
    let mut output = Output::create(args.output.as_deref())?;
    let mut line = Vec::new();
    for index in 0..args.entities.unwrap_or(900) {
        line.clear();
        record(&generator, args, index, &mut line);
        output.write(&line)?;
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn real_names() -> String {
    format!("real evidence: {}", REAL.map(|set| set.name).join(", "))
}

/// The records of a real set, or the log of what a model says about them.
fn real(set: &'static RealSet, args: &Args) -> Result<ExitCode, Failure> {
    if args.truth {
        let what = "--truth: the exact posterior of real evidence is not known";
        return Err(Failure::Usage(what.to_owned()));
    }
    // A target that cannot be written is reported before the work, not after.
    let mut output = Output::create(args.output.as_deref())?;
    let failed = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", set.name));
    if args.log {
        let usual = Settings::default();
        let how = LogSettings {
            settings: Settings {
                seed: args.seed,
                epochs: args.epochs.map_or(usual.epochs, |epochs| epochs as usize),
                ..usual
            },
            unweighted: args.unweighted,
        };
        output.write(&real_log(set, &how).map_err(|error| failed(&error))?)?;
    } else {
        let data = set.read().map_err(|error| failed(&error))?;
        let most = args.entities.unwrap_or(u64::MAX);
        let entities = (0..data.labels.len()).zip(0..most);
        let mut line = Vec::new();
        for (entity, _) in entities {
            line.clear();
            real_record(set, data.labels[entity], &data.record(entity), &mut line);
            output.write(&line)?;
        }
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Appends one line. Names are those of the set, which need no escapes.
fn real_record(set: &RealSet, label: usize, record: &Record<'_>, out: &mut Vec<u8>) {
    let (name, label, classes) = (&record.entity, set.classes[label], set.classes);
    // Writing to memory cannot fail.
    let _ = write!(
        out,
        "{{\"entity\":\"{name}\",\"label\":\"{label}\",\"classes\":{classes:?},\"evidence\":["
    );
    for (item, evidence) in record.evidence.iter().enumerate() {
        let comma = if item == 0 { "" } else { "," };
        let id = evidence.id.as_deref().unwrap_or_default();
        let _ = write!(out, "{comma}{{\"id\":\"{id}\",\"embedding\":[");
        for (i, &x) in evidence.embedding.iter().flatten().enumerate() {
            // Single precision, which the encoder computes in, with the shortest digits.
            let _ = write!(out, "{}{}", if i == 0 { "" } else { "," }, x as f32);
        }
        let _ = write!(out, "]}}");
    }
    let _ = writeln!(out, "]}}");
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
