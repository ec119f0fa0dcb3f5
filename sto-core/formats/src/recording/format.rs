//! The table of formats.

/// Passes the table of formats to a macro.
///
/// A row has a format's documentation, variant and name, the feature of this crate that it needs,
/// if any, the function that recognises it, and its reader, with the paths used in `registry.rs`.
/// Formats are tried in this order: first those with a magic number, last those recognised by a
/// line of text.
macro_rules! each_format {
    ($use_rows:ident) => { $use_rows! {
            /// `perf.data` of Linux perf, in file or pipe mode.
            PerfData = "perf.data" if "symbols": perf_data::matches, Pieces(perf_data::read);
            /// LLVM XRay logs, in basic or flight data recorder mode.
            XRay = "xray" if "symbols": xray::matches, Pieces(xray::read);
            /// LLVM XRay logs converted by `llvm-xray convert -f yaml`.
            XRayYaml = "xray yaml" if "symbols": xray::yaml::matches, Lines(xray::yaml::reader);
            /// A data folder of uftrace.
            Uftrace = "uftrace": uftrace::matches, Whole(uftrace::read);
            /// `.nettrace` files of .NET's `dotnet-trace`.
            Nettrace = "nettrace": nettrace::matches, Timed(nettrace::read);
            /// sysprof captures.
            Sysprof = "sysprof": sysprof::matches, Timed(sysprof::read);
            /// Output of Android's `simpleperf report-sample --protobuf`.
            Simpleperf = "simpleperf": simpleperf::matches, Timed(simpleperf::read);
            /// Statistics of Python's `cProfile`.
            Pstats = "pstats": pstats::matches, Whole(pstats::read);
            /// Austin samples in the binary format MOJO.
            Austin = "austin": austin::mojo::matches, Lines(austin::mojo::reader);
            /// memray recordings of Python.
            Memray = "memray": memray::matches, Lines(memray::reader);
            /// JDK Flight Recorder recordings.
            Jfr = "jfr": jfr::matches, Chunks(jfr::read);
            /// CPU and heap profiles of gperftools, heap profiles of jemalloc, and Go's profiles as
            /// text.
            Gperftools = "gperftools": gperftools::matches, Whole(gperftools::read);
            /// pprof profiles in Protocol Buffers.
            Pprof = "pprof": pprof::matches, Passes(pprof::read);
            /// OpenTelemetry profiles in Protocol Buffers or JSON.
            Otlp = "otlp": otlp::matches, Passes(otlp::read);
            /// Perfetto traces in Protocol Buffers.
            Perfetto = "perfetto": perfetto::matches, Lines(perfetto::reader);
            /// Processed profiles of the Firefox Profiler, in JSON or JSON slabs.
            Firefox = "firefox": firefox::matches, Timed(firefox::read);
            /// speedscope's JSON.
            Speedscope = "speedscope": speedscope::matches, Timed(speedscope::read);
            /// V8 CPU profiles, `.cpuprofile`.
            CpuProfile = "cpuprofile": cpuprofile::matches, Timed(cpuprofile::read);
            /// V8 heap sampling profiles, `.heapprofile`.
            HeapProfile = "heapprofile": heapprofile::matches, Whole(heapprofile::read);
            /// V8 heap snapshots, `.heapsnapshot`.
            HeapSnapshot = "heapsnapshot": heap_snapshot::matches, Whole(heap_snapshot::read);
            /// V8 logs of `node --prof`.
            V8Log = "v8 log": raw::matches, Lines(report::<raw::V8Log>);
            /// V8 logs converted by `node --prof-process --preprocess`.
            V8LogJson = "v8 log json": preprocessed::matches, Timed(preprocessed::read);
            /// Hermes profiles.
            Hermes = "hermes": hermes::matches, Timed(hermes::read);
            /// pyinstrument's JSON.
            Pyinstrument = "pyinstrument": pyinstrument::matches, Timed(pyinstrument::read);
            /// Scalene's JSON.
            Scalene = "scalene": scalene::matches, Whole(scalene::read);
            /// stackprof reports, as a Ruby dump or in JSON.
            Stackprof = "stackprof": stackprof::matches, Whole(stackprof::read);
            /// Maps keyed by stack that bpftrace prints in JSON.
            BpftraceJson = "bpftrace json": bpftrace_json::matches, Lines(report::<BpftraceJson>);
            /// GHC profiles in JSON.
            GhcJson = "ghc json": ghc_json::matches, Whole(ghc_json::read);
            /// Call counts of XHProf, in JSON or serialized by PHP.
            Xhprof = "xhprof": xhprof::matches, Whole(xhprof::read);
            /// JSON of Valgrind's DHAT.
            Dhat = "dhat": dhat::matches, Whole(dhat::read);
            /// Perun profiles.
            Perun = "perun": perun::matches, Timed(perun::read);
            /// Chrome trace events.
            Chrome = "chrome": chrome::matches, Lines(chrome::reader);
            /// The Callgrind format, which KCachegrind reads.
            Callgrind = "callgrind": callgrind::matches, Lines(report::<Callgrind>);
            /// XML exported by Apple's `xctrace`.
            Xctrace = "xctrace": xctrace::matches, Timed(xctrace::read);
            /// Call trees exported by YourKit in CSV or XML.
            YourKit = "yourkit": yourkit::matches, Whole(yourkit::read);
            /// VTune's top-down tree in CSV.
            VTune = "vtune": vtune::matches, Lines(report::<VTune>);
            /// The call tree of Visual Studio's profiler in CSV.
            VisualStudio = "visual studio": visual_studio::matches, Lines(report::<VisualStudio>);
            /// GHC time and allocation profiles as text.
            Ghc = "ghc": ghc::matches, Lines(report::<Ghc>);
            /// Raw recordings of rbspy.
            Rbspy = "rbspy": rbspy::matches, Lines(report::<Rbspy>);
            /// Output of R's `Rprof`.
            Rprof = "rprof": rprof::matches, Lines(report::<Rprof>);
            /// Output of phpspy.
            Phpspy = "phpspy": phpspy::matches, Lines(report::<Phpspy>);
            /// Austin samples as text.
            AustinText = "austin text": austin::text::matches, Lines(report::<AustinText>);
            /// Output of gprof.
            Gprof = "gprof": gprof::matches, Lines(report::<Gprof>);
            /// Output of Valgrind's massif.
            Massif = "massif": massif::matches, Whole(massif::read);
            /// heaptrack recordings with symbols.
            Heaptrack = "heaptrack": heaptrack::matches, Lines(report::<Heaptrack>);
            /// Output of macOS's `sample`.
            Sample = "sample": sample::matches, Lines(report::<Sample>);
            /// Call trees copied from Apple's Instruments.
            Instruments = "instruments": instruments::matches, Lines(report::<Instruments>);
            /// Java thread dumps of `jstack` or `jcmd PID Thread.print`.
            Jstack = "jstack": java::matches, Whole(java::read);
            /// Go goroutine dumps.
            Goroutines = "goroutines": go::matches, Whole(go::read);
            /// Output of ftrace's `function_graph` tracer.
            Ftrace = "ftrace": ftrace::matches, Lines(ftrace::reader);
            /// Maps keyed by stack that bpftrace prints as text.
            Bpftrace = "bpftrace": bpftrace::matches, Lines(report::<Bpftrace>);
            /// Stacks printed by bcc's tools.
            Bcc = "bcc": bcc::matches, Lines(report::<Bcc>);
            /// Stacks of threads printed by gdb.
            Gdb = "gdb": gdb::matches, Lines(report::<Gdb>);
            /// Output of `perf script`.
            PerfScript = "perf script": perf_script::matches, Lines(perf_script::reader);
            /// Text traces that NonSequitur reads, one file per thread.
            NonSequitur = "nonsequitur": nonsequitur::matches, Lines(nonsequitur::reader);
            /// Aggregated stacks printed by DTrace.
            DTrace = "dtrace": dtrace::matches, Lines(report::<DTrace>);
            /// Folded stacks: lines `root;caller;leaf count`.
            Folded = "folded": folded::matches, Lines(report::<Folded>);
    } };
}
pub(crate) use each_format;

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $name:literal $(if $feature:tt)?: $matches:expr, $reader:expr;)*) => {
        /// A profile format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format,)*
            /// No file: a program made the recording with a [`RecordingBuilder`](super::RecordingBuilder). The name is
            /// stored with profiles; it should differ from those of all other formats.
            Own(&'static str),
        }

        /// Every format with its name and whether this program was built with its reader.
        const NAMES: &[(Format, &str, bool)] =
            &[$((Format::$format, $name, cfg!(all($(feature = $feature)?))),)*];

        impl Format {
            /// The name in output and stored profiles: `perf.data`, `perf script`, `folded`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Format::$format => $name,)*
                    Format::Own(name) => name,
                }
            }
        }
    };
}
each_format!(formats);

impl Format {
    /// All formats that this program was built to read, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Format> {
        let read = NAMES.iter().filter(|(.., is_read)| *is_read);
        read.map(|&(format, ..)| format)
    }

    /// The name as one word, as [`Format::from_str`](std::str::FromStr) takes it: `perf-script`.
    pub fn word(self) -> String {
        self.name().replace(' ', "-")
    }
}

/// The words of all formats, for messages.
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

/// The error for a word that names no format.
#[derive(Debug, thiserror::Error)]
#[error("expected one of {}", known())]
pub struct UnknownFormat;
