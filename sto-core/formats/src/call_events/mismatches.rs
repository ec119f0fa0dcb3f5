//! Events that do not match, and limits to the work that they cause.

use crate::error::{DecodeError, Decoded};
use sto_model::limits::max_frames;
use sto_model::units::Bytes;

/// Makes an error for a failure of the temporary file.
pub(super) fn temporary_file_error(error: impl ToString) -> DecodeError {
    DecodeError::unsupported(error.to_string())
}

/// The number of pieces that calls which outlast their caller may still be split into; each such
/// call can split all other open calls.
pub(super) struct SplitBudget {
    file: Bytes,
    left: u64,
}

impl SplitBudget {
    /// The limit for a file of this size.
    pub(super) fn new(file: Bytes) -> SplitBudget {
        SplitBudget {
            file,
            left: max_frames(file),
        }
    }

    /// Takes pieces from the limit, or returns an error if too few are left.
    pub(super) fn take(&mut self, pieces: u64) -> Decoded<()> {
        self.left = self.left.checked_sub(pieces).ok_or_else(|| {
            let problem = format!(
                "calls that outlast their callers are split into more than {} pieces, the limit for a file of {} bytes. Expected calls to end within their callers",
                max_frames(self.file),
                self.file.0
            );
            DecodeError::new("the calls of the trace", problem)
        })?;
        Ok(())
    }
}

/// Counts of events that do not match.
#[derive(Default)]
pub(super) struct Mismatches {
    pub(super) open: u64,
    pub(super) ends: u64,
    pub(super) ended_with_caller: u64,
    pub(super) outlasting: u64,
    pub(super) endless: u64,
}

impl Mismatches {
    /// The warnings, as whole sentences.
    pub(super) fn warnings(&self) -> Vec<String> {
        let all = [
            (
                self.open,
                "calls have no end; they are shown up to the last event of their thread",
            ),
            (
                self.ended_with_caller,
                "calls do not end before their caller; they are shown to end with it",
            ),
            (
                self.ends,
                "events end a call that did not begin in their thread; they were left out",
            ),
            (
                self.outlasting,
                "calls outlast their caller; after its end they are counted without it",
            ),
            (
                self.endless,
                "complete events have no duration; they are shown as long as their caller",
            ),
        ];
        let some = all.into_iter().filter(|&(count, _)| count > 0);
        some.map(|(count, what)| format!("{count} {what}."))
            .collect()
    }
}
