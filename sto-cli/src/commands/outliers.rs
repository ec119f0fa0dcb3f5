//! `sto outliers`: lists calls that took unusually long.

use crate::args::SelectArgs;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::OutliersRequest;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto outliers uftrace.data
  sto outliers v1 -n 0 --format json         Every outlier, with everything that threads did meanwhile

A call is an outlier if it took far longer than nine in ten calls of its function by the same callers. If there are several
runs, the newest is used.";

/// Number of outliers that text lists by default, to fit a screen.
const LISTED: usize = 5;

/// List the calls of a trace that took unusually long, with the activities of other threads
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct OutliersArgs {
    #[command(flatten)]
    select: SelectArgs,

    /// List the outliers of this many stacks; 0 lists all [default: 5 in text, all in JSON]
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &OutliersArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = OutliersRequest::default();
    request.named = args.select.named();
    request.filter = args.select.filter();
    let limit = args.limit.or(args.format.is_text().then_some(LISTED));
    request.limit = limit.filter(|&limit| limit > 0);
    let outliers = store.ask(&request)?;
    args.format
        .print(&outliers, render::calls::outliers::text)?;
    Ok(Outcome::Clean)
}
