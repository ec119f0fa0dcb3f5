//! Which format a file has.

use super::{
    FormatError, Recording, excerpt, folded, perf_data, perf_script,
    text::{lines, read_block},
};
use crate::symbolize::SymbolOptions;
use crate::units::UnixSeconds;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

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

    /// The format of these bytes, by the magic number or the first line that is no comment.
    fn of(bytes: &[u8]) -> Option<Format> {
        if PERF_MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
            return Some(Format::PerfData);
        }
        match first_line(bytes) {
            // Comments alone: folded stacks, of which there are none.
            None => Some(Format::Folded),
            Some(line) if memchr::memchr(0, line).is_some() => None,
            Some(line) if perf_script::is_sample(line) => Some(Format::PerfScript),
            Some(line) if folded::is_stack(line) => Some(Format::Folded),
            Some(_) => None,
        }
    }
}

/// The first line that is neither blank nor a comment.
fn first_line(text: &[u8]) -> Option<&[u8]> {
    let mut lines = lines(text).map(|(_, line)| line);
    lines.find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
}

/// `PERF_MAGIC2` of `tools/perf/util/header.c`, as machines of either byte order write it. Files
/// in pipe mode begin with it too.
const PERF_MAGIC: [&[u8]; 2] = [b"PERFILE2", b"2ELIFREP"];

/// Reads a profile file of any known format.
///
/// `options` say where the files are that saved stacks are unwound with. Where the recording does
/// not tell when it was made, that is the time at which its file was last written.
///
/// # Errors
/// Where the file cannot be read, is of no known format, or breaks the rules of its format.
pub fn read(path: &Path, options: &SymbolOptions) -> Result<Recording, FormatError> {
    let io = |source| FormatError::Io {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() || metadata.len() == 0 {
        // Pipes and files of /proc have no length and cannot be mapped.
        return read_stream(path, file, options);
    }
    // SAFETY: the map is only read, and is gone when this function returns. As with every mapped
    // file, another process that shortens the file meanwhile makes this one fail.
    let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(io)?;
    let mut recording = read_bytes(path, &bytes, options)?;
    recording.origin.recorded = recording.origin.recorded.or(written(&metadata));
    Ok(recording)
}

fn written(metadata: &Metadata) -> Option<UnixSeconds> {
    let since_1970 = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(UnixSeconds(since_1970.as_secs()))
}

/// Reads a profile of any known format from a stream, as standard input is one.
///
/// Folded stacks are read as they come, so that memory is needed for their distinct stacks alone;
/// other formats are held in memory first. `path` stands in error messages: a name for the source.
///
/// # Errors
/// As [`read`].
pub fn read_stream(
    path: &Path,
    mut input: impl Read,
    options: &SymbolOptions,
) -> Result<Recording, FormatError> {
    let io = |source| FormatError::Io {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        read_block(&mut input, &mut bytes).map_err(io)?;
        let whole_lines = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        let begun = &bytes[..whole_lines];
        let is_told = first_line(begun).is_some();
        if is_told && Format::of(begun) == Some(Format::Folded) {
            return folded::read_stream(path, bytes, input);
        }
        if is_told || bytes.len() == before || Format::of(&bytes) == Some(Format::PerfData) {
            input.read_to_end(&mut bytes).map_err(io)?;
            return read_bytes(path, &bytes, options);
        }
    }
}

/// Reads a profile of any known format from memory.
///
/// `path` stands in error messages: the file that the bytes come from, or a name for the source.
///
/// # Errors
/// Where the bytes are of no known format, or break the rules of their format.
pub fn read_bytes(
    path: &Path,
    bytes: &[u8],
    options: &SymbolOptions,
) -> Result<Recording, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::Empty {
            path: path.to_owned(),
        });
    }
    match Format::of(bytes) {
        Some(Format::PerfData) => perf_data::read(path, bytes, options),
        Some(Format::PerfScript) => perf_script::read(path, bytes),
        Some(Format::Folded) => folded::read(path, bytes),
        None => Err(FormatError::Unknown {
            path: path.to_owned(),
            found: excerpt(bytes.trim_ascii_start()),
        }),
    }
}
