//! `sto runs`: the runs of a store, one after another.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use sto_core::store::Store;
use sto_query::{render, report};

/// List runs in the order in which they were recorded
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// List runs of this program only
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    /// List runs of this benchmark only
    #[arg(long, value_name = "NAME")]
    benchmark: Option<String>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &RunsArgs, place: &StorePath) -> Result<Outcome, CliError> {
    let builds = Store::open(&place.folder)?.builds()?;
    let report = report::runs(&builds, args.exe.as_deref(), args.benchmark.as_deref());
    args.format.print(&report, render::runs::text)?;
    Ok(Outcome::Clean)
}
