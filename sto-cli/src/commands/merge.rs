//! `sto merge`: the profiles of other stores into this one.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::progress::Progress;
use crate::runtime::store_path::StorePath;
use clap::Args;
use std::path::{Path, PathBuf};
use sto_core::store::Store;
use sto_query::answer::InStore;
use sto_query::maintain::{MergedStore, Merges};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto merge ../colleague/.sto                Take in the profiles of another store
  sto merge release.sto                      The same of a file that `sto export-store` wrote
  sto --store all merge ci-1 ci-2 ci-3       Make one store of several

Exit status: 0 success, 2 failure, or a profile was left out.";

/// Take in the profiles of other stores
///
/// Each profile goes in as a whole; those that are stored already stay as they are. A merge that was
/// interrupted is carried on by running it again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// Take in these stores: folders, or files that are stores
    #[arg(required = true, value_name = "OTHER")]
    others: Vec<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &MergeArgs, place: &StorePath) -> Result<Outcome, CliError> {
    // Every store is looked at before one is written to.
    let others = args.others.iter().map(|path| Store::open(path));
    let others: Vec<Store> = others.collect::<Result<_, _>>()?;
    let store = Store::open_or_create(&place.folder)?;
    let mut sources = Vec::new();
    let outcome = args
        .others
        .iter()
        .zip(&others)
        .try_for_each(|(path, other)| {
            sources.push(merge(&store, other, path)?);
            Ok(())
        });
    let report = InStore {
        store: place.folder.display().to_string(),
        answer: Merges { sources },
    };
    // What went in before a failure is in the store, and the user is told.
    let told = match report.answer.sources[..] {
        [] => Ok(()),
        _ => args.format.print(&report, render::merge::text),
    };
    outcome.and(told)?;
    match report.answer.left_out() {
        0 => Ok(Outcome::Clean),
        profiles => Err(CliError::LeftOut { profiles }),
    }
}

fn merge(store: &Store, other: &Store, path: &Path) -> Result<MergedStore, CliError> {
    let progress = Progress::of_store("merging", path);
    let mut added = 0;
    let merged = store.merge(other, &mut |merged| {
        added = merged.added.len();
        progress.merged(merged.done(), merged.profiles);
    });
    let merged = merged.map_err(|source| CliError::Merge { added, source })?;
    Ok(MergedStore {
        path: path.display().to_string(),
        merged,
    })
}
