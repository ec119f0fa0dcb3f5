//! Which format a profile has, and what reads it: the only file that knows every format.

use super::callgrind::{self, Callgrind};
use super::dtrace::{self, DTrace};
use super::error::Decoded;
use super::ghc::{self, Ghc};
use super::report::reader as report;
use super::sample::{self, Sample};
use super::source::{Head, LineReader, ReadOptions};
use super::visual_studio::{self, VisualStudio};
use super::vtune::{self, VTune};
use super::{
    FormatError, Salvage, chrome, cpuprofile, firefox, folded, jfr, otlp, perf_data, perf_script,
    pprof, speedscope, xctrace, yourkit,
};
use crate::files::ReadAt;
use crate::recording::{Format, Recording, RecordingBuilder};
use std::path::Path;

/// What recognises a format, and what reads it.
fn row(format: Format) -> (Matches, Reader) {
    match format {
        Format::PerfData => (perf_data::matches, Pieces(perf_data::read)),
        Format::Jfr => (jfr::matches, Chunks(jfr::read)),
        Format::Pprof => (pprof::matches, Whole(pprof::read)),
        Format::Otlp => (otlp::matches, Whole(otlp::read)),
        Format::Firefox => (firefox::matches, Whole(firefox::read)),
        Format::Speedscope => (speedscope::matches, Whole(speedscope::read)),
        Format::CpuProfile => (cpuprofile::matches, Whole(cpuprofile::read)),
        Format::Chrome => (chrome::matches, Whole(chrome::read)),
        Format::Callgrind => (callgrind::matches, Lines(report::<Callgrind>)),
        Format::Xctrace => (xctrace::matches, Whole(xctrace::read)),
        Format::YourKit => (yourkit::matches, Whole(yourkit::read)),
        Format::VTune => (vtune::matches, Lines(report::<VTune>)),
        Format::VisualStudio => (visual_studio::matches, Lines(report::<VisualStudio>)),
        Format::Ghc => (ghc::matches, Lines(report::<Ghc>)),
        Format::Sample => (sample::matches, Lines(report::<Sample>)),
        Format::PerfScript => (perf_script::matches, Lines(perf_script::reader)),
        Format::DTrace => (dtrace::matches, Lines(report::<DTrace>)),
        Format::Folded => (folded::matches, Lines(folded::reader)),
    }
}

/// Whether a profile that begins so has the format.
type Matches = fn(&Head<'_>) -> bool;

/// How a format is read.
#[derive(Clone, Copy)]
pub(super) enum Reader {
    /// From all its bytes at once.
    Whole(fn(&[u8]) -> Decoded<RecordingBuilder>),
    /// The same; the last chunk may be left out where it was cut off, if that is allowed.
    Chunks(fn(&[u8], allow_truncated: bool) -> Decoded<RecordingBuilder>),
    /// Piece by piece, from wherever it is.
    Pieces(fn(&Path, &dyn ReadAt, &ReadOptions) -> Result<Recording, FormatError>),
    /// Lines as they come, of which the reader holds what is distinct.
    Lines(for<'a> fn(&'a Path, &ReadOptions) -> Box<dyn LineReader + 'a>),
}
use Reader::{Chunks, Lines, Pieces, Whole};

/// The format of a profile that begins so.
pub(super) fn format_of(head: &Head<'_>) -> Option<Format> {
    Format::all().find(|&format| row(format).0(head))
}

pub(super) fn reader_of(format: Format) -> Reader {
    row(format).1
}

/// What can be done with what there is of a file that was cut off anywhere.
pub(super) fn salvage_of(format: Format) -> Salvage {
    match reader_of(format) {
        Chunks(_) | Pieces(_) | Lines(_) => Salvage::Possible,
        Whole(_) => Salvage::Impossible,
    }
}
