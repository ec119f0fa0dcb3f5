//! The formats, by name.

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $name:literal $(if $feature:tt)?,)*) => {
        /// A format that profiles are read from.
        ///
        /// A new one is a variant and a name here, an arm in `formats/registry.rs`, and a module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        /// Every format with its name, and whether this program was built to read it.
        const NAMES: &[(Format, &str, bool)] =
            &[$((Format::$format, $name, cfg!(all($(feature = $feature)?))),)*];
    };
}

// In the order in which they are tried: formats with a magic number first, those that are recognised by a line
// last. Behind `if` stands the feature of this crate that has it.
formats! {
    /// `perf.data`, in file or pipe mode.
    PerfData = "perf.data" if "symbols",
    /// LLVM XRay's logs, in the basic mode or of the flight data recorder.
    XRay = "xray" if "symbols",
    /// The same as `llvm-xray convert -f yaml` writes them.
    XRayYaml = "xray yaml" if "symbols",
    /// The data folder of uftrace.
    Uftrace = "uftrace",
    /// .NET's traces of `dotnet-trace`.
    Nettrace = "nettrace",
    /// Captures of sysprof.
    Sysprof = "sysprof",
    /// What Android's `simpleperf report-sample --protobuf` writes.
    Simpleperf = "simpleperf",
    /// Statistics of Python's `cProfile`.
    Pstats = "pstats",
    /// Austin's samples in its binary form, MOJO.
    Austin = "austin",
    /// What memray records of Python.
    Memray = "memray",
    /// Recordings of JDK Flight Recorder.
    Jfr = "jfr",
    /// gperftools' profiles of the CPU and the heap, jemalloc's of the heap, and Go's in text.
    Gperftools = "gperftools",
    /// pprof's Protocol Buffers.
    Pprof = "pprof",
    /// OpenTelemetry's profiles, in Protocol Buffers or JSON.
    Otlp = "otlp",
    /// Perfetto's traces, in Protocol Buffers.
    Perfetto = "perfetto",
    /// The Firefox Profiler's processed profiles, in JSON or in JSON slabs.
    Firefox = "firefox",
    /// speedscope's own JSON.
    Speedscope = "speedscope",
    /// V8's `.cpuprofile`.
    CpuProfile = "cpuprofile",
    /// V8's `.heapprofile`.
    HeapProfile = "heapprofile",
    /// V8's `.heapsnapshot`.
    HeapSnapshot = "heapsnapshot",
    /// V8's logs of `node --prof`.
    V8Log = "v8 log",
    /// The same as `node --prof-process --preprocess` writes them.
    V8LogJson = "v8 log json",
    /// Profiles of Hermes.
    Hermes = "hermes",
    /// The JSON of pyinstrument.
    Pyinstrument = "pyinstrument",
    /// The JSON of Scalene.
    Scalene = "scalene",
    /// Reports of stackprof, as it dumps them or in JSON.
    Stackprof = "stackprof",
    /// Maps by stack that bpftrace prints in JSON.
    BpftraceJson = "bpftrace json",
    /// GHC's profiles in JSON.
    GhcJson = "ghc json",
    /// Calls that XHProf counted, in JSON or as PHP serializes them.
    Xhprof = "xhprof",
    /// The JSON of Valgrind's DHAT.
    Dhat = "dhat",
    /// Perun's profiles.
    Perun = "perun",
    /// Chrome's trace events.
    Chrome = "chrome",
    /// Callgrind's format, for KCachegrind.
    Callgrind = "callgrind",
    /// The XML that Apple's `xctrace` exports.
    Xctrace = "xctrace",
    /// Call trees that YourKit exports, in CSV or XML.
    YourKit = "yourkit",
    /// VTune's top-down tree in CSV.
    VTune = "vtune",
    /// The call tree of Visual Studio's profiler in CSV.
    VisualStudio = "visual studio",
    /// GHC's time and allocation profiles.
    Ghc = "ghc",
    /// What rbspy keeps of a recording.
    Rbspy = "rbspy",
    /// What R's `Rprof` writes.
    Rprof = "rprof",
    /// What phpspy prints.
    Phpspy = "phpspy",
    /// Austin's samples as text.
    AustinText = "austin text",
    /// What gprof prints.
    Gprof = "gprof",
    /// The text of Valgrind's massif.
    Massif = "massif",
    /// What heaptrack records, with its symbols.
    Heaptrack = "heaptrack",
    /// The text that macOS's `sample` prints.
    Sample = "sample",
    /// Call trees that Apple's Instruments copies.
    Instruments = "instruments",
    /// Thread dumps of Java: `jstack`, `jcmd PID Thread.print`.
    Jstack = "jstack",
    /// Go's dumps of goroutines.
    Goroutines = "goroutines",
    /// The text of ftrace's `function_graph`.
    Ftrace = "ftrace",
    /// Maps by stack that bpftrace prints.
    Bpftrace = "bpftrace",
    /// Stacks that bcc's tools print.
    Bcc = "bcc",
    /// Stacks of threads that gdb prints.
    Gdb = "gdb",
    /// The text that `perf script` prints.
    PerfScript = "perf script",
    /// The text that NonSequitur reads, a file a thread.
    NonSequitur = "nonsequitur",
    /// DTrace's aggregations of stacks.
    DTrace = "dtrace",
    /// Folded stacks: `root;caller;leaf count` lines.
    Folded = "folded",
}

impl Format {
    /// Every format that this program was built to read, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Format> {
        let read = NAMES.iter().filter(|(.., is_read)| *is_read);
        read.map(|&(format, ..)| format)
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
    let words: Vec<String> = Format::all().map(Format::word).collect();
    words.join(", ")
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
