//! `sto export`: stacks in the formats of other tools.

use crate::args::{SelectArgs, WindowArgs, choice, word};
use crate::runtime::{CliError, Outcome, StorePath, output, ui};
use clap::Args;
use clap::builder::TypedValueParser;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use sto_query::questions::{ExportFormat, ExportRequest, export};
use sto_query::render;
use sto_query::render::drawing::DrawnFile;

const EXAMPLES: &str = "\
Examples:
  sto export v1 --format pprof -o v1.pb.gz   Then: go tool pprof -http=: v1.pb.gz
  sto export v1 --format speedscope -o v1.speedscope.json
  sto export v1 --format folded | flamegraph.pl > v1.svg
  sto export v1 --format perun --x n -o v1.perf";

/// Write stacks in the format of another tool
///
/// All events go along where the format has room for more than one; `--event` takes one of them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Write this format
    #[arg(long, value_parser = formats())]
    format: ExportFormat,

    /// Model cost by this for Perun: what `sto model --x` takes
    #[arg(long, value_name = "NAME", required_if_eq("format", "perun"))]
    x: Option<String>,

    /// Write this file, compressed where it is called `.gz`; `-` is standard output, and so is no file at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn formats() -> impl TypedValueParser<Value = ExportFormat> {
    choice([
        word(
            "folded",
            "Folded stacks, `root;caller;leaf 42`: FlameGraph, inferno, speedscope; one event",
        ),
        word(
            "pprof",
            "pprof's Protocol Buffers, compressed: `go tool pprof`, Pyroscope, Parca",
        ),
        word("speedscope", "JSON for speedscope"),
        word("firefox", "JSON for the Firefox Profiler"),
        word("d3", "Nested JSON for d3-flame-graph; one event"),
        word(
            "callgrind",
            "Functions and calls for KCachegrind and callgrind_annotate",
        ),
        word("csv", "The call tree as a table, a row a node and event"),
        word(
            "perun",
            "What functions cost by --x, with the models that Perun knows (not n log n, cubic); one event",
        ),
    ])
}

pub(crate) fn run(args: &ExportArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let file = args
        .output
        .as_deref()
        .filter(|&file| file != Path::new("-"));
    if args.format == ExportFormat::Pprof && args.output.is_none() && io::stdout().is_terminal() {
        return Err(CliError::BinaryOnTerminal);
    }
    if args.x.is_some() && args.format != ExportFormat::Perun {
        return Err(CliError::XWithoutModels);
    }
    let mut request = ExportRequest::default();
    request.named = args.select.named();
    request.filter = args.window.within(args.select.filter());
    request.format = args.format;
    request.x = args.x.clone().unwrap_or_default();
    if let Some(file) = file {
        request.for_file(file);
    }
    let exported = export(&store.sources(), &request)?;
    if let Some(lacks) = &exported.lacks {
        ui::say("warning", lacks);
    }
    let Some(file) = file else {
        output::write_stdout(&exported.bytes)?;
        return Ok(Outcome::Clean);
    };
    output::write_file(file, &exported.bytes)?;
    let report = DrawnFile {
        file: file.display().to_string(),
        subjects: exported.subjects,
        new_outliers: None,
    };
    output::write_stdout(render::drawing::text(&report, ui::style()).as_bytes())?;
    Ok(Outcome::Clean)
}
