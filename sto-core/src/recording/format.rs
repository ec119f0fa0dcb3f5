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
    PerfData = "perf.data" if "perf-data",
    /// LLVM XRay's logs, in the basic mode or of the flight data recorder.
    XRay = "xray" if "call-traces",
    /// The same as `llvm-xray convert -f yaml` writes them.
    XRayYaml = "xray yaml" if "call-traces",
    /// The data folder of uftrace.
    Uftrace = "uftrace" if "call-traces",
    /// .NET's traces of `dotnet-trace`.
    Nettrace = "nettrace" if "viewers",
    /// Captures of sysprof.
    Sysprof = "sysprof" if "viewers",
    /// What Android's `simpleperf report-sample --protobuf` writes.
    Simpleperf = "simpleperf" if "viewers",
    /// Statistics of Python's `cProfile`.
    Pstats = "pstats" if "text",
    /// Austin's samples in its binary form, MOJO.
    Austin = "austin" if "text",
    /// What memray records of Python.
    Memray = "memray" if "text",
    /// Recordings of JDK Flight Recorder.
    Jfr = "jfr" if "jfr",
    /// gperftools' profiles of the CPU and the heap, jemalloc's of the heap, and Go's in text.
    Gperftools = "gperftools" if "pprof",
    /// pprof's Protocol Buffers.
    Pprof = "pprof" if "pprof",
    /// OpenTelemetry's profiles, in Protocol Buffers or JSON.
    Otlp = "otlp" if "pprof",
    /// Perfetto's traces, in Protocol Buffers.
    Perfetto = "perfetto" if "viewers",
    /// The Firefox Profiler's processed profiles, in JSON or in JSON slabs.
    Firefox = "firefox" if "viewers",
    /// speedscope's own JSON.
    Speedscope = "speedscope" if "viewers",
    /// V8's `.cpuprofile`.
    CpuProfile = "cpuprofile" if "viewers",
    /// V8's `.heapprofile`.
    HeapProfile = "heapprofile" if "viewers",
    /// V8's `.heapsnapshot`.
    HeapSnapshot = "heapsnapshot" if "viewers",
    /// V8's logs of `node --prof`.
    V8Log = "v8 log" if "viewers",
    /// The same as `node --prof-process --preprocess` writes them.
    V8LogJson = "v8 log json" if "viewers",
    /// Profiles of Hermes.
    Hermes = "hermes" if "viewers",
    /// The JSON of pyinstrument.
    Pyinstrument = "pyinstrument" if "viewers",
    /// The JSON of Scalene.
    Scalene = "scalene" if "viewers",
    /// Reports of stackprof, as it dumps them or in JSON.
    Stackprof = "stackprof" if "viewers",
    /// Maps by stack that bpftrace prints in JSON.
    BpftraceJson = "bpftrace json" if "viewers",
    /// GHC's profiles in JSON.
    GhcJson = "ghc json" if "viewers",
    /// Calls that XHProf counted, in JSON or as PHP serializes them.
    Xhprof = "xhprof" if "viewers",
    /// The JSON of Valgrind's DHAT.
    Dhat = "dhat" if "viewers",
    /// Perun's profiles.
    Perun = "perun" if "viewers",
    /// Chrome's trace events.
    Chrome = "chrome" if "viewers",
    /// Callgrind's format, for KCachegrind.
    Callgrind = "callgrind" if "text",
    /// The XML that Apple's `xctrace` exports.
    Xctrace = "xctrace" if "viewers",
    /// Call trees that YourKit exports, in CSV or XML.
    YourKit = "yourkit" if "viewers",
    /// VTune's top-down tree in CSV.
    VTune = "vtune" if "text",
    /// The call tree of Visual Studio's profiler in CSV.
    VisualStudio = "visual studio" if "text",
    /// GHC's time and allocation profiles.
    Ghc = "ghc" if "text",
    /// What rbspy keeps of a recording.
    Rbspy = "rbspy" if "viewers",
    /// What R's `Rprof` writes.
    Rprof = "rprof" if "text",
    /// What phpspy prints.
    Phpspy = "phpspy" if "text",
    /// Austin's samples as text.
    AustinText = "austin text" if "text",
    /// What gprof prints.
    Gprof = "gprof" if "text",
    /// The text of Valgrind's massif.
    Massif = "massif" if "viewers",
    /// What heaptrack records, with its symbols.
    Heaptrack = "heaptrack" if "text",
    /// The text that macOS's `sample` prints.
    Sample = "sample" if "text",
    /// Call trees that Apple's Instruments copies.
    Instruments = "instruments" if "text",
    /// Thread dumps of Java: `jstack`, `jcmd PID Thread.print`.
    Jstack = "jstack" if "text",
    /// Go's dumps of goroutines.
    Goroutines = "goroutines" if "text",
    /// The text of ftrace's `function_graph`.
    Ftrace = "ftrace" if "call-traces",
    /// Maps by stack that bpftrace prints.
    Bpftrace = "bpftrace" if "text",
    /// Stacks that bcc's tools print.
    Bcc = "bcc" if "text",
    /// Stacks of threads that gdb prints.
    Gdb = "gdb" if "text",
    /// The text that `perf script` prints.
    PerfScript = "perf script" if "text",
    /// The text that NonSequitur reads, a file a thread.
    NonSequitur = "nonsequitur" if "text",
    /// DTrace's aggregations of stacks.
    DTrace = "dtrace" if "text",
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
