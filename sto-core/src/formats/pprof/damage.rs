//! What is wrong with a file, and where.

use crate::formats::named::Limit;
use crate::formats::wire::protobuf::{WireError, WireProblem};
use crate::formats::{FormatError, Salvage};
use std::path::Path;

/// What is wrong with a file, and at which byte.
#[derive(Debug)]
pub(in crate::formats) struct Damage {
    at: usize,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    EndsAt(u64),
    Cut(&'static str),
    Other(String),
}

impl Damage {
    pub(in crate::formats) fn new(at: usize, problem: impl Into<String>) -> Damage {
        Damage {
            at,
            problem: Problem::Other(problem.into()),
        }
    }

    /// A file that ends before this part of it.
    pub(in crate::formats) fn ends_before(at: usize, part: &'static str) -> Damage {
        Damage {
            at,
            problem: Problem::Cut(part),
        }
    }

    /// A place in the file that refers to what it does not have.
    pub(in crate::formats) fn missing(at: usize, what: &str, id: u64) -> Damage {
        let problem =
            format!("{what} {id}, which the file does not have; was it cut short, or edited?");
        Damage::new(at, problem)
    }

    /// Adds the place to a limit that is passed there.
    pub(in crate::formats) fn limit(at: usize) -> impl Fn(Limit) -> Damage {
        move |limit| Damage::new(at, limit)
    }

    /// Which byte of what was read it is at.
    pub(in crate::formats) fn at(&self) -> usize {
        self.at
    }

    pub(in crate::formats) fn in_file(self, path: &Path, bytes: &[u8]) -> FormatError {
        let place = format!("byte {}", self.at);
        self.at_place(path, place, bytes)
    }

    /// As [`Damage::in_file`], of a file from which `bytes` were made: `place` is where it is there.
    pub(in crate::formats) fn at_place(
        self,
        path: &Path,
        place: String,
        bytes: &[u8],
    ) -> FormatError {
        let at = self.at;
        let found = bytes.len() as u64;
        // Names stand last, so nothing can be read of half a file.
        let problem = match self.problem {
            Problem::EndsAt(expected) if expected > found => {
                let value = format_args!("the value at byte {at}");
                let ends = (expected, found);
                return FormatError::ends_early(path, value, ends, Salvage::Impossible);
            }
            Problem::Cut(part) => {
                return FormatError::Truncated {
                    path: path.to_owned(),
                    cut: format!("the file ends at byte {at}, before {part}"),
                    salvage: Salvage::Impossible,
                };
            }
            Problem::EndsAt(end) => {
                format!(
                    "expected a value that ends inside its message, found one that ends at byte {end}"
                )
            }
            Problem::Other(problem) => problem,
        };
        FormatError::Malformed {
            path: path.to_owned(),
            place,
            problem,
        }
    }
}

impl From<WireError> for Damage {
    fn from(error: WireError) -> Damage {
        Damage {
            at: error.at,
            problem: match error.problem {
                WireProblem::EndsAt(end) => Problem::EndsAt(end),
                WireProblem::Malformed(problem) => Problem::Other(problem.to_owned()),
            },
        }
    }
}
