//! `sto waits`: where threads waited, and what ended it.

use crate::args::SelectArgs;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::{WaitsRequest, waits};
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto waits uftrace.data
  sto waits v1 --format json

Functions wait by their names: of locks and conditions, of system calls that read, write, poll or sleep. Of
several runs, the newest is taken.";

/// How many are listed in text, so that they fit a screen.
const LISTED: usize = 5;

/// Show in what functions the threads of a trace waited, and the calls during which that ended
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct WaitsArgs {
    #[command(flatten)]
    select: SelectArgs,

    /// List this many functions and waits; 0 lists all [default: 5 in text, all in JSON]
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &WaitsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = WaitsRequest::default();
    request.named = args.select.named();
    request.filter = args.select.filter();
    let limit = args.limit.or(args.format.is_text().then_some(LISTED));
    request.limit = limit.filter(|&limit| limit > 0);
    let waits = waits(&store.sources(), &request)?;
    args.format.print(&waits, render::calls::waits::text)?;
    Ok(Outcome::Clean)
}
