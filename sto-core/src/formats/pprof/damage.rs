//! What is wrong with a file, and where.

use crate::formats::FormatError;
use crate::formats::named::Limit;
use crate::formats::protobuf::{WireError, WireProblem};
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
    Other(String),
}

impl Damage {
    pub(in crate::formats) fn new(at: usize, problem: impl Into<String>) -> Damage {
        Damage {
            at,
            problem: Problem::Other(problem.into()),
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

    pub(in crate::formats) fn in_file(self, path: &Path, bytes: &[u8]) -> FormatError {
        let path = path.to_owned();
        let at = self.at;
        let problem = match self.problem {
            // Not `FormatError::Truncated`, whose advice is to take what there is: names stand last here.
            Problem::EndsAt(expected) if expected > bytes.len() as u64 => {
                format!(
                    "truncated: the value here ends at byte {expected}, but the file ends at byte {}; \
                     was the copy cut short? Record or copy it again",
                    bytes.len()
                )
            }
            Problem::EndsAt(end) => {
                format!(
                    "expected a value that ends inside its message, found one that ends at byte {end}"
                )
            }
            Problem::Other(problem) => problem,
        };
        FormatError::Malformed {
            path,
            place: format!("byte {at}"),
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
