//! `sto merge`: adds the profiles of other stores to this one.

use crate::runtime::{CliError, FormatArg, Outcome, Progress, StorePath};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{MergeRequest, merge};
use sto_query::render;
use sto_query::results::InStore;

const EXAMPLES: &str = "\
Examples:
  sto merge ../colleague/.sto                Add the profiles of another store
  sto merge release.sto                      Add the profiles in a file of `sto export-store`
  sto --store all merge ci-1 ci-2 ci-3       Combine several stores into one

Exit status: 0 success, 2 failure, or a profile was left out.";

/// Add the profiles of other stores to this one
///
/// Each profile is added completely or not at all; profiles that are already stored are left unchanged. To resume an
/// interrupted merge, run it again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// Read these stores: folders or files
    #[arg(required = true, value_name = "OTHER")]
    others: Vec<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &MergeArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = MergeRequest::default();
    request.others.clone_from(&args.others);
    let store = store_path.open_or_create()?;
    let mut progress = None;
    let merged = merge(&store, &request, &mut |path, merged| match merged {
        None => {
            progress.take();
            progress = Some(Progress::for_store("merging", path));
        }
        Some(merged) => {
            let progress = progress.iter();
            progress.for_each(|progress| progress.merged(merged.processed(), merged.profiles));
        }
    });
    drop(progress);
    let (merges, outcome) = match merged {
        Ok(merges) => (merges, Ok(())),
        Err(mut error) => (std::mem::take(&mut error.before), Err(error.into())),
    };
    let report = InStore {
        store: store_path.folder.display().to_string(),
        answer: merges,
    };
    // Report the stores that were merged before a failure.
    let shown = match report.answer.sources[..] {
        [] => Ok(()),
        _ => args.format.print(&report, render::merge::text),
    };
    outcome.and(shown)?;
    match report.answer.left_out() {
        0 => Ok(Outcome::Clean),
        profiles => Err(CliError::LeftOut { profiles }),
    }
}
