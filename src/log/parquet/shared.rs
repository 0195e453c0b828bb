//! A file that several columns read at once, each from a place of its own.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Handles of one file. Each read says where it starts, so that no handle disturbs another.
#[derive(Debug)]
pub(super) struct Shared<R> {
    file: Arc<Mutex<R>>,
    length: u64,
}

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Shared {
            file: Arc::clone(&self.file),
            length: self.length,
        }
    }
}

impl<R: Read + Seek> Shared<R> {
    /// Takes over a file.
    ///
    /// # Errors
    /// Where it has no length: a pipe.
    pub(super) fn new(mut file: R) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        let file = Arc::new(Mutex::new(file));
        Ok(Shared { file, length })
    }

    /// How many bytes it holds.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read(buffer)
    }

    /// `length` bytes from `at` on. Room is made for no more than the file holds.
    ///
    /// # Errors
    /// Where there are fewer.
    pub(super) fn exact(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = at.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        At {
            file: self.clone(),
            at,
        }
        .read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// A reader with a place of its own.
#[derive(Debug)]
pub(super) struct At<R> {
    file: Shared<R>,
    at: u64,
}

impl<R: Read + Seek> Read for At<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.at, buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: Send> Length for Shared<R> {
    fn len(&self) -> u64 {
        self.length
    }
}

impl<R: Read + Seek + Send> ChunkReader for Shared<R> {
    type T = BufReader<At<R>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let file = self.clone();
        Ok(BufReader::new(At { file, at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.exact(start, length);
        let bytes = bytes.map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(Bytes::from(bytes))
    }
}
