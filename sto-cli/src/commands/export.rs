//! `sto export`: writes stacks in formats of other tools, or profiles as a dataset of Parquet files.

use crate::args::{FilterArgs, WindowArgs, choice, word};
use crate::runtime::destination::machine;
use crate::runtime::{CliError, Outcome, StorePath, output, ui};
use clap::Args;
use clap::builder::TypedValueParser;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use sto_query::questions::{ExportFormat, ExportRequest, LakeRequest, add_to_lake};
use sto_query::render;
use sto_query::render::drawing::DrawnFile;
use sto_query::sources::{BuildRef, Filter};

const EXAMPLES: &str = "\
Examples:
  sto export v1 --format pprof -o v1.pb.gz   Then: go tool pprof -http=: v1.pb.gz
  sto export v1 --format html -o v1.html
  sto export v1 --format speedscope -o v1.speedscope.json
  sto export v1 --format otlp -o v1.otlp     Then: curl -H content-type:application/x-protobuf --data-binary @v1.otlp \
HOST:4318/v1development/profiles
  sto export v1 --format folded | flamegraph.pl > v1.svg
  sto export calls.xray --format perfetto -o calls.pftrace
  sto export v1 --format perun --x n -o v1.perf
  sto export --format parquet -o lake
  sto export --format parquet -o s3://bucket/lake";

/// Write stacks in the format of another tool
///
/// All events are exported if the format has room for more than one; `--event` selects one.
///
/// For queries over the profiles of many machines, `--format parquet` adds them to a dataset: a folder that any number of
/// processes may write to at once. Profiles that are already in it are left unchanged.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Take the profiles of this build, profile or file: `[EXE@]BUILD`, ID or PATH; optional for parquet, which by default
    /// exports the whole store
    #[arg(required_if_eq_any = stack_formats())]
    selector: Option<OsString>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Write this format
    #[arg(long, value_parser = formats())]
    format: Format,

    /// Model cost by this variable for Perun, as in `sto model --x`
    #[arg(long, value_name = "NAME", required_if_eq("format", "perun"))]
    x: Option<String>,

    /// Write this file, compressed if its name ends in `.gz`; `-` is standard output, the default. For
    /// parquet, write to this folder, or to s3://, gs://, az:// or ssh://
    #[arg(short, long, value_name = "FILE", required_if_eq("format", "parquet"))]
    output: Option<PathBuf>,
}

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Parquet,
    #[serde(untagged)]
    Stacks(ExportFormat),
}

const PARQUET: &str = "parquet";

/// The formats and their help texts.
const FORMATS: [(&str, &str); 12] = [
    (
        "folded",
        "Folded stacks, `root;caller;leaf 42`: FlameGraph, inferno, speedscope; one event",
    ),
    (
        "pprof",
        "pprof's Protocol Buffers, compressed: `go tool pprof`, Pyroscope, Parca",
    ),
    (
        "otlp",
        "OpenTelemetry profiles, in Protocol Buffers: collectors and their back ends",
    ),
    (
        "html",
        "A self-contained page for browsers: a flame graph and a table of functions for each event",
    ),
    ("speedscope", "JSON for speedscope"),
    ("firefox", "JSON for the Firefox Profiler"),
    (
        "perfetto",
        "Calls of one run over time, in Protocol Buffers: ui.perfetto.dev, trace_processor",
    ),
    ("d3", "Nested JSON for d3-flame-graph; one event"),
    (
        "callgrind",
        "Functions and calls for KCachegrind and callgrind_annotate",
    ),
    (
        "csv",
        "The call tree as a table, one row per node and event",
    ),
    (
        "perun",
        "Cost of functions by --x, with the models that Perun knows (not n log n, cubic); one event",
    ),
    (
        PARQUET,
        "A dataset of Parquet files, one row per stack, run and event: DuckDB, Polars, Spark, ClickHouse; `sto sql \
        --examples` lists queries for it",
    ),
];

fn formats() -> impl TypedValueParser<Value = Format> {
    choice(FORMATS.map(|(name, help)| word(name, help)))
}

/// The formats that require a selector, as values of `--format`.
fn stack_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = FORMATS.into_iter().map(|(name, _)| name);
    names
        .filter(|&name| name != PARQUET)
        .map(|name| ("format", name))
}

pub(crate) fn run(args: &ExportArgs, store: &StorePath) -> Result<Outcome, CliError> {
    match args.format {
        Format::Parquet => run_lake(args, store),
        Format::Stacks(format) => run_stacks(args, format, store),
    }
}

fn run_stacks(
    args: &ExportArgs,
    format: ExportFormat,
    store: &StorePath,
) -> Result<Outcome, CliError> {
    let file = args
        .output
        .as_deref()
        .filter(|&file| file != Path::new("-"));
    let is_binary = matches!(
        format,
        ExportFormat::Pprof | ExportFormat::Otlp | ExportFormat::Perfetto
    );
    if is_binary && args.output.is_none() && io::stdout().is_terminal() {
        return Err(CliError::BinaryOnTerminal);
    }
    if args.x.is_some() && format != ExportFormat::Perun {
        return Err(CliError::XWithoutModels);
    }
    let mut request = ExportRequest::default();
    request.named = args
        .selector
        .as_ref()
        .map(BuildRef::from)
        .unwrap_or_default();
    request.filter = args.window.within(args.filter.filter());
    request.format = format;
    request.x = args.x.clone().unwrap_or_default();
    let exported = store.ask(&request)?;
    let compress = file.is_some_and(|file| output::ends_in(file, "gz"));
    let mut bytes = Vec::new();
    render::export::write(&exported, compress, &mut bytes)?;
    if let Some(lacks) = render::export::missing_models_warning(&exported) {
        ui::print_message("warning", &lacks);
    }
    let Some(file) = file else {
        output::write_stdout(&bytes)?;
        return Ok(Outcome::Clean);
    };
    output::write_file(file, &bytes)?;
    let report = DrawnFile {
        file: file.display().to_string(),
        subjects: exported.subjects,
        new_outliers: None,
    };
    output::write_stdout(render::drawing::text(&report, ui::style()).as_bytes())?;
    Ok(Outcome::Clean)
}

fn run_lake(args: &ExportArgs, store: &StorePath) -> Result<Outcome, CliError> {
    if args.window.within(args.filter.filter()) != Filter::default() || args.x.is_some() {
        return Err(CliError::PartOfDataset);
    }
    if args.output.as_deref() == Some(Path::new("-")) {
        return Err(CliError::DatasetToStdout);
    }
    let mut request = LakeRequest::default();
    request.named = args.selector.as_ref().map(BuildRef::from);
    request.place = args.output.clone().unwrap_or_default();
    let added = add_to_lake(&store.sources(), &request, &machine())?;
    let text = render::lake::text(&added);
    output::write_stdout(text.as_bytes())?;
    Ok(Outcome::Clean)
}
