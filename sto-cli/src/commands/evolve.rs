//! `sto evolve`: shows the call tree over the builds of a program.

use crate::args::{HistoryArgs, Percent};
use crate::runtime::output::write_file;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{EvolveRequest, Prune};
use sto_query::render;

/// Show how the whole call tree changed over the builds of a program
///
/// Each stack has its mean cost of a run in the first and in the last build, and a bar for each build. Inlined code counts
/// with the function that it was inlined into. With --output, a page draws the tree as boxes whose lines show the cost in
/// each build.
#[derive(Debug, Args)]
pub(crate) struct EvolveArgs {
    #[command(flatten)]
    history: HistoryArgs,

    /// Leave out stacks with less than this share in every build
    #[arg(long, value_name = "PERCENT", value_parser = Percent::part)]
    #[arg(default_value_t = Percent::from_share(Prune::default().min_share))]
    min_share: Percent,

    /// Show at most this many levels
    #[arg(long, value_name = "LEVELS", default_value_t = Prune::default().max_depth)]
    depth: usize,

    /// Write a page for the browser into this file instead
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &EvolveArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = EvolveRequest::default();
    request.history = args.history.query()?;
    request.prune.min_share = args.min_share.share();
    request.prune.max_depth = args.depth;
    let evolution = store_path.ask(&request)?;
    match &args.output {
        Some(path) => write_file(path, render::evolution::html(&evolution).as_bytes())?,
        None => args.format.print(&evolution, render::evolution::text)?,
    }
    Ok(Outcome::Clean)
}
