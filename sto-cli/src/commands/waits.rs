//! `sto waits`: shows where threads waited, and which calls ended the waits.

use crate::args::SelectArgs;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::WaitsRequest;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto waits uftrace.data
  sto waits v1 --format json

Waiting functions are recognized by their names: locks and conditions, and system calls that read, write, poll or sleep. If
there are several runs, the newest is used.";

/// Number of waits that text lists by default, to fit a screen.
const LISTED: usize = 5;

/// Show in which functions the threads of a trace waited, and the calls during which each wait ended
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
    let waits = store.ask(&request)?;
    args.format.print(&waits, render::calls::waits::text)?;
    Ok(Outcome::Clean)
}
