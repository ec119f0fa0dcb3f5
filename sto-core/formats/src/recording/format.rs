//! The formats: one row in one table for each.

/// Passes the table of formats to a macro.
///
/// A row has the documentation of a format, its variant, its name, the feature of this crate that it needs, if any, the
/// function that recognises it, and its reader. Paths are those of `registry.rs`. Formats are tried in this order: those
/// with a magic number first, those that are recognised by a line last.
macro_rules! each_format {
    ($use_rows:ident) => { $use_rows! {
            /// `perf.data`, in file or pipe mode.
            PerfData = "perf.data" if "symbols": perf_data::matches, Pieces(perf_data::read);
            /// LLVM XRay's logs, in the basic mode or of the flight data recorder.
            XRay = "xray" if "symbols": xray::matches, Pieces(xray::read);
            /// The same as `llvm-xray convert -f yaml` writes them.
            XRayYaml = "xray yaml" if "symbols": xray::yaml::matches, Lines(xray::yaml::reader);
            /// The data folder of uftrace.
            Uftrace = "uftrace": uftrace::matches, Whole(uftrace::read);
            /// .NET's traces of `dotnet-trace`.
            Nettrace = "nettrace": nettrace::matches, Timed(nettrace::read);
            /// Captures of sysprof.
            Sysprof = "sysprof": sysprof::matches, Timed(sysprof::read);
            /// What Android's `simpleperf report-sample --protobuf` writes.
            Simpleperf = "simpleperf": simpleperf::matches, Timed(simpleperf::read);
            /// Statistics of Python's `cProfile`.
            Pstats = "pstats": pstats::matches, Whole(pstats::read);
            /// Austin's samples in its binary form, MOJO.
            Austin = "austin": austin::mojo::matches, Lines(austin::mojo::reader);
            /// What memray records of Python.
            Memray = "memray": memray::matches, Lines(memray::reader);
            /// Recordings of JDK Flight Recorder.
            Jfr = "jfr": jfr::matches, Chunks(jfr::read);
            /// gperftools' profiles of the CPU and the heap, jemalloc's of the heap, and Go's in text.
            Gperftools = "gperftools": gperftools::matches, Whole(gperftools::read);
            /// pprof's Protocol Buffers.
            Pprof = "pprof": pprof::matches, Passes(pprof::read);
            /// OpenTelemetry's profiles, in Protocol Buffers or JSON.
            Otlp = "otlp": otlp::matches, Passes(otlp::read);
            /// Perfetto's traces, in Protocol Buffers.
            Perfetto = "perfetto": perfetto::matches, Lines(perfetto::reader);
            /// The Firefox Profiler's processed profiles, in JSON or in JSON slabs.
            Firefox = "firefox": firefox::matches, Timed(firefox::read);
            /// speedscope's own JSON.
            Speedscope = "speedscope": speedscope::matches, Timed(speedscope::read);
            /// V8's `.cpuprofile`.
            CpuProfile = "cpuprofile": cpuprofile::matches, Timed(cpuprofile::read);
            /// V8's `.heapprofile`.
            HeapProfile = "heapprofile": heapprofile::matches, Whole(heapprofile::read);
            /// V8's `.heapsnapshot`.
            HeapSnapshot = "heapsnapshot": heap_snapshot::matches, Whole(heap_snapshot::read);
            /// V8's logs of `node --prof`.
            V8Log = "v8 log": raw::matches, Lines(report::<raw::V8Log>);
            /// The same as `node --prof-process --preprocess` writes them.
            V8LogJson = "v8 log json": preprocessed::matches, Timed(preprocessed::read);
            /// Profiles of Hermes.
            Hermes = "hermes": hermes::matches, Timed(hermes::read);
            /// The JSON of pyinstrument.
            Pyinstrument = "pyinstrument": pyinstrument::matches, Timed(pyinstrument::read);
            /// The JSON of Scalene.
            Scalene = "scalene": scalene::matches, Whole(scalene::read);
            /// Reports of stackprof, as it dumps them or in JSON.
            Stackprof = "stackprof": stackprof::matches, Whole(stackprof::read);
            /// Maps by stack that bpftrace prints in JSON.
            BpftraceJson = "bpftrace json": bpftrace_json::matches, Lines(report::<BpftraceJson>);
            /// GHC's profiles in JSON.
            GhcJson = "ghc json": ghc_json::matches, Whole(ghc_json::read);
            /// Calls that XHProf counted, in JSON or as PHP serializes them.
            Xhprof = "xhprof": xhprof::matches, Whole(xhprof::read);
            /// The JSON of Valgrind's DHAT.
            Dhat = "dhat": dhat::matches, Whole(dhat::read);
            /// Perun's profiles.
            Perun = "perun": perun::matches, Timed(perun::read);
            /// Chrome's trace events.
            Chrome = "chrome": chrome::matches, Lines(chrome::reader);
            /// Callgrind's format, for KCachegrind.
            Callgrind = "callgrind": callgrind::matches, Lines(report::<Callgrind>);
            /// The XML that Apple's `xctrace` exports.
            Xctrace = "xctrace": xctrace::matches, Timed(xctrace::read);
            /// Call trees that YourKit exports, in CSV or XML.
            YourKit = "yourkit": yourkit::matches, Whole(yourkit::read);
            /// VTune's top-down tree in CSV.
            VTune = "vtune": vtune::matches, Lines(report::<VTune>);
            /// The call tree of Visual Studio's profiler in CSV.
            VisualStudio = "visual studio": visual_studio::matches, Lines(report::<VisualStudio>);
            /// GHC's time and allocation profiles.
            Ghc = "ghc": ghc::matches, Lines(report::<Ghc>);
            /// What rbspy keeps of a recording.
            Rbspy = "rbspy": rbspy::matches, Lines(report::<Rbspy>);
            /// What R's `Rprof` writes.
            Rprof = "rprof": rprof::matches, Lines(report::<Rprof>);
            /// What phpspy prints.
            Phpspy = "phpspy": phpspy::matches, Lines(report::<Phpspy>);
            /// Austin's samples as text.
            AustinText = "austin text": austin::text::matches, Lines(report::<AustinText>);
            /// What gprof prints.
            Gprof = "gprof": gprof::matches, Lines(report::<Gprof>);
            /// The text of Valgrind's massif.
            Massif = "massif": massif::matches, Whole(massif::read);
            /// What heaptrack records, with its symbols.
            Heaptrack = "heaptrack": heaptrack::matches, Lines(report::<Heaptrack>);
            /// The text that macOS's `sample` prints.
            Sample = "sample": sample::matches, Lines(report::<Sample>);
            /// Call trees that Apple's Instruments copies.
            Instruments = "instruments": instruments::matches, Lines(report::<Instruments>);
            /// Thread dumps of Java: `jstack`, `jcmd PID Thread.print`.
            Jstack = "jstack": java::matches, Whole(java::read);
            /// Go's dumps of goroutines.
            Goroutines = "goroutines": go::matches, Whole(go::read);
            /// The text of ftrace's `function_graph`.
            Ftrace = "ftrace": ftrace::matches, Lines(ftrace::reader);
            /// Maps by stack that bpftrace prints.
            Bpftrace = "bpftrace": bpftrace::matches, Lines(report::<Bpftrace>);
            /// Stacks that bcc's tools print.
            Bcc = "bcc": bcc::matches, Lines(report::<Bcc>);
            /// Stacks of threads that gdb prints.
            Gdb = "gdb": gdb::matches, Lines(report::<Gdb>);
            /// The text that `perf script` prints.
            PerfScript = "perf script": perf_script::matches, Lines(perf_script::reader);
            /// The text that NonSequitur reads, a file a thread.
            NonSequitur = "nonsequitur": nonsequitur::matches, Lines(nonsequitur::reader);
            /// DTrace's aggregations of stacks.
            DTrace = "dtrace": dtrace::matches, Lines(report::<DTrace>);
            /// Folded stacks: `root;caller;leaf count` lines.
            Folded = "folded": folded::matches, Lines(report::<Folded>);
    } };
}
pub(crate) use each_format;

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $name:literal $(if $feature:tt)?: $matches:expr, $reader:expr;)*) => {
        /// A format that profiles are read from.
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
each_format!(formats);

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
