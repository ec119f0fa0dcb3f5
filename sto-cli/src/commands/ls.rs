//! `sto ls`: what the store holds.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use sto_core::store::Store;
use sto_query::{render, report};

/// List builds and profiles, what they hold, and what storing them saves
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &LsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let store = Store::open(&store.folder)?;
    let report = report::ls(&store.builds()?, Some(store.file_size()?));
    args.format.print(&report, render::ls::text)?;
    Ok(Outcome::Clean)
}
