//! `sto verify`: checks the integrity of the store.

use crate::runtime::store_path::options;
use crate::runtime::{CliError, FormatArg, Outcome, Progress, StorePath};
use clap::Args;
use sto_core::store::Store;
use sto_query::render;
use sto_query::results::InStore;

/// Check everything in the store, and list all damage
///
/// Everything is read, hashed and counted again: checksums, references, counts, sums, and the store's
/// file itself. Nothing is written, so a store on read-only media can be verified, and others may
/// read it meanwhile.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &VerifyArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let progress = Progress::for_store("checking", &store.folder);
    let verification = Store::verify(&store.folder, options().on_wait, &mut |_| Ok(()))?;
    drop(progress);
    let report = InStore {
        store: store.folder.display().to_string(),
        answer: verification,
    };
    args.format.print(&report, render::verify::text)?;
    match report.answer.damages.len() {
        0 => Ok(Outcome::Clean),
        places => Err(CliError::DamagedStore {
            folder: store.folder.clone(),
            places,
        }),
    }
}
