//! `sto stats`: shows how much space each part of the store takes.

use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::render;

/// Show how much space and how many entries each part of the store has
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &StatsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let stats = store.open()?.stats()?;
    args.format.print(&stats, render::stats::text)?;
    Ok(Outcome::Clean)
}
