//! `sto push`: sends profiles to a place that other stores reach.

use crate::args::TimeoutArg;
use crate::runtime::{CliError, FormatArg, Machine, Outcome, Progress, StorePath};
use clap::Args;
use std::ffi::OsString;
use std::path::Path;
use sto_query::questions::{PushRequest, push};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto push /srv/profiles                     Send profiles that the place lacks
  sto push ssh://build@host/srv/profiles v2  Send only runs of v2, by ssh
  sto push s3://bucket/profiles --dry-run    Show what would be sent
  sto push https://sto.example.com           Send to the store of a server, with the token in STO_TOKEN
  sto pull s3://bucket/profiles              Fetch them into the store of another machine

Exit status: 0 success, 2 wrong usage or failure, or a profile was left out.";

/// Send profiles to a place that other stores reach
///
/// A place is a folder, `ssh://[USER@]HOST[:PORT]/PATH` (`~/PATH` instead of `/PATH` is relative to the home folder),
/// `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`, or a server of `sto serve`, `https://HOST[:PORT]`,
/// whose token is in STO_TOKEN or in the file STO_TOKEN_FILE. Clouds take their credentials from the environment:
/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP; GOOGLE_SERVICE_ACCOUNT;
/// AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY; ...
///
/// Only missing profiles are sent, and existing ones are never changed, so any number of machines may push at once. If
/// something else has the name of a profile's file, the push lists it and fails: remove it, and push again. To resume an
/// interrupted push, run it again. Metrics are sent with their current values; tags are not sent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PushArgs {
    /// Send to this place
    #[arg(value_name = "DEST", value_hint = clap::ValueHint::AnyPath)]
    place: OsString,

    /// Send these builds or profiles: `[EXE@]BUILD` or ID [default: everything]
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,

    /// Show what would be sent, and send nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    #[command(flatten)]
    timeout: TimeoutArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &PushArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = PushRequest::default();
    request.selectors.clone_from(&args.selectors);
    request.dry_run = args.dry_run;
    let place = args.timeout.place(&args.place)?;
    let store = store_path.open()?;
    let progress = Progress::for_store("sending to", Path::new(&place.to_string()));
    let show = |done, profiles| progress.merged(done, profiles);
    let pushed = push(&store, &Machine::here(), &place, &request, &show);
    drop(progress);
    let pushed = pushed?;
    args.format.print(&pushed, render::exchange::push)?;
    match pushed.left_out.len() {
        0 => Ok(Outcome::Clean),
        profiles => Err(CliError::LeftOut { profiles }),
    }
}
