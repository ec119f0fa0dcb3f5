//! `sto tree`: shows the call tree in the terminal.

use crate::args::{Percent, SelectArgs, WindowArgs};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::{Prune, TreeRequest};
use sto_query::render;

/// Show the call tree, pruned to the expensive stacks
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Leave out stacks with less than this share of all samples
    #[arg(long, value_name = "PERCENT", value_parser = Percent::part)]
    #[arg(default_value_t = Percent::from_share(Prune::default().min_share))]
    min_share: Percent,

    /// Show at most this many levels
    #[arg(long, value_name = "LEVELS", default_value_t = Prune::default().max_depth)]
    depth: usize,

    /// Show every call of a chain, not only where it begins, branches or costs something
    #[arg(long)]
    unfold: bool,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &TreeArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = TreeRequest::default();
    request.named = args.select.named();
    request.filter = args.window.within(args.select.filter());
    request.prune.min_share = args.min_share.share();
    request.prune.max_depth = args.depth;
    request.unfold = args.unfold;
    let tree = store.ask(&request)?;
    args.format.print(&tree, render::tree::text)?;
    Ok(Outcome::Clean)
}
