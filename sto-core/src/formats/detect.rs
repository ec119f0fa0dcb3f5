//! Which formats there are, and which one a profile has.

use super::text::{LineReader, lines};
use super::{
    FormatError, ReadOptions, Recording, Salvage, callgrind, chrome, cpuprofile, csv, dtrace,
    firefox, folded, ghc, jfr, otlp, perf_data, perf_script, pprof, report, sample, speedscope,
    visual_studio, vtune, xctrace, yourkit,
};
use crate::files::ReadAt;
use std::path::Path;

/// A format that profiles are read from.
///
/// A new one is a variant here, a row in `ROWS`, and a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `perf.data`, in file or pipe mode.
    PerfData,
    /// Recordings of JDK Flight Recorder.
    Jfr,
    /// pprof's Protocol Buffers.
    Pprof,
    /// OpenTelemetry's profiles, in Protocol Buffers or JSON.
    Otlp,
    /// The Firefox Profiler's processed profiles, in JSON or in JSON slabs.
    Firefox,
    /// speedscope's own JSON.
    Speedscope,
    /// V8's `.cpuprofile`.
    CpuProfile,
    /// Chrome's trace events.
    Chrome,
    /// Callgrind's format, for KCachegrind.
    Callgrind,
    /// The XML that Apple's `xctrace` exports.
    Xctrace,
    /// Call trees that YourKit exports, in CSV or XML.
    YourKit,
    /// VTune's top-down tree in CSV.
    VTune,
    /// The call tree of Visual Studio's profiler in CSV.
    VisualStudio,
    /// GHC's time and allocation profiles.
    Ghc,
    /// The text that macOS's `sample` prints.
    Sample,
    /// The text that `perf script` prints.
    PerfScript,
    /// DTrace's aggregations of stacks.
    DTrace,
    /// Folded stacks: `root;caller;leaf count` lines.
    Folded,
}

/// What there is to know of each format, in the order in which they are tried: formats with a magic
/// number first, those that are told by a line last.
const ROWS: [Row; 18] = [
    row(
        Format::PerfData,
        "perf.data",
        perf_data::is_told,
        Pieces(perf_data::read),
    ),
    row(Format::Jfr, "jfr", jfr::is_told, Whole(jfr::read)),
    row(Format::Pprof, "pprof", pprof::is_told, Whole(pprof::read)),
    row(Format::Otlp, "otlp", otlp::is_told, Whole(otlp::read)),
    row(
        Format::Firefox,
        "firefox",
        firefox::is_told,
        Whole(firefox::read),
    ),
    row(
        Format::Speedscope,
        "speedscope",
        speedscope::is_told,
        Whole(speedscope::read),
    ),
    row(
        Format::CpuProfile,
        "cpuprofile",
        cpuprofile::is_told,
        Whole(cpuprofile::read),
    ),
    row(
        Format::Chrome,
        "chrome",
        chrome::is_told,
        Whole(chrome::read),
    ),
    row(
        Format::Callgrind,
        "callgrind",
        callgrind::is_told,
        Lines(report::reader::<callgrind::Callgrind>),
    ),
    row(
        Format::Xctrace,
        "xctrace",
        xctrace::is_told,
        Whole(xctrace::read),
    ),
    row(
        Format::YourKit,
        "yourkit",
        yourkit::is_told,
        Whole(yourkit::read),
    ),
    row(
        Format::VTune,
        "vtune",
        csv::is_told::<vtune::Columns>,
        Lines(report::reader::<vtune::VTune>),
    ),
    row(
        Format::VisualStudio,
        "visual studio",
        csv::is_told::<visual_studio::Columns>,
        Lines(report::reader::<visual_studio::VisualStudio>),
    ),
    row(
        Format::Ghc,
        "ghc",
        ghc::is_told,
        Lines(report::reader::<ghc::Ghc>),
    ),
    row(
        Format::Sample,
        "sample",
        sample::is_told,
        Lines(report::reader::<sample::Sample>),
    ),
    row(
        Format::PerfScript,
        "perf script",
        perf_script::is_told,
        Lines(perf_script::reader),
    ),
    row(
        Format::DTrace,
        "dtrace",
        dtrace::is_told,
        Lines(report::reader::<dtrace::DTrace>),
    ),
    row(
        Format::Folded,
        "folded",
        folded::is_told,
        Lines(folded::reader),
    ),
];

struct Row {
    format: Format,
    name: &'static str,
    is_told: fn(&Head<'_>) -> bool,
    reader: Reader,
}

const fn row(
    format: Format,
    name: &'static str,
    is_told: fn(&Head<'_>) -> bool,
    reader: Reader,
) -> Row {
    Row {
        format,
        name,
        is_told,
        reader,
    }
}

/// How a format is read.
#[derive(Clone, Copy)]
pub(super) enum Reader {
    /// From all its bytes at once.
    Whole(fn(&Source<'_>) -> Result<Recording, FormatError>),
    /// Piece by piece, from wherever it is.
    Pieces(fn(&Path, &dyn ReadAt, &ReadOptions) -> Result<Recording, FormatError>),
    /// Lines as they come, of which the reader holds what is distinct.
    Lines(for<'a> fn(&'a Path, &ReadOptions) -> Box<dyn LineReader + 'a>),
}
use Reader::{Lines, Pieces, Whole};

/// All bytes of a profile, no longer compressed, and what else its reader goes by.
pub(super) struct Source<'a> {
    /// For messages.
    pub(super) path: &'a Path,
    pub(super) bytes: &'a [u8],
    pub(super) options: &'a ReadOptions,
}

/// How a profile begins.
pub(super) struct Head<'a> {
    /// The first bytes, no longer compressed: the first 4 MiB at least, or all there are.
    pub(super) bytes: &'a [u8],
    /// Whether that is all.
    pub(super) is_all: bool,
}

impl<'a> Head<'a> {
    /// The lines that are there to their ends.
    pub(super) fn whole_lines(&self) -> &'a [u8] {
        let end = match self.is_all {
            true => self.bytes.len(),
            false => memchr::memrchr(b'\n', self.bytes).map_or(0, |end| end + 1),
        };
        &self.bytes[..end]
    }

    /// The first line that is neither blank nor a comment (`#`), if it is there to its end.
    pub(super) fn first_line(&self) -> Option<&'a [u8]> {
        lines(self.whole_lines())
            .map(|(_, line)| line)
            .find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
    }
}

impl Format {
    /// Every format.
    pub fn all() -> impl Iterator<Item = Format> {
        ROWS.iter().map(|row| row.format)
    }

    /// The name that output and stored profiles carry: `perf.data`, `perf script`, `folded`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name as one word, which [`Format::from_str`](std::str::FromStr) takes: `perf-script`.
    pub fn word(self) -> String {
        self.name().replace(' ', "-")
    }

    /// The format of a profile that begins so.
    pub(super) fn of(head: &Head<'_>) -> Option<Format> {
        let told = ROWS.iter().find(|row| (row.is_told)(head));
        told.map(|row| row.format)
    }

    pub(super) fn reader(self) -> Reader {
        self.row().reader
    }

    /// What can be done with what there is of a file that was cut off anywhere.
    pub(super) fn salvage(self) -> Salvage {
        match (self, self.reader()) {
            (Format::PerfData | Format::Jfr, _) | (_, Lines(_)) => Salvage::Possible,
            (_, Whole(_) | Pieces(_)) => Salvage::Impossible,
        }
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// Every format's word, for messages.
pub(super) fn known() -> String {
    Format::all()
        .map(Format::word)
        .collect::<Vec<_>>()
        .join(", ")
}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Format, UnknownFormat> {
        Format::all()
            .find(|format| format.word() == word)
            .ok_or(UnknownFormat)
    }
}

/// A word that names no format.
#[derive(Debug, thiserror::Error)]
#[error("expected one of {}", known())]
pub struct UnknownFormat;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_finds_its_row() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.format as usize, place, "{}", row.name);
            assert_eq!(row.format.word().parse::<Format>().unwrap(), row.format);
        }
    }
}
