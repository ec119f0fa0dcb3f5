//! What is wrong with a chunk, and where.

use crate::formats::FormatError;
use crate::formats::named::Limit;
use std::path::Path;

/// What is wrong with a chunk, and at which byte of the file.
#[derive(Debug)]
pub(super) struct Damage {
    at: usize,
    problem: String,
}

impl Damage {
    pub(super) fn new(at: usize, problem: impl Into<String>) -> Damage {
        Damage {
            at,
            problem: problem.into(),
        }
    }

    /// Adds the place to a limit that is passed there.
    pub(super) fn limit(at: usize) -> impl Fn(Limit) -> Damage {
        move |limit| Damage::new(at, limit)
    }

    pub(super) fn in_file(self, path: &Path) -> FormatError {
        FormatError::Malformed {
            path: path.to_owned(),
            place: format!("byte {}", self.at),
            problem: self.problem,
        }
    }
}
