//! `sto align`: matches the times of two runs of the same work.

use crate::args::FilterArgs;
use crate::args::drawing::Drawn;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use sto_query::questions::{AlignRequest, MAX_ALIGNED};
use sto_query::render;
use sto_query::sources::BuildRef;

const EXAMPLES: &str = "\
Examples:
  sto align v1 v2 --metric requests               By a metric that both runs have
  sto align a.perf.data b.perf.data --metric self:parse
                                                  By the cost of a function
  sto align v1 v2 -o align.html                   As a page

`sto correlate --align METRIC` ranks metrics of runs that are aligned this way.";

/// Show which times of two runs of the same work correspond
///
/// Dynamic time warping finds the path through both runs along which a metric differs least. Warns if the
/// path is unreliable, because the metric is nearly constant or repeats itself.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AlignArgs {
    /// Keep the time of this run (of a build, the newest run): `[EXE@]BUILD`, ID or PATH
    run: OsString,

    /// Align this run with it
    other: OsString,

    /// Align by this metric, by name or as NAME = EXPRESSION [default: the rate of the event]
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,

    /// Cut the time of each run into at most this many slices
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(2..=MAX_ALIGNED as i64))]
    slices: Option<u16>,

    #[command(flatten)]
    filter: FilterArgs,

    /// Write a page for browsers to this file, with the metric in both runs and the path; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &AlignArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = AlignRequest::default();
    request.named = [&args.run, &args.other].map(BuildRef::from);
    request.filter = args.filter.filter();
    request.metric.clone_from(&args.metric);
    request.slices = args.slices.map(usize::from);
    let alignment = store.ask(&request)?;
    match &args.output {
        Some(output) => {
            let drawn = Drawn {
                drawing: render::align::html(&alignment),
                subjects: alignment.runs.map(|run| run.subject).into(),
                new_outliers: None,
            };
            drawn.write(Some(output), &args.format)?;
        }
        None => args.format.print(&alignment, render::align::text)?,
    }
    Ok(Outcome::Clean)
}
