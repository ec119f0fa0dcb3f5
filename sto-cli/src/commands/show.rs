//! `sto show`: shows the provenance and quality of a profile.

use crate::runtime::{CliError, FormatArg, Outcome, StorePath, hints};
use clap::Args;
use std::ffi::OsString;
use sto_query::questions::ShowRequest;
use sto_query::render;

/// Show where profiles come from, and how much of their stacks can be trusted
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show this profile, file, or every profile of this build: ID, PATH or `[EXE@]BUILD`
    selector: OsString,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ShowArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = ShowRequest::default();
    request.named = (&args.selector).into();
    let mut shown = store.ask(&request)?;
    let modules = shown.profiles.iter_mut();
    for module in modules.flat_map(|profile| &mut profile.unresolved) {
        module.advice = hints::with_stored_hint(&module.advice, module.hint);
    }
    args.format.print(&shown, render::show::text)?;
    Ok(Outcome::Clean)
}
