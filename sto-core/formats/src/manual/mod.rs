//! Rules, formulas and formats, one document for each subject.

/// Makes a module of each document. The definitions of links come first, so that they take precedence over those in the
/// document, which lead to files.
macro_rules! documents {
    ($($name:ident = $path:literal,)*) => {
        $(
            #[doc = concat!(include_str!("links.md"), "\n", include_str!($path))]
            pub mod $name {}
        )*
    };
}

documents! {
    austin = "../austin/austin.md",
    callgrind = "../callgrind/callgrind.md",
    folded = "../folded.md",
    formats = "../formats.md",
    ftrace = "../ftrace/ftrace.md",
    gperftools = "../gperftools/gperftools.md",
    jfr = "../jfr/jfr.md",
    json = "../json/json.md",
    memray = "../memray/memray.md",
    otlp = "../otlp/otlp.md",
    perf_data = "../perf_data/perf_data.md",
    perf_script = "../perf_script/perf_script.md",
    perfetto = "../perfetto/perfetto.md",
    pprof = "../pprof/pprof.md",
    reports = "../reports.md",
    trace = "../metric_trace/trace.md",
    uftrace = "../uftrace/uftrace.md",
    xray = "../xray/xray.md",
}
