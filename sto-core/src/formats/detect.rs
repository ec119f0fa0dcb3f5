//! Which format a file has.

use super::{FormatError, Recording};
use std::path::Path;

/// A format that [`read`] understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `perf.data`, in file or pipe mode.
    PerfData,
    /// The text that `perf script` prints.
    PerfScript,
    /// Folded stacks: `root;caller;leaf count` lines.
    Folded,
}

impl Format {
    /// The name that output and stored profiles carry.
    pub fn name(self) -> &'static str {
        match self {
            Format::PerfData => "perf.data",
            Format::PerfScript => "perf script",
            Format::Folded => "folded",
        }
    }
}

/// Reads a profile file of any known format.
///
/// # Errors
/// Where the file cannot be read, is of no known format, or breaks the rules of its format.
pub fn read(
    path: &Path,
    options: &crate::symbolize::SymbolOptions,
) -> Result<Recording, FormatError> {
    let f = std::fs::File::open(path).unwrap();
    let m = unsafe { memmap2::Mmap::map(&f).unwrap() };
    super::perf_data::read(path, &m, options)
}
