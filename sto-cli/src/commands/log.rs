//! `sto log`: shows the commits of a repository with their measurements.

use crate::args::{BenchmarkArg, EventArg};
use crate::commands::find_regressions::JudgementArgs;
use crate::runtime::git::{Repository, Shown};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::{Path, PathBuf};
use sto_query::questions::LogRequest;
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto log                                    Show the commits up to HEAD
  sto log --commits v1.2..HEAD -n 20         Show the newest 20 of a range
  sto log src/parser                         Show the commits that changed a folder

A commit is compared with the nearest measured commits before it, as by `sto find-regressions`; a merge got \
worse if it is worse than each of them. `-` means that the commit has no runs, `first` that no commit before it \
was measured.";

/// Show the history of a repository, with runs, cost and verdict of each commit
///
/// Draws the commit graph as `git log --graph` does. The cost is the average per run; the change is
/// relative to the nearest measured commit before it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogArgs {
    /// Show only commits that changed this file or folder; the top of a work tree shows all commits
    path: Option<PathBuf>,

    /// Show the commits of this range, or those up to this revision
    #[arg(long, value_name = "RANGE", default_value = "HEAD", value_parser = NonEmptyStringValueParser::new())]
    commits: String,

    /// Show at most this many commits, the newest; 0 shows all
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,

    /// Show runs of this program; required if several programs were measured
    #[arg(long, value_name = "NAME")]
    exe: Option<String>,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    event: EventArg,

    #[command(flatten)]
    judgement: JudgementArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &LogArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let (repository, path) = found(args.path.as_deref())?;
    let shown = Shown {
        commits: &args.commits,
        path: path.as_deref(),
        limit: args.limit.filter(|&limit| limit > 0),
    };
    let mut request = LogRequest::default();
    request.shown = repository.log(&shown)?;
    request.ancestry = repository.ancestry(&args.commits)?;
    args.judgement.ask(&mut request.check)?;
    let history = &mut request.history;
    history.executable.clone_from(&args.exe);
    history.benchmarks.clone_from(&args.benchmark.benchmarks);
    history.event.clone_from(&args.event.event);
    history.matching = request.check.matching;
    let log = store_path.ask(&request)?;
    args.format.print(&log, render::log::text)?;
    Ok(Outcome::Clean)
}

/// The repository that contains a path, and the path within it, or `None` for the whole repository.
fn found(path: Option<&Path>) -> Result<(Repository, Option<PathBuf>), CliError> {
    let Some(path) = path else {
        return Ok((Repository::here()?, None));
    };
    if path.is_dir() {
        let repository = Repository::containing(path)?;
        let name = (!repository.is_top()).then(|| PathBuf::from("."));
        return Ok((repository, name));
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.is_dir() => {
            Ok((Repository::containing(folder)?, Some(name.into())))
        }
        // The path may have existed in an earlier commit.
        _ => Ok((Repository::here()?, Some(path.to_owned()))),
    }
}
