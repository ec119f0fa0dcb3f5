//! Why a recording cannot be read.

use super::named::Limit;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a recording cannot be read. Every message names the file, the place in it, what was found
/// there, what was expected, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file has no bytes.
    #[error("{}: the file is empty; did the recording fail, or is it still being written?", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are of no known format.
    #[error("{}: not a profile that sto can read: it starts with {found}; expected one of {known}; if it is one of them, name it: --format NAME", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Its first bytes, made printable, and what they tell.
        found: String,
        /// The formats that there are.
        known: String,
    },
    /// The file was cut off.
    #[error("{}: truncated: {cut}; was the recording killed, or the copy cut short? Record or copy it again{salvage}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// What is cut, and where: `the file ends at byte 1234, in the middle of its JSON`.
        cut: String,
        /// What can be done with what there is.
        salvage: Salvage,
    },
    /// The file breaks a rule of its format.
    #[error("{}: {place}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where: `line 12`, `the record at byte 1234`.
        place: String,
        /// What was found, what was expected, and what to do.
        problem: String,
    },
    /// The recording has no call chains at all.
    #[error("{}: recorded without call chains, so there are no stacks to store; record again with `perf record -g` or `perf record --call-graph dwarf`", path.display())]
    NoCallChains {
        /// The file.
        path: PathBuf,
    },
    /// The recording was made in a way that cannot be read here.
    #[error("{}: {problem}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is and what to do.
        problem: String,
    },
    /// The recording holds no samples.
    #[error("{}: holds no samples; did the program run long enough, and did the event count anything?", path.display())]
    NoSamples {
        /// The file.
        path: PathBuf,
    },
}

/// What can be done with what there is of a file that was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Salvage {
    /// [`ReadOptions::allow_truncated`](super::ReadOptions::allow_truncated) takes it.
    Possible,
    /// Nothing, as what it is read by stands at its end or is cut itself.
    Impossible,
}

/// The end of a message that says that the file is to be made again.
impl std::fmt::Display for Salvage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Salvage::Possible => ", or take what there is: --allow-truncated",
            Salvage::Impossible => "; what there is cannot be read without the rest",
        })
    }
}

impl FormatError {
    /// An error of a file of which the named part ends behind the file's end.
    pub(super) fn ends_early(
        path: &Path,
        part: impl std::fmt::Display,
        (expected, found): (u64, u64),
        salvage: Salvage,
    ) -> FormatError {
        FormatError::Truncated {
            path: path.to_owned(),
            cut: format!("{part} ends at byte {expected}, but the file ends at byte {found}"),
            salvage,
        }
    }

    /// Makes an error of what the system says of a file.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> FormatError {
        |source| FormatError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// What is wrong with a file, and where: `byte 12`, `threads[0].samples.stack[5]`.
#[derive(Debug)]
pub(super) enum Damage {
    At {
        place: String,
        problem: String,
    },
    /// The file ends too soon: where, and in the middle of what.
    Cut(String),
}

impl Damage {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Damage {
        Damage::At {
            place: place.into(),
            problem: problem.into(),
        }
    }

    /// A file that ends at a byte in the middle of its JSON, or whatever it is written in.
    pub(super) fn cut(at: impl fmt::Display, language: &str) -> Damage {
        Damage::Cut(format!(
            "the file ends at byte {at}, in the middle of its {language}"
        ))
    }

    /// An index that is not in its table.
    pub(super) fn index(place: impl Into<String>, table: &str, length: usize, ix: i64) -> Damage {
        let problem = format!(
            "{ix}; expected an index of {table}, which has {length} entries; was the file edited?"
        );
        Damage::new(place, problem)
    }

    /// Says what the place is a place of, where that is not the file.
    pub(super) fn of(self, what: &str) -> Damage {
        match self {
            Damage::At { place, problem } => Damage::new(format!("{place} of {what}"), problem),
            Damage::Cut(_) => Damage::new(what, "it ends in the middle of a value"),
        }
    }

    pub(super) fn in_file(self, path: &Path) -> FormatError {
        let path = path.to_owned();
        match self {
            Damage::At { place, problem } => FormatError::Malformed {
                path,
                place,
                problem,
            },
            Damage::Cut(cut) => FormatError::Truncated {
                path,
                cut,
                salvage: Salvage::Impossible,
            },
        }
    }

    /// Adds the place to a limit that is passed there.
    pub(super) fn limit(place: impl Into<String>) -> impl FnOnce(Limit) -> Damage {
        move |limit| Damage::new(place, limit)
    }
}
