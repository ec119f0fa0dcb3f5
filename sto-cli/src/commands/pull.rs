//! `sto pull`: fetches profiles from a place that other stores reach.

use crate::args::TimeoutArg;
use crate::runtime::{CliError, FormatArg, Outcome, Progress, StorePath};
use clap::Args;
use std::ffi::OsString;
use std::path::Path;
use sto_query::questions::{PullRequest, pull};
use sto_query::render;
use sto_query::results::InStore;

const EXAMPLES: &str = "\
Examples:
  sto pull /srv/profiles                     Fetch profiles that this store lacks
  sto pull ssh://build@host/srv/profiles     Fetch them by ssh
  sto pull s3://bucket/profiles --dry-run    Show what would be fetched
  sto pull https://sto.example.com           Fetch them from the store of a server

Exit status: 0 success, 2 failure, or a profile was left out.";

/// Fetch the profiles that `sto push` sent to a place
///
/// Each profile is checked to be unchanged since it was sent, and is added completely or not at all; profiles that are
/// already stored are left unchanged. To resume an interrupted pull, run it again. `sto push --help` lists the places.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PullArgs {
    /// Fetch from this place
    #[arg(value_name = "SRC", value_hint = clap::ValueHint::AnyPath)]
    place: OsString,

    /// Show what would be fetched, and fetch nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    #[command(flatten)]
    timeout: TimeoutArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &PullArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = PullRequest::default();
    request.dry_run = args.dry_run;
    let place = args.timeout.place(&args.place)?;
    let store = store_path.open_or_create()?;
    let progress = Progress::for_store("taking from", Path::new(&place.to_string()));
    let show = |done, profiles| progress.merged(done, profiles);
    let pulled = pull(&store, &place, &request, &show);
    drop(progress);
    let report = InStore {
        store: store_path.folder.display().to_string(),
        answer: pulled?,
    };
    args.format.print(&report, |report, style| {
        render::exchange::pull(&report.answer, style)
    })?;
    match report.answer.merged.profiles_left_out() {
        0 => Ok(Outcome::Clean),
        profiles => Err(CliError::LeftOut { profiles }),
    }
}
