//! Which format a profile has, and what reads it: the only file that knows every format.

use super::error::Decoded;
use super::source::{Head, LineReader, ReadOptions};
use super::{
    FormatError, Salvage, callgrind, chrome, cpuprofile, dtrace, firefox, folded, ghc, jfr, otlp,
    perf_data, perf_script, pprof, report, sample, speedscope, visual_studio, vtune, xctrace,
    yourkit,
};
use crate::files::ReadAt;
use crate::recording::{Format, Recording, RecordingBuilder};
use std::path::Path;

/// What recognises and reads each format.
const ROWS: [(Format, Matches, Reader); 18] = [
    (
        Format::PerfData,
        perf_data::matches,
        Pieces(perf_data::read),
    ),
    (Format::Jfr, jfr::matches, Chunks(jfr::read)),
    (Format::Pprof, pprof::matches, Whole(pprof::read)),
    (Format::Otlp, otlp::matches, Whole(otlp::read)),
    (Format::Firefox, firefox::matches, Whole(firefox::read)),
    (
        Format::Speedscope,
        speedscope::matches,
        Whole(speedscope::read),
    ),
    (
        Format::CpuProfile,
        cpuprofile::matches,
        Whole(cpuprofile::read),
    ),
    (Format::Chrome, chrome::matches, Whole(chrome::read)),
    (
        Format::Callgrind,
        callgrind::matches,
        Lines(report::reader::<callgrind::Callgrind>),
    ),
    (Format::Xctrace, xctrace::matches, Whole(xctrace::read)),
    (Format::YourKit, yourkit::matches, Whole(yourkit::read)),
    (
        Format::VTune,
        vtune::matches,
        Lines(report::reader::<vtune::VTune>),
    ),
    (
        Format::VisualStudio,
        visual_studio::matches,
        Lines(report::reader::<visual_studio::VisualStudio>),
    ),
    (Format::Ghc, ghc::matches, Lines(report::reader::<ghc::Ghc>)),
    (
        Format::Sample,
        sample::matches,
        Lines(report::reader::<sample::Sample>),
    ),
    (
        Format::PerfScript,
        perf_script::matches,
        Lines(perf_script::reader),
    ),
    (
        Format::DTrace,
        dtrace::matches,
        Lines(report::reader::<dtrace::DTrace>),
    ),
    (Format::Folded, folded::matches, Lines(folded::reader)),
];

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
    let found = ROWS.iter().find(|(_, matches, _)| matches(head));
    found.map(|&(format, ..)| format)
}

pub(super) fn reader_of(format: Format) -> Reader {
    ROWS[format as usize].2
}

/// What can be done with what there is of a file that was cut off anywhere.
pub(super) fn salvage_of(format: Format) -> Salvage {
    match reader_of(format) {
        Chunks(_) | Pieces(_) | Lines(_) => Salvage::Possible,
        Whole(_) => Salvage::Impossible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_finds_its_row() {
        for (format, row) in Format::all().zip(ROWS) {
            assert_eq!(row.0, format);
        }
    }
}
