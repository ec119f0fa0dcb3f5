//! `sto log`: the history of a repository with what was measured of it.

use crate::args::{BenchmarkArg, EventArg};
use crate::commands::find_regressions::JudgementArgs;
use crate::runtime::git::{Repository, Shown};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath, now};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::{Path, PathBuf};
use sto_query::questions::{LogRequest, log};
use sto_query::render;
use sto_query::text::Date;

const EXAMPLES: &str = "\
Examples:
  sto log                                    Show the commits up to HEAD
  sto log --commits v1.2..HEAD -n 20         Show the newest 20 of a range
  sto log src/parser                         Show those that changed a folder

A commit is judged as `sto find-regressions` does, by the nearest commits before it that were measured; a merge got \
worse where it is worse than each of them. `-` stands where no run is of the commit, `first` where nothing before it \
was measured.";

/// Show the history of a repository, with runs, cost and verdict of each commit
///
/// Draws how commits follow one another as `git log --graph` does. The cost is that of a run on average; the change is that
/// since the nearest commit before it that was measured.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogArgs {
    /// Show only commits that changed this file or folder; of a folder that is the top of a work tree all
    path: Option<PathBuf>,

    /// Show the commits of this range, or those up to this revision
    #[arg(long, value_name = "RANGE", default_value = "HEAD", value_parser = NonEmptyStringValueParser::new())]
    commits: String,

    /// Show this many commits at most, of the newest; 0 shows all
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,

    /// Show runs of this program; needed where several were measured
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
    request.check.today = Some(Date::of(now()));
    let history = &mut request.history;
    history.executable.clone_from(&args.exe);
    history.benchmark.clone_from(&args.benchmark.benchmark);
    history.event.clone_from(&args.event.event);
    history.matching = request.check.matching;
    let log = log(&store_path.sources(), &request)?;
    args.format.print(&log, render::log::text)?;
    Ok(Outcome::Clean)
}

/// The repository that a path is in, and what the path is called there; `None` for all of it.
fn found(path: Option<&Path>) -> Result<(Repository, Option<PathBuf>), CliError> {
    let Some(path) = path else {
        return Ok((Repository::here()?, None));
    };
    if path.is_dir() {
        let repository = Repository::of(path)?;
        let name = (!repository.is_top()).then(|| PathBuf::from("."));
        return Ok((repository, name));
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.is_dir() => {
            Ok((Repository::of(folder)?, Some(name.into())))
        }
        // It may have been there once.
        _ => Ok((Repository::here()?, Some(path.to_owned()))),
    }
}
