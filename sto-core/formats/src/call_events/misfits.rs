//! What does not fit together among events, and what that may cost.

use crate::error::{DecodeError, Decoded};
use sto_model::limits::most_frames;
use sto_model::units::Bytes;

/// An error of the temporary file.
pub(super) fn failed(error: impl ToString) -> DecodeError {
    DecodeError::unsupported(error.to_string())
}

/// How many pieces calls may still be written in that outlast those that they begin in: each may end all the others
/// that are open.
pub(super) struct Pieces {
    file: Bytes,
    left: u64,
}

impl Pieces {
    /// As many as are written of the calls of a file.
    pub(super) fn of(file: Bytes) -> Pieces {
        Pieces {
            file,
            left: most_frames(file),
        }
    }

    /// Takes so many of them.
    pub(super) fn take(&mut self, pieces: u64) -> Decoded<()> {
        self.left = self.left.checked_sub(pieces).ok_or_else(|| {
            let problem = format!(
                "calls that last longer than those that they begin in go on in more than {} pieces; as many are read of \
                 a file of {} bytes. Expected calls to end within their callers",
                most_frames(self.file),
                self.file.0
            );
            DecodeError::new("the calls of the trace", problem)
        })?;
        Ok(())
    }
}

/// How often events do not fit together.
#[derive(Default)]
pub(super) struct Misfits {
    pub(super) open: u64,
    pub(super) ends: u64,
    pub(super) ended_with_caller: u64,
    pub(super) outlasting: u64,
    pub(super) endless: u64,
}

impl Misfits {
    /// Whole sentences.
    pub(super) fn warnings(&self) -> Vec<String> {
        let all = [
            (
                self.open,
                "calls begin and do not end; they are taken to last up to the last event of their thread",
            ),
            (
                self.ended_with_caller,
                "calls do not end before their caller does; they are taken to end with it",
            ),
            (
                self.ends,
                "events end a call that is not open in their thread; they were left out",
            ),
            (
                self.outlasting,
                "calls last longer than the call that they begin in; from its end on they are counted without it",
            ),
            (
                self.endless,
                "complete events do not say how long they took; they are taken to last as long as their caller",
            ),
        ];
        let some = all.into_iter().filter(|&(count, _)| count > 0);
        some.map(|(count, what)| format!("{count} {what}."))
            .collect()
    }
}
