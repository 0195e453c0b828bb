//! Labelled predictions, each for fitting or for judging.

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;

use super::super::Failure;
use super::super::infer::{Answer, Setup};
#[cfg(feature = "parquet")]
use super::super::input::open_parquet;
use super::super::input::{InputFormat, open};
use super::Args;
use crate::latent::random::{Stream, text_key};
use crate::log::{
    Batch, ClassNames, Columns, Entity, Evidence, Expectations, Fault, LineReader, Place,
    Prediction, Record, RecordError,
};
#[cfg(feature = "parquet")]
use crate::log::{TableBatch, TableReader};
use crate::simplex::Distribution;

/// One labelled prediction.
#[derive(Debug)]
pub struct Row {
    /// Whether it is for fitting.
    fits: bool,
    pub prediction: Distribution,
    pub label: usize,
    pub line: u64,
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Rows {
    pub fit: Vec<Row>,
    pub judge: Vec<Row>,
    pub names: Option<Vec<String>>,
}

/// A row, and the classes that it shows.
type Read<'a> = Result<(Row, ClassNames<'a>), Failure>;

/// All rows of the file, each on its side.
pub fn read(args: &Args, setup: &Setup<'_>) -> Result<Rows, Failure> {
    let mut sides = Sides {
        path: &args.file,
        rows: Rows::default(),
        expected: None,
    };
    match args.input.format(&args.file) {
        InputFormat::Jsonl => {
            each_batch(&args.file, |lines| {
                let lines = lines.into_par_iter();
                let rows = lines.map(|(number, line)| json(args, setup, number, line));
                sides.add(rows.collect())
            })?;
        }
        InputFormat::Csv => {
            let mut columns = None;
            each_batch(&args.file, |mut lines| {
                if columns.is_none() && !lines.is_empty() {
                    let (line, header) = lines.remove(0);
                    let found = Columns::of_header(header, &args.input.names());
                    columns = Some(found.map_err(|what| failed(&args.file, line, &what))?);
                }
                let Some(columns) = &columns else {
                    return Ok(());
                };
                let rows = lines.into_par_iter().map(|(number, line)| {
                    let said = columns.prediction(line);
                    let said = said.map_err(|error| failed(&args.file, number, &error))?;
                    let content = String::from_utf8_lossy(line);
                    table(args, setup, number, (said, columns.classes()), &content)
                });
                sides.add(rows.collect())
            })?;
        }
        #[cfg(feature = "parquet")]
        InputFormat::Parquet => parquet(args, setup, &mut sides)?,
        #[cfg(not(feature = "parquet"))]
        InputFormat::Parquet => {
            return Err(Failure::Usage(super::super::input::NO_PARQUET.to_string()));
        }
    }
    sides.finish()
}

/// Hands out the lines of a file, some at a time.
fn each_batch(
    path: &Path,
    mut work: impl FnMut(Vec<(u64, &[u8])>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut reader = LineReader::new(open(path)?);
    let mut batch = Batch::default();
    while reader
        .fill(&mut batch)
        .map_err(|error| Failure::lines(path, error))?
    {
        work(batch.lines().collect())?;
    }
    Ok(())
}

#[cfg(feature = "parquet")]
fn parquet(args: &Args, setup: &Setup<'_>, sides: &mut Sides<'_>) -> Result<(), Failure> {
    let path = &args.file;
    let unread = |error| Failure::Usage(format!("{}: {error}", path.display()));
    let reader = TableReader::new(open_parquet(path)?, &args.input.names());
    let mut reader = reader.map_err(unread)?;
    let classes = reader.classes().to_vec();
    let mut batch = TableBatch::default();
    while reader.fill(&mut batch).map_err(unread)? {
        let row = |i: usize| {
            let number = batch.number(i);
            let said = batch.prediction(i);
            let said = said.map_err(|error| failed(path, number, &error))?;
            let content = format!("{:?} {:?}", said.label, said.answer);
            table(args, setup, number, (said, &classes), &content)
        };
        sides.add((0..batch.len()).into_par_iter().map(row).collect())?;
    }
    Ok(())
}

fn failed(path: &Path, line: u64, what: &dyn std::fmt::Display) -> Failure {
    Failure::Line {
        path: path.to_path_buf(),
        line,
        what: what.to_string(),
    }
}

/// How many classes a row shows, and their names.
type Shape = (usize, Option<Vec<String>>);

/// Rows on their way to one of the two sides.
struct Sides<'a> {
    path: &'a Path,
    rows: Rows,
    /// What the first row shows, and its line.
    expected: Option<(Shape, u64)>,
}

impl Sides<'_> {
    fn add(&mut self, read: Vec<Read<'_>>) -> Result<(), Failure> {
        for one in read {
            let (row, classes) = one?;
            let names = match classes {
                ClassNames::Named(names) => Some(names.iter().map(|n| n.to_string()).collect()),
                ClassNames::Numbered(_) => None,
            };
            let shape = (row.prediction.classes(), names);
            let first = || (shape.clone(), row.line);
            let (expected, line) = self.expected.get_or_insert_with(first);
            if *expected != shape {
                let error = RecordError {
                    place: Place::field("classes"),
                    fault: Fault::Shape(format!("not those of line {line}")),
                };
                return Err(Failure::record(self.path, row.line, &error));
            }
            let side = if row.fits {
                &mut self.rows.fit
            } else {
                &mut self.rows.judge
            };
            side.push(row);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Rows, Failure> {
        match self.expected {
            Some(((_, names), _)) => self.rows.names = names,
            None => {
                return Err(Failure::NoRecords {
                    path: self.path.to_path_buf(),
                });
            }
        }
        Ok(self.rows)
    }
}

/// One line of JSON as a labelled prediction: the answer that was logged, or else that of its
/// evidence.
fn json<'a>(args: &Args, setup: &Setup<'a>, number: u64, line: &'a [u8]) -> Read<'a> {
    let read = || -> Result<(Row, ClassNames<'a>), RecordError> {
        let logged = Prediction::parse(line, &args.answer)?;
        let (entity, answered) = if logged.answer.is_some() {
            (logged_answer(logged, setup)?, None)
        } else {
            let answer = Answer::of(line, setup)?;
            (answer.entity, Some(answer.distribution))
        };
        row(args, number, entity, answered, || {
            String::from_utf8_lossy(line)
        })
    };
    read().map_err(|error| Failure::record(&args.file, number, &error))
}

/// One row of a table, with the classes of its columns.
fn table<'a>(
    args: &Args,
    setup: &Setup<'a>,
    number: u64,
    (said, classes): (Prediction<'a>, &'a [String]),
    content: &str,
) -> Read<'a> {
    let said = Prediction {
        classes: Some(classes.iter().map(|name| Cow::Borrowed(&**name)).collect()),
        ..said
    };
    logged_answer(said, setup)
        .and_then(|entity| row(args, number, entity, None, || Cow::Borrowed(content)))
        .map_err(|error| Failure::record(&args.file, number, &error))
}

/// A row of an entity. One without a name is named by all that it says.
fn row<'a, 'c>(
    args: &Args,
    number: u64,
    mut entity: Entity<'a>,
    answered: Option<Distribution>,
    content: impl Fn() -> Cow<'c, str>,
) -> Result<(Row, ClassNames<'a>), RecordError> {
    let missing = |field, what: &str| RecordError {
        place: Place::field(field),
        fault: Fault::Shape(what.to_string()),
    };
    let label = entity.label.ok_or_else(|| {
        let what = "missing, or a name where classes have none (see --classes)";
        missing("label", what)
    })?;
    let prediction = answered
        .or_else(|| entity.factors.pop())
        .ok_or_else(|| missing("probs", "there is no answer"))?;
    let key = match &*entity.name {
        "" => text_key(&content()),
        name => text_key(name),
    };
    const PURPOSE: u64 = text_key("calibration split");
    let mut stream = Stream::new(args.options.seed, PURPOSE, key, 0);
    let row = Row {
        fits: stream.uniform() < args.split,
        prediction,
        label,
        line: number,
    };
    Ok((row, entity.classes))
}

/// The logged answer as the only factor of an entity, which is checked as any other.
fn logged_answer<'a>(logged: Prediction<'a>, setup: &Setup<'a>) -> Result<Entity<'a>, RecordError> {
    let record = Record {
        entity: logged.entity.unwrap_or_default(),
        label: logged.label,
        classes: logged.classes,
        evidence: vec![Evidence {
            factor: logged.answer,
            ..Evidence::default()
        }],
    };
    let expect = Expectations {
        classes: setup.classes,
        tolerance: setup.tolerance,
    };
    Entity::new(record, &expect).map_err(|error| match error.place {
        Place {
            field: Some("evidence"),
            element,
            ..
        } => RecordError {
            place: Place {
                item: element,
                ..Place::field("probs")
            },
            ..error
        },
        _ => error,
    })
}
