//! `sto record --commits`: records a command at each commit of a range.

use super::args::RecordArgs;
use super::checkouts::Checkouts;
use super::plan::{Plan, Program};
use super::runs::{Recorded, Session};
use super::scale::Combination;
use super::skipped::print_skipped;
use super::work_folder::WorkFolder;
use crate::runtime::destination::Destination;
use crate::runtime::git::{GitError, Repository};
use crate::runtime::perf::Perf;
use crate::runtime::{CliError, Outcome, StorePath, ui};
use sto_core::model::CommitHash;
use sto_query::internal::commits::runs_by_commit;

/// Number of commits that are checked out at a time; their runs are made alternately.
const BATCH: usize = 8;

/// The commits of a range that are to be recorded.
pub(super) struct Commits {
    repository: Repository,
    /// Oldest first, each with the combinations of values that it has too few runs of.
    lacking: Vec<(CommitHash, Vec<Combination>)>,
    /// Whether other commits of the range already have enough runs.
    are_some_measured: bool,
}

/// The outcome, and the recorded runs.
pub(super) struct Filled {
    pub(super) outcome: Result<Outcome, CliError>,
    pub(super) recorded: Vec<Recorded>,
}

impl Commits {
    /// The commits of a range that do not have enough runs yet.
    pub(super) fn in_range(
        range: &str,
        args: &RecordArgs,
        store_path: &StorePath,
    ) -> Result<Commits, CliError> {
        let repository = Repository::here()?;
        match repository.check_clean() {
            Err(GitError::Dirty) => {
                ui::print_message(
                    "warning",
                    "the work tree has uncommitted changes, which are not recorded",
                );
            }
            checked => checked?,
        }
        let commits = repository.oldest_first(range)?;
        let builds = store_path.open_or_create()?.snapshot()?.builds()?;
        let about = args.recording.about.options();
        let with_runs = |values: Combination| {
            let mut options = about.clone();
            values.describe(&mut options);
            (values, runs_by_commit(&builds, &options))
        };
        let combinations = Combination::all(&args.scales).into_iter();
        let combinations: Vec<_> = combinations.map(with_runs).collect();
        let all = commits.len() * combinations.len();
        let lacking_of = |commit: CommitHash| {
            let lacking = combinations.iter().filter(|(_, runs)| {
                runs.get(&commit)
                    .is_none_or(|&runs| runs < args.runs as usize)
            });
            let lacking: Vec<_> = lacking.map(|(values, _)| values.clone()).collect();
            (commit, lacking)
        };
        let mut lacking: Vec<_> = commits.into_iter().map(lacking_of).collect();
        let left: usize = lacking.iter().map(|(_, values)| values.len()).sum();
        lacking.retain(|(_, values)| !values.is_empty());
        let what = match &args.scales[..] {
            [] => "commits",
            _ => "commands",
        };
        print_skipped(all - left, all, what, args.runs);
        Ok(Commits {
            repository,
            are_some_measured: left < all,
            lacking,
        })
    }

    /// Builds and records the commits.
    pub(super) fn record(
        &self,
        args: &RecordArgs,
        (perf, work): (&Perf, &WorkFolder),
        to: &Destination<'_>,
    ) -> Filled {
        let mut recorded = Vec::new();
        let outcome = self.record_all(args, (perf, work), to, &mut recorded);
        Filled { outcome, recorded }
    }

    fn record_all(
        &self,
        args: &RecordArgs,
        (perf, work): (&Perf, &WorkFolder),
        to: &Destination<'_>,
        recorded: &mut Vec<Recorded>,
    ) -> Result<Outcome, CliError> {
        let checkouts = Checkouts {
            repository: &self.repository,
            perf,
            work,
            build: args.build_with.as_deref(),
        };
        let jobs = usize::from(args.jobs);
        let mut are_measured = self.are_some_measured;
        for lacking in self.lacking.chunks(BATCH.max(jobs)) {
            let commits: Vec<_> = lacking.iter().map(|(commit, _)| commit.clone()).collect();
            let built = checkouts.build(&commits, jobs);
            if let Some(interrupted) = perf.interrupted() {
                return Ok(interrupted);
            }
            let built = built?;
            let mut programs = Vec::new();
            for ((commit, combinations), built) in lacking.iter().zip(&built) {
                let of_commit = built.as_ref().map_err(Clone::clone).and_then(|built| {
                    let with = |values: &Combination| {
                        Program::from_commit(&args.command, values.clone(), built.place())
                    };
                    let of_commit: Result<Vec<_>, _> = combinations.iter().map(with).collect();
                    of_commit.map_err(|error| error.to_string())
                });
                match of_commit {
                    Ok(of_commit) => programs.extend(of_commit),
                    Err(why) => {
                        let id = commit.to_string();
                        ui::print_message(
                            "note",
                            &format!("commit {} is skipped: {why}", &id[..12]),
                        );
                    }
                }
            }
            are_measured |= !programs.is_empty();
            let plan = Plan {
                ends_with_failure: false,
                ..args.plan()
            };
            let mut session = Session::new(plan, perf, work, to, programs);
            let outcome = session.record();
            recorded.push(session.finish());
            if let interrupted @ Outcome::Interrupted(_) = outcome? {
                return Ok(interrupted);
            }
        }
        Ok(if are_measured || self.lacking.is_empty() {
            Outcome::Clean
        } else {
            Outcome::TooLittleData
        })
    }
}
