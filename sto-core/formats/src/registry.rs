//! Detection of formats, and the reader of each. Only this file knows all readers.

#[cfg(feature = "symbols")]
use super::{perf_data, xray};
use crate::austin::text::AustinText;
use crate::bcc::Bcc;
use crate::bpftrace::Bpftrace;
use crate::bpftrace_json::BpftraceJson;
use crate::callgrind::Callgrind;
use crate::dtrace::DTrace;
use crate::error::{Decoded, FormatError, Salvage};
use crate::folded::Folded;
use crate::gdb::Gdb;
use crate::ghc::Ghc;
use crate::gprof::Gprof;
use crate::heaptrack::Heaptrack;
use crate::instruments::Instruments;
use crate::phpspy::Phpspy;
use crate::rbspy::Rbspy;
use crate::recording::{Format, Recording, RecordingBuilder, each_format};
use crate::report::reader as report;
use crate::rprof::Rprof;
use crate::sample::Sample;
use crate::source::{Head, LineReader, ReadOptions};
use crate::thread_dump::{go, java};
use crate::v8_log::{preprocessed, raw};
use crate::valgrind::{dhat, massif};
use crate::visual_studio::VisualStudio;
use crate::vtune::VTune;
use crate::{
    austin, bcc, bpftrace, bpftrace_json, callgrind, chrome, cpuprofile, dtrace, firefox, folded,
    ftrace, gdb, ghc, ghc_json, gperftools, gprof, heap_snapshot, heapprofile, heaptrack, hermes,
    instruments, jfr, memray, nettrace, nonsequitur, otlp, perf_script, perfetto, perun, phpspy,
    pprof, pstats, pyinstrument, rbspy, rprof, sample, scalene, simpleperf, speedscope, stackprof,
    sysprof, uftrace, visual_studio, vtune, xctrace, xhprof, yourkit,
};
use std::path::Path;
use sto_model::files::ReadAt;

macro_rules! rows {
    ($($(#[$doc:meta])* $format:ident = $name:literal $(if $feature:tt)?: $matches:expr, $reader:expr;)*) => {
        /// Returns the function that recognises a format and its reader, or `None` if this program
        /// was built without it or the format has no files.
        fn row(format: Format) -> Option<(Matches, Reader)> {
            Some(match format {
                $($(#[cfg(feature = $feature)])? Format::$format => ($matches, $reader),)*
                Format::Own(_) => return None,
                #[cfg(not(feature = "symbols"))]
                _ => return None,
            })
        }
    };
}
each_format!(rows);

/// Returns the functions that recognise and read a folder of a format, or `None` if the format has
/// only files.
fn folder_row(format: Format) -> Option<(MatchesFolder, FolderReader)> {
    match format {
        Format::NonSequitur => Some((nonsequitur::is_trace, nonsequitur::read_folder)),
        Format::Uftrace => Some((uftrace::is_data, uftrace::read_folder)),
        _ => None,
    }
}

/// Returns `true` if a folder is a recording of the format.
type MatchesFolder = fn(&Path) -> bool;

/// Reads a folder that is one recording.
pub(super) type FolderReader = fn(&Path, &ReadOptions) -> Result<Recording, FormatError>;

/// Returns the reader of a folder: the reader of the `named` format, or the first that recognises
/// the folder.
pub(super) fn folder_reader_of(folder: &Path, named: Option<Format>) -> Option<FolderReader> {
    let mut rows = Format::all().filter_map(|format| Some((format, folder_row(format)?)));
    let found = rows.find(|&(format, (is_one, _))| match named {
        Some(named) => named == format,
        None => is_one(folder),
    });
    found.map(|(_, (_, reader))| reader)
}

/// Returns `true` if a profile that begins like this has the format.
type Matches = fn(&Head<'_>) -> bool;

#[derive(Clone, Copy)]
pub(super) enum Reader {
    /// Reads the whole file at once.
    Whole(fn(&[u8]) -> Decoded<RecordingBuilder>),
    /// Like `Whole`, for formats with times: samples can be summed over time, and calls can go to a
    /// temporary file.
    Timed(fn(&[u8], &ReadOptions) -> Decoded<RecordingBuilder>),
    /// Like `Timed`, but a last chunk that was cut off can be skipped.
    Chunks(fn(&[u8], &ReadOptions) -> Decoded<RecordingBuilder>),
    /// Reads the file in pieces at any offset.
    Pieces(fn(&Path, &dyn ReadAt, &ReadOptions) -> Result<Recording, FormatError>),
    /// Like `Pieces`, but a truncated file cannot be read.
    Passes(fn(&Path, &dyn ReadAt, &ReadOptions) -> Result<Recording, FormatError>),
    /// Reads lines or blocks in order, and only holds distinct data.
    Lines(fn(&ReadOptions) -> Box<dyn LineReader>),
}
use Reader::{Chunks, Lines, Passes, Pieces, Timed, Whole};

/// The first of the formats that are recognised by a line of text, which come last.
const FIRST_OF_LINES: Format = Format::Callgrind;

/// Detects the format of a profile.
pub(super) fn format_of(head: &Head<'_>) -> Option<Format> {
    // A line of JSON may contain text by which a line-based format is recognised.
    let is_json = head.is_json();
    Format::all()
        .take_while(|&format| !is_json || format != FIRST_OF_LINES)
        .find(|&format| row(format).is_some_and(|(matches, _)| matches(head)))
}

pub(super) fn reader_of(format: Format) -> Option<Reader> {
    row(format).map(|(_, reader)| reader)
}

/// Whether a truncated file of this format can be read up to the cut.
pub(super) fn salvage_of(format: Format) -> Salvage {
    match reader_of(format) {
        Some(Chunks(_) | Pieces(_) | Lines(_)) => Salvage::Possible,
        Some(Whole(_) | Timed(_) | Passes(_)) | None => Salvage::Impossible,
    }
}
