//! Which format a profile has, and what reads it: the only file that knows every format.

use super::error::Decoded;
use super::jfr;
use super::source::{Head, LineReader, ReadOptions};
use super::{
    FormatError, Salvage,
    folded::{self, Folded},
    report::reader as report,
};
use super::{
    austin::{self, text::AustinText},
    bcc::{self, Bcc},
    bpftrace::{self, Bpftrace},
    callgrind::{self, Callgrind},
    dtrace::{self, DTrace},
    gdb::{self, Gdb},
    ghc::{self, Ghc},
    gprof::{self, Gprof},
    heaptrack::{self, Heaptrack},
    instruments::{self, Instruments},
    memray, nonsequitur, perf_script,
    phpspy::{self, Phpspy},
    pstats,
    rprof::{self, Rprof},
    sample::{self, Sample},
    thread_dump::{go, java},
    visual_studio::{self, VisualStudio},
    vtune::{self, VTune},
};
use super::{
    bpftrace_json::{self, BpftraceJson},
    chrome, cpuprofile, firefox, ghc_json, heap_snapshot, heapprofile, hermes, nettrace, perfetto,
    perun, pyinstrument,
    rbspy::{self, Rbspy},
    scalene, simpleperf, speedscope, stackprof, sysprof,
    v8_log::{preprocessed, raw},
    valgrind::{dhat, massif},
    xctrace, xhprof, yourkit,
};
use super::{ftrace, uftrace};
use super::{gperftools, otlp, pprof};
#[cfg(feature = "symbols")]
use super::{perf_data, xray};
use crate::recording::{Format, Recording, RecordingBuilder};
use std::path::Path;
use sto_model::files::ReadAt;

/// What recognises a format, and what reads it; `None` where this program was built without it.
fn row(format: Format) -> Option<(Matches, Reader)> {
    Some(match format {
        #[cfg(feature = "symbols")]
        Format::PerfData => (perf_data::matches, Pieces(perf_data::read)),
        #[cfg(feature = "symbols")]
        Format::XRay => (xray::matches, Pieces(xray::read)),
        #[cfg(feature = "symbols")]
        Format::XRayYaml => (xray::yaml::matches, Lines(xray::yaml::reader)),
        Format::Uftrace => (uftrace::matches, Whole(uftrace::read)),
        Format::Nettrace => (nettrace::matches, Timed(nettrace::read)),
        Format::Sysprof => (sysprof::matches, Timed(sysprof::read)),
        Format::Simpleperf => (simpleperf::matches, Timed(simpleperf::read)),
        Format::Pstats => (pstats::matches, Whole(pstats::read)),
        Format::Austin => (austin::mojo::matches, Lines(austin::mojo::reader)),
        Format::Memray => (memray::matches, Lines(memray::reader)),
        Format::Jfr => (jfr::matches, Chunks(jfr::read)),
        Format::Gperftools => (gperftools::matches, Whole(gperftools::read)),
        Format::Pprof => (pprof::matches, Passes(pprof::read)),
        Format::Otlp => (otlp::matches, Passes(otlp::read)),
        Format::Perfetto => (perfetto::matches, Lines(perfetto::reader)),
        Format::Firefox => (firefox::matches, Timed(firefox::read)),
        Format::Speedscope => (speedscope::matches, Timed(speedscope::read)),
        Format::CpuProfile => (cpuprofile::matches, Timed(cpuprofile::read)),
        Format::HeapProfile => (heapprofile::matches, Whole(heapprofile::read)),
        Format::HeapSnapshot => (heap_snapshot::matches, Whole(heap_snapshot::read)),
        Format::V8Log => (raw::matches, Lines(report::<raw::V8Log>)),
        Format::V8LogJson => (preprocessed::matches, Timed(preprocessed::read)),
        Format::Hermes => (hermes::matches, Timed(hermes::read)),
        Format::Pyinstrument => (pyinstrument::matches, Timed(pyinstrument::read)),
        Format::Scalene => (scalene::matches, Whole(scalene::read)),
        Format::Stackprof => (stackprof::matches, Whole(stackprof::read)),
        Format::BpftraceJson => (bpftrace_json::matches, Lines(report::<BpftraceJson>)),
        Format::GhcJson => (ghc_json::matches, Whole(ghc_json::read)),
        Format::Xhprof => (xhprof::matches, Whole(xhprof::read)),
        Format::Dhat => (dhat::matches, Whole(dhat::read)),
        Format::Perun => (perun::matches, Timed(perun::read)),
        Format::Chrome => (chrome::matches, Lines(chrome::reader)),
        Format::Callgrind => (callgrind::matches, Lines(report::<Callgrind>)),
        Format::Xctrace => (xctrace::matches, Timed(xctrace::read)),
        Format::YourKit => (yourkit::matches, Whole(yourkit::read)),
        Format::VTune => (vtune::matches, Lines(report::<VTune>)),
        Format::VisualStudio => (visual_studio::matches, Lines(report::<VisualStudio>)),
        Format::Ghc => (ghc::matches, Lines(report::<Ghc>)),
        Format::Rbspy => (rbspy::matches, Lines(report::<Rbspy>)),
        Format::Rprof => (rprof::matches, Lines(report::<Rprof>)),
        Format::Phpspy => (phpspy::matches, Lines(report::<Phpspy>)),
        Format::AustinText => (austin::text::matches, Lines(report::<AustinText>)),
        Format::Gprof => (gprof::matches, Lines(report::<Gprof>)),
        Format::Massif => (massif::matches, Whole(massif::read)),
        Format::Heaptrack => (heaptrack::matches, Lines(report::<Heaptrack>)),
        Format::Sample => (sample::matches, Lines(report::<Sample>)),
        Format::Instruments => (instruments::matches, Lines(report::<Instruments>)),
        Format::Jstack => (java::matches, Whole(java::read)),
        Format::Goroutines => (go::matches, Whole(go::read)),
        Format::Ftrace => (ftrace::matches, Lines(ftrace::reader)),
        Format::Bpftrace => (bpftrace::matches, Lines(report::<Bpftrace>)),
        Format::Bcc => (bcc::matches, Lines(report::<Bcc>)),
        Format::Gdb => (gdb::matches, Lines(report::<Gdb>)),
        Format::PerfScript => (perf_script::matches, Lines(perf_script::reader)),
        Format::NonSequitur => (nonsequitur::matches, Lines(nonsequitur::reader)),
        Format::DTrace => (dtrace::matches, Lines(report::<DTrace>)),
        Format::Folded => (folded::matches, Lines(report::<Folded>)),
        #[cfg(not(feature = "symbols"))]
        _ => return None,
    })
}

/// What recognises a folder that is one recording of a format, and what reads it; `None` of formats of files alone.
fn folder_row(format: Format) -> Option<(MatchesFolder, FolderReader)> {
    match format {
        Format::NonSequitur => Some((nonsequitur::is_trace, nonsequitur::read_folder)),
        Format::Uftrace => Some((uftrace::is_data, uftrace::read_folder)),
        _ => None,
    }
}

/// Whether a folder is one recording of the format.
type MatchesFolder = fn(&Path) -> bool;

/// What reads a folder that is one recording.
pub(super) type FolderReader = fn(&Path, &ReadOptions) -> Result<Recording, FormatError>;

/// What reads a folder, where it is one recording, or the named format has folders.
pub(super) fn folder_reader_of(folder: &Path, named: Option<Format>) -> Option<FolderReader> {
    let mut rows = Format::all().filter_map(|format| Some((format, folder_row(format)?)));
    let found = rows.find(|&(format, (is_one, _))| match named {
        Some(named) => named == format,
        None => is_one(folder),
    });
    found.map(|(_, (_, reader))| reader)
}

/// Whether a profile that begins so has the format.
type Matches = fn(&Head<'_>) -> bool;

#[derive(Clone, Copy)]
pub(super) enum Reader {
    /// From all its bytes at once.
    Whole(fn(&[u8]) -> Decoded<RecordingBuilder>),
    /// The same, of formats with times: samples may be summed over time, and calls go to a temporary file.
    Timed(fn(&[u8], &ReadOptions) -> Decoded<RecordingBuilder>),
    /// The same; the last chunk may be left out where it was cut off, if that is allowed.
    Chunks(fn(&[u8], &ReadOptions) -> Decoded<RecordingBuilder>),
    /// Piece by piece, from wherever it is.
    Pieces(fn(&Path, &dyn ReadAt, &ReadOptions) -> Result<Recording, FormatError>),
    /// The same, where nothing can be made of a file that was cut off.
    Passes(fn(&Path, &dyn ReadAt, &ReadOptions) -> Result<Recording, FormatError>),
    /// Lines, or blocks, as they come, of which the reader holds what is distinct.
    Lines(fn(&ReadOptions) -> Box<dyn LineReader>),
}
use Reader::{Chunks, Lines, Passes, Pieces, Timed, Whole};

/// The first of the formats that are recognised by a line, which stand last.
const FIRST_OF_LINES: Format = Format::Callgrind;

/// The format of a profile that begins so.
pub(super) fn format_of(head: &Head<'_>) -> Option<Format> {
    // A line of JSON may hold what a line of a text is known by.
    let is_json = head.is_json();
    Format::all()
        .filter(|&format| !is_json || (format as usize) < FIRST_OF_LINES as usize)
        .find(|&format| row(format).is_some_and(|(matches, _)| matches(head)))
}

pub(super) fn reader_of(format: Format) -> Option<Reader> {
    row(format).map(|(_, reader)| reader)
}

/// What can be done with what there is of a file that was cut off anywhere.
pub(super) fn salvage_of(format: Format) -> Salvage {
    match reader_of(format) {
        Some(Chunks(_) | Pieces(_) | Lines(_)) => Salvage::Possible,
        Some(Whole(_) | Timed(_) | Passes(_)) | None => Salvage::Impossible,
    }
}
