//! `sto compact`: returns free space in the store to the disk.

use crate::runtime::{CliError, FormatArg, Outcome, Progress, StorePath};
use clap::Args;
use sto_query::render;

/// Rewrite the store without free space, in an order that does not depend on its history
///
/// Needs disk space for a second copy while it works. `sto prune` does the same with the profiles that it
/// keeps.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &CompactArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let store = store_path.open()?;
    let progress = Progress::for_store("compacting", &store_path.folder);
    let rewritten = store.compact()?;
    drop(progress);
    args.format.print(&rewritten, render::maintain::compact)?;
    Ok(Outcome::Clean)
}
