//! `sto blame`: shows a source file with the cost of each line.

use crate::args::{HotArgs, PolicyArg};
use crate::runtime::source_choices::chosen;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::questions::BlameRequest;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto blame src/parse.c
  sto blame src/parse.c --build v2 --since v1
  sto blame src/parse.c --since HEAD~5

Costs are shown in the current file: they follow edits since the build's commit, and an edited line has no cost. \
The cost of a whole function is shown above its first line.

With --since, functions are tested as by `sto find-regressions`: only significant changes are marked, with \
the growth of the function's total. The column `was` has each line's earlier total, if the line is unchanged; it is not \
tested.

Exit status: 0 success, 2 wrong usage or failure, 3 nothing in the file has a cost.";

/// Show a source file with what each line costs
///
/// Self is the cost of the line by itself; total includes the functions that it calls and code that was inlined there.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct BlameArgs {
    /// Show this source file
    #[arg(value_name = "FILE")]
    path: PathBuf,

    #[command(flatten)]
    hot: HotArgs,

    /// Show what changed since this build or git revision: `[EXE@]BUILD`, a tag, ID, PATH or REVISION
    #[arg(long = "since", value_name = "BUILD|REV")]
    baseline: Option<OsString>,

    #[command(flatten)]
    policy: PolicyArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &BlameArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = BlameRequest::default();
    request.of = args.hot.request();
    request.path.clone_from(&args.path);
    request.chosen = chosen(store);
    if let Some(baseline) = &args.baseline {
        request.since = Some(match baseline.to_str() {
            Some(name) => Baseline::OfCandidate(name.to_owned()),
            None => Baseline::Any(baseline.into()),
        });
        let mut check = CheckRequest::default();
        args.policy.ask(&mut check)?;
        request.policy = check.policy;
    }
    let blame = store.ask(&request)?;
    args.format.print(&blame, render::blame::text)?;
    Ok(if blame.files.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    })
}
