//! `sto annotate`: adds metrics to stored runs.

use crate::runtime::{CliError, FormatArg, Machine, Outcome, StorePath, text};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{AnnotateRequest, annotate};
use sto_query::{QueryError, render};

/// Size limit of a table of metrics, in bytes: one line for each of a million runs.
const MAX_TABLE: u64 = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  sto annotate metrics.csv                   Add the metrics in a table to stored runs
  bench-results --jsonl | sto annotate -     Add metrics in JSON lines from another program

Each row describes one run. The columns `profile` (an id, as `sto runs` lists them), `build`,
`benchmark` and `label.KEY` select it; use as many as needed. Every other column is a metric:

  benchmark,label.ci,seconds,requests
  serve,1841,2.31,10000
  serve,1842,2.28,10000

  {\"profile\": \"3f9a1c22\", \"seconds\": 2.31}

The whole file is applied, or none of it.";

/// Add metrics to stored runs, from a table of CSV or JSON lines
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AnnotateArgs {
    /// The table; `-` reads standard input
    file: PathBuf,

    /// Replace values that the runs already have
    #[arg(long, short)]
    force: bool,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &AnnotateArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let path = || args.file.clone();
    let mut request = AnnotateRequest::default();
    request.table =
        text::read_or_stdin(&args.file, MAX_TABLE).map_err(|source| CliError::ReadFile {
            path: path(),
            source,
        })?;
    request.may_replace = args.force;
    let annotated = annotate(&store_path.open()?, &Machine::here(), &request);
    let annotated = annotated.map_err(|error| match error {
        QueryError::Annotate(source) => CliError::Annotate {
            path: path(),
            source,
        },
        error => error.into(),
    })?;
    args.format.print(&annotated, render::maintain::annotate)?;
    Ok(Outcome::Clean)
}
