//! `sto export`: stacks in the formats of other tools.

use crate::args::select::SelectArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output;
use crate::runtime::store_path::StorePath;
use crate::runtime::ui;
use clap::{Args, ValueEnum};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use sto_query::render;
use sto_query::render::export::{self, ExportError};
use sto_query::sources::EVENT;
use sto_query::tree::{ContextCosts, View};

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

impl Format {
    fn has_one_event(self) -> bool {
        matches!(self, Format::Folded | Format::D3)
    }

    fn render(
        self,
        view: &View,
        contexts: Option<&ContextCosts>,
        out: impl Write,
    ) -> Result<(), ExportError> {
        match self {
            Format::Folded => export::folded(view, EVENT, out),
            Format::Pprof => export::pprof(view, contexts, out),
            Format::Speedscope => export::speedscope(view, out),
            Format::Firefox => export::firefox(view, out),
            Format::D3 => export::d3(view, EVENT, out),
            Format::Callgrind => export::callgrind(view, out),
            Format::Csv => export::csv(view, out),
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
    let (named, filter) = (args.select.named(), args.select.filter());
    let sources = store.sources();
    let (view, contexts) = match args.format {
        Format::Pprof => sources.view_with_contexts(&named, &filter)?,
        _ => (sources.view(&named, &filter)?, None),
    };
    drop(sources);
    let mut bytes = Vec::new();
    // pprof is compressed whatever it is called.
    if args.format != Format::Pprof && file.is_some_and(is_called_compressed) {
        let mut gzip = GzEncoder::new(&mut bytes, Compression::default());
        args.format.render(&view, contexts.as_ref(), &mut gzip)?;
        gzip.finish().map_err(ExportError::Io)?;
    } else {
        args.format.render(&view, contexts.as_ref(), &mut bytes)?;
    }
    let Some(file) = file else {
        output::write_stdout(&bytes)?;
        return Ok(Outcome::Clean);
    };
    output::write_file(file, &bytes)?;
    let events = match args.format.has_one_event() {
        true => 1,
        false => view.sample_types.len(),
    };
    let views: Vec<_> = (0..events).map(|event| (&view, event)).collect();
    let report = sto_query::render::drawing::drawing(file.display().to_string(), &views);
    output::write_stdout(render::drawing::text(&report, ui::style()).as_bytes())?;
    Ok(Outcome::Clean)
}

fn is_called_compressed(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}
