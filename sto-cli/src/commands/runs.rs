//! `sto runs`: lists the runs in a store.

use crate::args::ListingArgs;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::RunsRequest;
use sto_query::render;

/// List runs, the most recently recorded first
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    listing: ListingArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &RunsArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let runs = store_path.ask(&RunsRequest(args.listing.listing()))?;
    args.format.print(&runs, render::runs::text)?;
    Ok(Outcome::Clean)
}
