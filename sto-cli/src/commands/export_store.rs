//! `sto export-store`: chosen profiles into a file to hand on.

use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{ExportStoreRequest, export_store};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto export-store v1 v2 -o release.sto      Write all runs of v1 and v2 into one file
  sto merge release.sto                      Take them into another store";

/// Write chosen profiles into one file, which `sto merge` takes into another store
///
/// The same profiles become the same bytes, whatever store they come from.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportStoreArgs {
    /// Take these builds or profiles: `[EXE@]BUILD` or ID; without any, everything
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,

    /// Write this file, which must not exist
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ExportStoreArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = ExportStoreRequest::default();
    request.selectors.clone_from(&args.selectors);
    request.file.clone_from(&args.output);
    let exported = export_store(&store_path.sources(), &request)?;
    args.format
        .print(&exported, render::maintain::export_store)?;
    Ok(Outcome::Clean)
}
