//! Records that follow each other and are read as they come.

use crate::error::{DecodeError, Decoded};
use crate::recording::RecordingError;
use sto_model::bytes::{Cursor, CursorError};
use sto_model::limits::MAX_LINE;

/// What was not read yet.
#[derive(Default)]
pub(crate) struct Held {
    bytes: Vec<u8>,
    /// Where in the file that begins.
    at: usize,
}

impl Held {
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads what came now behind what was left, record by record, up to the first one that is not there as a whole.
    /// `what` is the name of one.
    pub(crate) fn read(
        &mut self,
        new: &[u8],
        what: &str,
        mut record: impl FnMut(&mut Cursor<'_>) -> Result<(), Stop>,
    ) -> Decoded<()> {
        if self.bytes.len() > MAX_LINE {
            let problem = format!("{what} of more than {} MiB", MAX_LINE >> 20);
            return Err(DecodeError::new(self.at, problem));
        }
        self.bytes.extend_from_slice(new);
        let mut rest = Cursor::of_part(&self.bytes, self.at);
        let mut done = self.at;
        while !rest.is_empty() {
            match record(&mut rest) {
                Ok(()) => done = rest.at(),
                Err(Stop::Ends) => break,
                Err(Stop::Wrong(problem)) => return Err(DecodeError::new(done, problem)),
            }
        }
        self.bytes.drain(..done - self.at);
        self.at = done;
        Ok(())
    }
}

/// What a record says of another one, by a number that none had.
pub(crate) fn not_before(what: &str, number: u64) -> String {
    format!("{what} {number}, which was not written before; was the file damaged?")
}

/// Why a record was not read.
pub(crate) enum Stop {
    /// What is there ends before it does.
    Ends,
    Wrong(String),
}

impl From<String> for Stop {
    fn from(problem: String) -> Stop {
        Stop::Wrong(problem)
    }
}

impl From<&str> for Stop {
    fn from(problem: &str) -> Stop {
        Stop::Wrong(problem.to_owned())
    }
}

impl From<RecordingError> for Stop {
    fn from(error: RecordingError) -> Stop {
        Stop::Wrong(error.into())
    }
}

impl From<CursorError> for Stop {
    fn from(error: CursorError) -> Stop {
        match error {
            CursorError::EndsEarly { .. } => Stop::Ends,
            CursorError::TooManyBits { .. } => Stop::Wrong(error.to_string()),
        }
    }
}
