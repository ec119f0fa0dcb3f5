//! `sto import-parquet`: adds profiles of a dataset of Parquet files to the store.

use crate::runtime::destination::machine;
use crate::runtime::{CliError, FormatArg, Machine, Outcome, Progress, StorePath};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{ImportLakeRequest, import_lake};
use sto_query::render;
use sto_query::results::InStore;

const EXAMPLES: &str = "\
Examples:
  sto import-parquet lake                    Add every profile of the dataset
  sto import-parquet lake v1 v2              Add only these builds

Exit status: 0 success, 2 failure, or a profile was left out.";

/// Add profiles of a dataset that `sto export --format parquet` wrote
///
/// Profiles are identical to those in the store that they come from, to the byte; tags are not part of a dataset. Profiles
/// that are already stored are left unchanged. To resume an interrupted import, run it again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ImportParquetArgs {
    /// Read this dataset: a folder, or s3://, gs://, az:// or ssh://
    dataset: PathBuf,

    /// Add these builds or profiles: `[EXE@]BUILD` or ID [default: everything]
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ImportParquetArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = ImportLakeRequest::default();
    request.place.clone_from(&args.dataset);
    request.selectors.clone_from(&args.selectors);
    let store = store_path.open_or_create()?;
    let progress = Progress::for_store("importing", &args.dataset);
    let merges = import_lake(
        &store,
        &Machine::here(),
        &request,
        &machine(),
        &mut |merged| {
            progress.merged(merged.processed(), merged.profiles);
        },
    );
    drop(progress);
    let report = InStore {
        store: store_path.folder.display().to_string(),
        answer: merges?,
    };
    args.format.print(&report, render::merge::text)?;
    match report.answer.left_out() {
        0 => Ok(Outcome::Clean),
        profiles => Err(CliError::LeftOut { profiles }),
    }
}
