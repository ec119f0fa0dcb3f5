//! `sto where`: finds the runs in which a function exceeds a share.

use crate::args::Percent;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::OccurrencesRequest;
use sto_query::render;

/// Find the runs in which a function takes more than a given share
///
/// Looks at every run of every build, program and benchmark in the store.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 success, 2 wrong usage or failure, 3 there is no such run.")]
pub(crate) struct WhereArgs {
    /// Find this function: its name, part of it, or `re:` and a regular expression
    function: String,

    /// Show runs in which it takes more than this percentage of all samples
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = Percent::part)]
    over: Percent,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &WhereArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = OccurrencesRequest::default();
    request.function.clone_from(&args.function);
    request.over = args.over.share();
    let found = store_path.ask(&request)?;
    args.format.print(&found, render::occurrences::text)?;
    Ok(if found.runs.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    })
}
