//! `sto export`: stacks in the formats of other tools.

use crate::args::select::SelectArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output;
use crate::runtime::store_path::StorePath;
use crate::runtime::ui;
use clap::{Args, ValueEnum};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use sto_query::questions::{ExportFormat, ExportRequest, export};
use sto_query::render;
use sto_query::render::drawing::DrawnFile;

const EXAMPLES: &str = "\
Examples:
  sto export v1 --format pprof -o v1.pb.gz   Then: go tool pprof -http=: v1.pb.gz
  sto export v1 --format speedscope -o v1.speedscope.json
  sto export v1 --format folded | flamegraph.pl > v1.svg";

/// Write stacks in the format of another tool
///
/// All events go along where the format has a place for more than one; `--event` takes one of them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    select: SelectArgs,

    /// Write this format
    #[arg(long, value_enum)]
    format: Format,

    /// Write this file, compressed where it is called `.gz`; `-` is standard output, and so is no file at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Folded stacks, `root;caller;leaf 42`: FlameGraph, inferno, speedscope; one event
    Folded,
    /// pprof's Protocol Buffers, compressed: `go tool pprof`, Pyroscope, Parca
    Pprof,
    /// JSON for speedscope
    Speedscope,
    /// JSON for the Firefox Profiler
    Firefox,
    /// Nested JSON for d3-flame-graph; one event
    D3,
    /// Functions and calls for KCachegrind and callgrind_annotate
    Callgrind,
    /// The call tree as a table, a row a node and event
    Csv,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> ExportFormat {
        match format {
            Format::Folded => ExportFormat::Folded,
            Format::Pprof => ExportFormat::Pprof,
            Format::Speedscope => ExportFormat::Speedscope,
            Format::Firefox => ExportFormat::Firefox,
            Format::D3 => ExportFormat::D3,
            Format::Callgrind => ExportFormat::Callgrind,
            Format::Csv => ExportFormat::Csv,
        }
    }
}

pub(crate) fn run(args: &ExportArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let file = args
        .output
        .as_deref()
        .filter(|&file| file != Path::new("-"));
    if args.format == Format::Pprof && args.output.is_none() && io::stdout().is_terminal() {
        return Err(CliError::BinaryOnTerminal);
    }
    let mut request = ExportRequest::default();
    request.named = args.select.named();
    request.filter = args.select.filter();
    request.format = args.format.into();
    request.compress = file.is_some_and(is_called_compressed);
    let exported = export(&store.sources(), &request)?;
    let Some(file) = file else {
        output::write_stdout(&exported.bytes)?;
        return Ok(Outcome::Clean);
    };
    output::write_file(file, &exported.bytes)?;
    let report = DrawnFile {
        file: file.display().to_string(),
        subjects: exported.subjects,
    };
    output::write_stdout(render::drawing::text(&report, ui::style()).as_bytes())?;
    Ok(Outcome::Clean)
}

fn is_called_compressed(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}
