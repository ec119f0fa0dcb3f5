//! `sto symbolize`: finds names of functions after a profile was stored.

use crate::args::SymbolArgs;
use crate::runtime::{
    CliError, FormatArg, Machine, Outcome, Progress, StorePath, environment, hints,
};
use clap::Args;
use std::path::Path;
use sto_core::ingest::SymbolOptions;
use sto_query::questions::{SymbolizeRequest, symbolize};
use sto_query::render;
use sto_query::results::InStore;

const EXAMPLES: &str = "\
Examples:
  sto symbolize                              Look for missing names of all profiles
  sto symbolize v1 --symbol-dir build/       Debug files of v1 are in this folder
  sto symbolize 3f9a1c22 --debuginfod https://debuginfod.debian.net

If files were missing or stripped when a recording was ingested, its profile has addresses instead of
functions: [server+0x1a2b]. The addresses are stored. Once debug files with the same build ids are available, this
command stores the profile again with names. The new profile replaces the old one:
commands use only the new one, and `sto show` names the one that it replaces.";

/// Find names for functions that had none when their profiles were stored
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SymbolizeArgs {
    /// Look only at these builds or profiles: `[EXE@]BUILD` or ID
    #[arg(value_name = "SELECTOR")]
    only: Vec<String>,

    #[command(flatten)]
    symbols: SymbolArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &SymbolizeArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = SymbolizeRequest::default();
    request.selectors.clone_from(&args.only);
    request.symbols = SymbolOptions {
        debuginfod: args.symbols.debuginfod()?,
        ..environment::symbol_options(&args.symbols.files, Path::new(""))
    };
    let store = store_path.open()?;
    let progress = Progress::for_store("symbolizing", &store_path.folder);
    let symbolized = symbolize(&store, &Machine::here(), &request, &hints::notice_text)?;
    drop(progress);
    let report = InStore {
        store: store_path.folder.display().to_string(),
        answer: symbolized,
    };
    args.format.print(&report, render::symbolize::text)?;
    Ok(Outcome::Clean)
}
