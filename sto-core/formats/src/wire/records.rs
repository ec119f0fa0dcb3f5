//! Consecutive records, read as they arrive.

use crate::error::{DecodeError, Decoded};
use crate::recording::RecordingError;
use sto_model::bytes::{Cursor, CursorError};
use sto_model::limits::MAX_LINE;

/// Bytes not read yet.
#[derive(Default)]
pub(crate) struct PendingBytes {
    bytes: Vec<u8>,
    /// Offset of these bytes in the file.
    at: usize,
}

impl PendingBytes {
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends a block to the unread bytes and reads record by record, up to the first incomplete
    /// one. `what` names a record in messages.
    pub(crate) fn read(
        &mut self,
        new: &[u8],
        what: &str,
        mut record: impl FnMut(&mut Cursor<'_>) -> Result<(), RecordFailure>,
    ) -> Decoded<()> {
        if self.bytes.len() > MAX_LINE {
            let problem = format!("{what} of more than {} MiB", MAX_LINE >> 20);
            return Err(DecodeError::new(self.at, problem));
        }
        self.bytes.extend_from_slice(new);
        let mut rest = Cursor::from_part(&self.bytes, self.at);
        let mut done = self.at;
        while !rest.is_empty() {
            match record(&mut rest) {
                Ok(()) => done = rest.at(),
                Err(RecordFailure::Ends) => break,
                Err(RecordFailure::Wrong(problem)) => return Err(DecodeError::new(done, problem)),
            }
        }
        self.bytes.drain(..done - self.at);
        self.at = done;
        Ok(())
    }
}

/// The problem of a record that refers to a number that no earlier record has.
pub(crate) fn undefined_number(what: &str, number: u64) -> String {
    format!("{what} {number}, which was not written before; was the file damaged?")
}

/// Why a record was not read.
pub(crate) enum RecordFailure {
    /// The record is not complete yet.
    Ends,
    Wrong(String),
}

impl From<String> for RecordFailure {
    fn from(problem: String) -> RecordFailure {
        RecordFailure::Wrong(problem)
    }
}

impl From<&str> for RecordFailure {
    fn from(problem: &str) -> RecordFailure {
        RecordFailure::Wrong(problem.to_owned())
    }
}

impl From<RecordingError> for RecordFailure {
    fn from(error: RecordingError) -> RecordFailure {
        RecordFailure::Wrong(error.into())
    }
}

impl From<CursorError> for RecordFailure {
    fn from(error: CursorError) -> RecordFailure {
        match error {
            CursorError::EndsEarly { .. } => RecordFailure::Ends,
            CursorError::TooManyBits { .. } => RecordFailure::Wrong(error.to_string()),
        }
    }
}
