//! `sto phases`: shows when the behaviour of a run changed.

use crate::args::SelectArgs;
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::PhasesRequest;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto phases perf.data
  sto phases v1 --format json
  sto top v1 --phase 2                       What costs most in the second phase

A recording that is named as a file is read by itself; a run in the store needs the time slices that
`sto ingest --slices 1000` keeps. If there are several runs, the newest is used.";

/// Show when the behaviour of a run changed, how it differs, and whether it repeats itself
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct PhasesArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &PhasesArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = PhasesRequest::default();
    request.named = args.select.named();
    request.filter = args.select.filter();
    request.limit = args.limit.for_format(&args.format);
    let phases = store.ask(&request)?;
    args.format.print(&phases, render::phases::text)?;
    Ok(Outcome::Clean)
}
