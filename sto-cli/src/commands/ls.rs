//! `sto ls`: lists the builds and profiles in the store.

use crate::args::ListingArgs;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::BuildsRequest;
use sto_query::render;

/// List builds and profiles with their contents, and the space that the store saves
///
/// The most recently recorded build, `@newest`, comes first.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    listing: ListingArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &LsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let builds = store.ask(&BuildsRequest(args.listing.listing()))?;
    args.format.print(&builds, render::ls::text)?;
    Ok(Outcome::Clean)
}
