//! `sto annotate`: metrics of many runs at once.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use crate::runtime::text;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use sto_core::store::Store;
use sto_query::annotate::AnnotatedRuns;
use sto_query::annotate::metrics_of;
use sto_query::render;

/// Longest table of metrics, in bytes: a line each for a million runs.
const MAX_TABLE: u64 = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  sto annotate metrics.csv                   Give stored runs the metrics of a table
  bench-results --jsonl | sto annotate -     The same, of JSON lines from another program

A row is of one run. The columns `profile` (an id, as `sto runs` lists them), `build`,
`benchmark` and `label.KEY` say which, as many as it takes; every other column is a metric:

  benchmark,label.ci,seconds,requests
  serve,1841,2.31,10000
  serve,1842,2.28,10000

  {\"profile\": \"3f9a1c22\", \"seconds\": 2.31}

All of the file goes in, or nothing.";

/// Give metrics to runs that are stored already: a table of CSV or JSON lines
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AnnotateArgs {
    /// The table; `-` reads standard input
    file: PathBuf,

    /// Replace other values that the runs have
    #[arg(long, short)]
    force: bool,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &AnnotateArgs, place: &StorePath) -> Result<Outcome, CliError> {
    let text = read(&args.file).map_err(|source| CliError::ReadFile {
        path: args.file.clone(),
        source,
    })?;
    let store = Store::open(&place.folder)?;
    let chosen = store.annotate_chosen(|builds| metrics_of(&text, builds), args.force)?;
    let (given, annotated) = chosen.map_err(|source| CliError::Annotate {
        path: args.file.clone(),
        source,
    })?;
    if let (Some(first), false) = (annotated.different.first(), args.force) {
        return Err(CliError::OtherMetric {
            first: first.clone(),
            more: annotated.different.len() - 1,
        });
    }
    let report = AnnotatedRuns::of(&given, &annotated);
    args.format.print(&report, render::annotate::text)?;
    Ok(Outcome::Clean)
}

fn read(path: &Path) -> io::Result<String> {
    match path == Path::new("-") {
        true => text::read_stream(io::stdin().lock(), MAX_TABLE),
        false => text::read(path, MAX_TABLE),
    }
}
