//! Why a recording cannot be read.

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
    /// The file ends before what its header or a record announces.
    #[error("{}: truncated: {place} ends at byte {expected}, but the file ends at byte {found}; was the recording killed, or the copy cut short? Record or copy it again, or take what there is: --allow-truncated", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// What is cut: `the data section`, `the record at byte 1234`.
        place: String,
        /// Where the announced part ends.
        expected: u64,
        /// Where the file ends.
        found: u64,
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

impl FormatError {
    /// Makes an error of what the system says of a file.
    pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> FormatError {
        |source| FormatError::Io {
            path: path.to_owned(),
            source,
        }
    }
}
