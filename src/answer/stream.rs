//! The answers to all records of a reader.

use std::io::Read;

use rayon::prelude::*;

use super::{Answer, Answerer};
use crate::error::Result;
use crate::log::{Batch, LineReader};

/// The answers to the records of a reader, in their order; see [`Answerer::answers`].
///
/// Records are read batch by batch and answered on all threads of the current pool, in constant
/// memory. A record that cannot be answered is an error with its line and field, and does not end
/// the iteration; a reader that fails does.
pub struct Answers<'a, R, T = Answer> {
    answerer: &'a Answerer,
    reader: Option<LineReader<R>>,
    batch: Batch,
    then: Box<dyn Fn(Answer) -> T + Send + Sync + 'a>,
    ready: std::vec::IntoIter<Result<T>>,
}

impl Answerer {
    /// The answers to all records of a reader, one JSON object a line.
    ///
    /// ```
    /// use lpf::{Answerer, Method};
    ///
    /// let records = r#"{"entity": "C5", "evidence": [{"factor": [0.1, 0.9]}]}
    /// {"entity": "C6", "evidence": [{"factor": [0.7, 0.3]}, {"factor": [0.6, 0.4]}]}"#;
    /// let answerer = Answerer::builder(Method::Spn).build()?;
    /// for answer in answerer.answers(records.as_bytes()) {
    ///     let answer = answer?;
    ///     println!("{} {} {:.3}", answer.entity, answer.prediction, answer.confidence);
    /// }
    /// # Ok::<(), lpf::Error>(())
    /// ```
    pub fn answers<R: Read>(&self, reader: R) -> Answers<'_, R> {
        self.answers_then(reader, |answer| answer)
    }

    /// The same, with what `then` makes of each answer, on the thread that gave it.
    pub fn answers_then<'a, R: Read, T: Send>(
        &'a self,
        reader: R,
        then: impl Fn(Answer) -> T + Send + Sync + 'a,
    ) -> Answers<'a, R, T> {
        Answers {
            answerer: self,
            reader: Some(LineReader::within(reader, *self.limits())),
            batch: Batch::default(),
            then: Box::new(then),
            ready: Vec::new().into_iter(),
        }
    }
}

impl<R: Read, T: Send> Answers<'_, R, T> {
    /// The answers to the next batch of records: as many as have arrived, about a megabyte at most.
    /// None at the end.
    pub fn next_batch(&mut self) -> Option<Vec<Result<T>>> {
        let rest: Vec<Result<T>> = self.ready.by_ref().collect();
        if !rest.is_empty() {
            return Some(rest);
        }
        match self.reader.as_mut()?.fill(&mut self.batch) {
            Ok(true) => {}
            Ok(false) => {
                self.reader = None;
                return None;
            }
            Err(error) => {
                self.reader = None;
                return Some(vec![Err(error.into())]);
            }
        }
        let lines: Vec<(u64, &[u8])> = self.batch.lines().collect();
        let (answerer, then) = (self.answerer, &self.then);
        let answers = lines.into_par_iter().map(|(number, line)| {
            let answer = answerer.answer(line);
            answer.map(then).map_err(|error| error.in_line(number))
        });
        Some(answers.collect())
    }
}

impl<R: Read, T: Send> Iterator for Answers<'_, R, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        if self.ready.as_slice().is_empty() {
            self.ready = self.next_batch()?.into_iter();
        }
        self.ready.next()
    }
}

impl<R, T> std::fmt::Debug for Answers<'_, R, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answers")
            .field("answerer", &self.answerer)
            .finish_non_exhaustive()
    }
}
