//! `sto record --commits`: records a command at each commit of a range.

use super::args::RecordArgs;
use super::checkouts::Checkouts;
use super::plan::{Plan, Program, Scale};
use super::runs::{Recorded, Session};
use super::work_folder::WorkFolder;
use crate::runtime::destination::Destination;
use crate::runtime::git::{GitError, Repository};
use crate::runtime::perf::Perf;
use crate::runtime::{CliError, Outcome, StorePath, ui};
use std::collections::BTreeMap;
use sto_core::model::CommitHash;
use sto_query::internal::commits::recorded_runs;

/// Number of commits that are checked out at a time; their runs are made alternately.
const BATCH: usize = 8;

/// The commits of a range that are to be recorded.
pub(super) struct Commits {
    repository: Repository,
    /// Oldest first.
    commits: Vec<CommitHash>,
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
        let mut commits = repository.oldest_first(range)?;
        let all = commits.len();
        let about = args.recording.about.options();
        let sources = store_path.sources_or_empty()?;
        let recorded = |size| {
            let (executable, benchmark) = (&about.executable, &about.benchmark);
            recorded_runs(&sources, executable.as_deref(), benchmark.as_deref(), size)
        };
        let runs = match &args.scale {
            None => vec![recorded(None)?],
            Some(Scale { name, sizes }) => {
                let of_size = |(_, size): &(String, f64)| recorded(Some((name, *size)));
                sizes.iter().map(of_size).collect::<Result<_, _>>()?
            }
        };
        let enough = usize::try_from(args.runs).unwrap_or(usize::MAX);
        let has_enough = |commit: &CommitHash, runs: &BTreeMap<CommitHash, usize>| {
            runs.get(commit).is_some_and(|&runs| runs >= enough)
        };
        commits.retain(|commit| !runs.iter().all(|runs| has_enough(commit, runs)));
        if let Some(left_out @ 1..) = all.checked_sub(commits.len()) {
            let of_each = args.scale.as_ref();
            let of_each = of_each.map_or(String::new(), |scale| format!(" of each {}", scale.name));
            let text =
                format!("{left_out} of {all} commits have {enough} runs{of_each} or more already");
            ui::print_message("note", &text);
        }
        Ok(Commits {
            repository,
            are_some_measured: commits.len() < all,
            commits,
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
        for commits in self.commits.chunks(BATCH.max(jobs)) {
            let built = checkouts.build(commits, jobs);
            if let Some(interrupted) = perf.interrupted() {
                return Ok(interrupted);
            }
            let built = built?;
            let mut programs = Vec::new();
            for (commit, built) in commits.iter().zip(&built) {
                let program = match built {
                    Ok(built) => Program::from_commit(&args.command, built.place())
                        .map_err(|error| error.to_string()),
                    Err(why) => Err(why.clone()),
                };
                match program {
                    Ok(program) => match &args.scale {
                        Some(scale) => programs.extend(program.with_sizes(scale)),
                        None => programs.push(program),
                    },
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
        Ok(if are_measured || self.commits.is_empty() {
            Outcome::Clean
        } else {
            Outcome::TooLittleData
        })
    }
}
