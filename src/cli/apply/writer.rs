//! A log on its way out, in the format that it came in.

use std::path::Path;

use super::super::Failure;
use super::super::input::is_stream;
use super::super::output::Output;
use super::{Applied, Args};
use crate::error::Error;
use crate::log::{Format, Kind, Limits, LogReader};

/// Writes rows as they were, with other answers.
pub(super) struct Writer {
    output: Output,
    form: Form,
    /// Written with the first rows, so that an error in these leaves nothing behind.
    header: Vec<u8>,
}

enum Form {
    /// Lines; in an array, with commas between them.
    Lines {
        array: bool,
        begun: bool,
        packed: Packed,
    },
    #[cfg(feature = "parquet")]
    Parquet(Box<Table>),
}

/// Text that is compressed on its way.
enum Packed {
    Not,
    #[cfg(feature = "parquet")]
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    #[cfg(feature = "parquet")]
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

/// A table that is written group by group.
#[cfg(feature = "parquet")]
struct Table {
    /// None once it is finished.
    writer: Option<crate::log::TableRewriter<std::fs::File, Shared>>,
    written: Shared,
    answers: Vec<Vec<f64>>,
    path: std::path::PathBuf,
}

/// Bytes that were written and not yet passed on.
#[cfg(feature = "parquet")]
#[derive(Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

#[cfg(feature = "parquet")]
impl Shared {
    fn take(&self) -> Vec<u8> {
        let held = self.0.lock();
        std::mem::take(&mut *held.unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

#[cfg(feature = "parquet")]
impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let held = self.0.lock();
        held.unwrap_or_else(std::sync::PoisonError::into_inner)
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Writer {
    /// Begins to write what is read from `reader`.
    ///
    /// # Errors
    /// Where the format is not written, or cannot hold sets.
    pub(super) fn new(
        output: Output,
        reader: &LogReader<'_>,
        args: &Args,
        format: &Format,
        limits: &Limits,
        sets: bool,
    ) -> Result<Self, Failure> {
        let path = &args.file;
        let usage = |what: &str| Failure::Usage(format!("{}: {what}", path.display()));
        let failed = |error: Error| Failure::of(error, path);
        if let Some(output) = args.output.as_deref()
            && !reader.kind().may_be_called(output)
        {
            let format = reader.kind().name();
            return Err(usage(&format!(
                "--output: what comes out is {format} like the log; give the file a name for that"
            )));
        }
        let form = match reader.kind() {
            Kind::JsonLines | Kind::Json | Kind::Csv => Form::Lines {
                array: reader.kind() == Kind::Json,
                begun: false,
                packed: Packed::for_file(args.output.as_deref())
                    .map_err(|error| Failure::write("the output", error))?,
            },
            Kind::Parquet if sets => {
                return Err(usage(
                    "sets of classes are written into JSON lines and CSV only; convert the log first",
                ));
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet if !is_stream(path) => {
                let file = std::fs::File::open(path).map_err(|error| Failure::read(path, error))?;
                let table = crate::log::TableReader::within(file, &format.fields, limits);
                let written = Shared::default();
                let writer =
                    table.and_then(|table| crate::log::TableRewriter::new(table, written.clone()));
                let writer =
                    writer.map_err(|error| failed(crate::log::LogError::from(error).into()))?;
                Form::Parquet(Box::new(Table {
                    writer: Some(writer),
                    written,
                    answers: Vec::new(),
                    path: path.clone(),
                }))
            }
            _ => {
                return Err(usage(
                    "this format is read but not written; convert the log to Parquet, CSV or JSON lines first",
                ));
            }
        };
        let _ = (limits, format, failed);
        Ok(Writer {
            output,
            form,
            header: Vec::new(),
        })
    }

    /// Whether rows are written as lines.
    pub(super) fn takes_lines(&self) -> bool {
        matches!(self.form, Form::Lines { .. })
    }

    /// What stands before the first row.
    pub(super) fn begin(&mut self, header: Vec<u8>) {
        self.header = header;
    }

    /// Writes text as it is.
    fn text(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.form {
            Form::Lines { packed, .. } => {
                let bytes = packed.pack(bytes);
                self.output
                    .write(&bytes.map_err(|error| Failure::write("the output", error))?)
            }
            #[cfg(feature = "parquet")]
            Form::Parquet(_) => Ok(()),
        }
    }

    /// Writes rows, or ends with the first that is wrong.
    pub(super) fn rows(&mut self, rows: Vec<Result<Applied, Failure>>) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut text = std::mem::take(&mut self.header);
        for row in rows {
            match (row?, &mut self.form) {
                (Applied::Line(mut line), Form::Lines { array, begun, .. }) => {
                    match (*array, *begun) {
                        (true, false) => text.extend(b"[\n"),
                        (true, true) => text.extend(b",\n"),
                        (false, _) => {}
                    }
                    *begun = true;
                    text.append(&mut line);
                    if !*array {
                        text.push(b'\n');
                    }
                }
                #[cfg(feature = "parquet")]
                (Applied::Answer(answer), Form::Parquet(table)) => {
                    table.answers.push(answer);
                    let bytes = table.groups()?;
                    self.output.write(&bytes)?;
                }
                _ => {}
            }
        }
        self.text(&text)
    }

    /// Ends the output.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        if let Form::Lines {
            array: true, begun, ..
        } = &self.form
        {
            let end: &[u8] = if *begun { b"\n]\n" } else { b"[]\n" };
            self.text(end)?;
        }
        let bytes = match &mut self.form {
            Form::Lines { packed, .. } => {
                let packed = std::mem::replace(packed, Packed::Not).finish();
                packed.map_err(|error| Failure::write("the output", error))?
            }
            #[cfg(feature = "parquet")]
            Form::Parquet(table) => table.finish()?,
        };
        self.output.write(&bytes)?;
        self.output.finish()
    }
}

#[cfg(feature = "parquet")]
impl Table {
    fn failed(&self) -> impl Fn(crate::log::TableError) -> Failure + use<> {
        let path = self.path.clone();
        move |error| Failure::of(crate::log::LogError::from(error).into(), &path)
    }

    /// The bytes of the groups that are complete.
    fn groups(&mut self) -> Result<Vec<u8>, Failure> {
        let failed = self.failed();
        if let Some(writer) = &mut self.writer {
            while let Some(rows) = writer.next_rows()
                && rows <= self.answers.len()
            {
                let rest = self.answers.split_off(rows);
                writer.write(&self.answers).map_err(&failed)?;
                self.answers = rest;
            }
        }
        Ok(self.written.take())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Failure> {
        let failed = self.failed();
        if let Some(writer) = self.writer.take() {
            writer.finish().map_err(failed)?;
        }
        Ok(self.written.take())
    }
}

impl Packed {
    /// As the name of the output says; standard output is plain text.
    #[cfg(feature = "parquet")]
    fn for_file(output: Option<&Path>) -> std::io::Result<Self> {
        let ending = output.and_then(Path::extension);
        Ok(match ending.and_then(std::ffi::OsStr::to_str) {
            Some("gz") => Packed::Gzip(flate2::write::GzEncoder::new(
                Vec::new(),
                flate2::Compression::default(),
            )),
            Some("zst") => Packed::Zstd(zstd::stream::write::Encoder::new(Vec::new(), 3)?),
            _ => Packed::Not,
        })
    }

    #[cfg(not(feature = "parquet"))]
    fn for_file(_: Option<&Path>) -> std::io::Result<Self> {
        Ok(Packed::Not)
    }

    /// What can be written, once these bytes were added.
    fn pack(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        #[cfg(feature = "parquet")]
        use std::io::Write;
        match self {
            Packed::Not => Ok(bytes.to_vec()),
            #[cfg(feature = "parquet")]
            Packed::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            #[cfg(feature = "parquet")]
            Packed::Zstd(encoder) => {
                encoder.write_all(bytes)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
        }
    }

    /// What is left to write.
    fn finish(self) -> std::io::Result<Vec<u8>> {
        match self {
            Packed::Not => Ok(Vec::new()),
            #[cfg(feature = "parquet")]
            Packed::Gzip(encoder) => encoder.finish(),
            #[cfg(feature = "parquet")]
            Packed::Zstd(encoder) => encoder.finish(),
        }
    }
}
