//! `sto show`: what is known of a profile, beside its stacks.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use std::ffi::OsString;
use sto_query::render;
use sto_query::sources::Named;

/// Show where profiles are from, and how much of their stacks can be trusted
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show this profile, file, or every profile of this build: ID, PATH or `[EXE@]BUILD`
    selector: OsString,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ShowArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let sources = store.sources();
    let (view, store) = sources.runs_with_contexts(&Named::from(&args.selector))?;
    let report = sto_query::show::show(&view, &store)?;
    // Nobody who writes waits for the pager.
    drop((store, sources));
    args.format.print(&report, render::show::text)?;
    Ok(Outcome::Clean)
}
