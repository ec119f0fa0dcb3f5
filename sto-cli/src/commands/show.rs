//! `sto show`: what is known of a profile, beside its stacks.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::sources::Sources;
use crate::runtime::store_path::StorePath;
use clap::Args;
use std::ffi::OsString;
use sto_query::render;
use sto_query::tree::View;

/// Show where profiles are from, and how much of their stacks can be trusted
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show this profile, file, or every profile of this build: ID, PATH or `[EXE@]BUILD`
    selector: OsString,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ShowArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let sources = Sources::new(store)?;
    let located = sources.located_with_contexts(&args.selector)?;
    let store = sources.store_of(&located);
    let view = View::load(store, located.selection.clone())?;
    let report = sto_query::show::show(&view, store)?;
    // Nobody who writes waits for the pager.
    drop((located, sources));
    args.format.print(&report, render::show::text)?;
    Ok(Outcome::Clean)
}
