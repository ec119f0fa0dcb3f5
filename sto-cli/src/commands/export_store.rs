//! `sto export-store`: chosen profiles into a file to hand on.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use std::collections::BTreeSet;
use std::path::PathBuf;
use sto_core::store::Store;
use sto_query::maintain::ExportedStore;
use sto_query::render;
use sto_query::select::select_from;

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

pub(crate) fn run(args: &ExportStoreArgs, place: &StorePath) -> Result<Outcome, CliError> {
    let store = Store::open_snapshot(&place.folder)?;
    let builds = store.builds()?;
    let mut profiles = BTreeSet::new();
    let sources = place.sources();
    for text in &args.selectors {
        let selector = sources.resolved(text.parse()?)?;
        let chosen = select_from(&builds, &selector)?.profiles;
        profiles.extend(chosen.iter().map(|stored| stored.id));
    }
    if args.selectors.is_empty() {
        profiles.extend(
            builds
                .iter()
                .flat_map(|b| &b.profiles)
                .map(|stored| stored.id),
        );
    }
    let size = store.export(&profiles, &args.output)?;
    let report = ExportedStore {
        path: args.output.display().to_string(),
        profiles: profiles.len(),
        bytes: size,
    };
    args.format.print(&report, render::rewrite::export_text)?;
    Ok(Outcome::Clean)
}
