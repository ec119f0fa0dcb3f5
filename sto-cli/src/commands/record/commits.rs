//! A history that is filled: a command as it was built of each commit of a range.

use super::RecordArgs;
use super::checkouts::Checkouts;
use super::plan::{Plan, Program};
use super::runs::{Recorded, Session};
use super::work_folder::WorkFolder;
use crate::runtime::git::{GitError, Repository};
use crate::runtime::perf::Perf;
use crate::runtime::{CliError, Outcome, StorePath, ui};
use sto_core::model::CommitHash;
use sto_query::commits::recorded_runs;

/// Commits whose work trees are there at a time, and whose runs are made in turns.
const TOGETHER: usize = 8;

/// The commits of a range that are to be recorded.
pub(super) struct Commits {
    repository: Repository,
    /// Oldest first.
    commits: Vec<CommitHash>,
    /// Whether others have their runs already.
    are_some_measured: bool,
}

/// What came of them.
pub(super) struct Filled {
    pub(super) outcome: Result<Outcome, CliError>,
    pub(super) recorded: Vec<Recorded>,
}

impl Commits {
    /// Those of a range that have not as many runs yet.
    pub(super) fn of(
        range: &str,
        args: &RecordArgs,
        store_path: &StorePath,
    ) -> Result<Commits, CliError> {
        let repository = Repository::here()?;
        match repository.check_clean() {
            Err(GitError::Dirty) => {
                ui::say(
                    "warning",
                    "the work tree has changes that are not committed: no commit has them",
                );
            }
            checked => checked?,
        }
        let mut commits = repository.oldest_first(range)?;
        let all = commits.len();
        let about = args.recording.about.options();
        let sources = store_path.sources_or_empty()?;
        let runs = recorded_runs(
            &sources,
            about.executable.as_deref(),
            about.benchmark.as_deref(),
        )?;
        let enough = usize::try_from(args.runs).unwrap_or(usize::MAX);
        commits.retain(|commit| runs.get(commit).is_none_or(|&runs| runs < enough));
        if let Some(left_out @ 1..) = all.checked_sub(commits.len()) {
            let text = format!("{left_out} of {all} commits have {enough} runs or more already");
            ui::say("note", &text);
        }
        Ok(Commits {
            repository,
            are_some_measured: commits.len() < all,
            commits,
        })
    }

    /// Builds and records them.
    pub(super) fn record(
        &self,
        args: &RecordArgs,
        (perf, work): (&Perf, &WorkFolder),
        store_path: &StorePath,
    ) -> Filled {
        let mut recorded = Vec::new();
        let outcome = self.record_all(args, (perf, work), store_path, &mut recorded);
        Filled { outcome, recorded }
    }

    fn record_all(
        &self,
        args: &RecordArgs,
        (perf, work): (&Perf, &WorkFolder),
        store_path: &StorePath,
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
        for commits in self.commits.chunks(TOGETHER.max(jobs)) {
            let built = checkouts.build(commits, jobs);
            if let Some(interrupted) = perf.interrupted() {
                return Ok(interrupted);
            }
            let built = built?;
            let mut programs = Vec::new();
            for (commit, built) in commits.iter().zip(&built) {
                let program = match built {
                    Ok(built) => Program::of_commit(&args.command, built.place())
                        .map_err(|error| error.to_string()),
                    Err(why) => Err(why.clone()),
                };
                match program {
                    Ok(program) => programs.push(program),
                    Err(why) => {
                        let id = commit.to_string();
                        ui::say(
                            "note",
                            &format!("commit {} is passed over: {why}", &id[..12]),
                        );
                    }
                }
            }
            are_measured |= !programs.is_empty();
            let plan = Plan {
                ends_with_failure: false,
                ..args.plan()
            };
            let mut session = Session::new(plan, perf, work, store_path, programs);
            let outcome = session.record();
            recorded.push(session.finish());
            if let interrupted @ Outcome::Interrupted(_) = outcome? {
                return Ok(interrupted);
            }
        }
        Ok(match are_measured || self.commits.is_empty() {
            true => Outcome::Clean,
            false => Outcome::TooLittleData,
        })
    }
}
