//! `sto stats`: where the store's bytes are.

use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::render;

/// Show where the bytes of the store are, and how much it holds
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
