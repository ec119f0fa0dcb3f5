//! The formats, by name.

/// A format that profiles are read from.
///
/// A new one is a variant and a name here, a row in `formats/registry.rs`, and a module.
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

/// Every format with its name, in the order in which they are tried: formats with a magic number first, those
/// that are recognised by a line last.
const NAMES: [(Format, &str); 18] = [
    (Format::PerfData, "perf.data"),
    (Format::Jfr, "jfr"),
    (Format::Pprof, "pprof"),
    (Format::Otlp, "otlp"),
    (Format::Firefox, "firefox"),
    (Format::Speedscope, "speedscope"),
    (Format::CpuProfile, "cpuprofile"),
    (Format::Chrome, "chrome"),
    (Format::Callgrind, "callgrind"),
    (Format::Xctrace, "xctrace"),
    (Format::YourKit, "yourkit"),
    (Format::VTune, "vtune"),
    (Format::VisualStudio, "visual studio"),
    (Format::Ghc, "ghc"),
    (Format::Sample, "sample"),
    (Format::PerfScript, "perf script"),
    (Format::DTrace, "dtrace"),
    (Format::Folded, "folded"),
];

impl Format {
    /// Every format, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Format> {
        NAMES.iter().map(|&(format, _)| format)
    }

    /// The name that output and stored profiles carry: `perf.data`, `perf script`, `folded`.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The name as one word, which [`Format::from_str`](std::str::FromStr) takes: `perf-script`.
    pub fn word(self) -> String {
        self.name().replace(' ', "-")
    }
}

/// Every format's word, for messages.
pub(crate) fn known() -> String {
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
    fn every_format_finds_its_name() {
        for (index, (format, name)) in NAMES.into_iter().enumerate() {
            assert_eq!(format as usize, index, "{name}");
            assert_eq!(format.word().parse::<Format>().unwrap(), format);
        }
    }
}
