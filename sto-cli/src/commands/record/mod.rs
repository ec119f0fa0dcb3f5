//! `sto record`: runs a program under perf, and stores the recording.
//!
#![doc = include_str!("record.md")]

mod args;
mod checkouts;
mod commits;
mod input;
mod jit_files;
mod options;
mod plan;
mod runs;
mod scale;
mod skipped;
mod warnings;
mod work_folder;

use crate::commands::find_regressions;
use crate::runtime::destination::Destination;
use crate::runtime::perf::{self, Perf};
use crate::runtime::{CliError, Outcome, StorePath, ui};
pub(crate) use args::RecordArgs;
pub(crate) use checkouts::{Built, Checkouts, Place};
use commits::Commits;
pub(crate) use options::RecordingArgs;
pub(crate) use plan::{Plan, Program};
pub(crate) use runs::Session;
pub(crate) use scale::Combination;
use skipped::skip_recorded;
use sto_query::render;
use sto_query::results::IngestedFile;
pub(crate) use work_folder::WorkFolder;

pub(crate) fn run(args: &RecordArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    args.recording.about.check()?;
    args.check_scales()?;
    let commits = args.commits.as_ref();
    let mut programs = match &args.compare[..] {
        _ if commits.is_some() => Vec::new(),
        [] => Combination::all(&args.scales)
            .into_iter()
            .map(|values| Program::with_values(&args.command, values))
            .collect::<Result<_, _>>()?,
        lines => Program::pair(lines)?,
    };
    for &pid in &args.pids {
        perf::check_process(pid)?;
    }
    // Report a store that cannot be written before anything runs.
    let to = Destination::open(args.to.as_deref(), store_path)?;
    to.check_writable()?;
    if !args.scales.is_empty() && args.to.is_none() {
        skip_recorded(&mut programs, args, store_path)?;
    }
    let commits = commits.map(|range| Commits::in_range(range, args, store_path));
    let commits = commits.transpose()?;
    let mut perf = Perf::new()?;
    let work = WorkFolder::make()?;
    let plan = args.plan();
    let checked = perf.check(&work.path, &plan.recording(&[], None));
    if let Some(interrupted) = perf.interrupted() {
        return Ok(interrupted);
    }
    checked?;

    if let Some(commits) = commits {
        let filled = commits.record(args, (&perf, &work), &to);
        let reports = filled
            .recorded
            .into_iter()
            .flat_map(|recorded| recorded.reports);
        print_summary(reports.collect(), &to);
        return filled.outcome;
    }
    let mut session = Session::new(plan, &perf, &work, &to, programs);
    let outcome = session.record();
    let recorded = session.finish();
    print_summary(recorded.reports, &to);
    match (outcome?, &recorded.ids[..]) {
        (Outcome::Clean, [baseline, candidate]) if !args.compare.is_empty() => {
            find_regressions::compare_recorded(store_path, [baseline, candidate])
        }
        (outcome, _) => Ok(outcome),
    }
}

/// Prints a summary of the stored runs.
fn print_summary(recordings: Vec<IngestedFile>, to: &Destination<'_>) {
    if !recordings.is_empty() {
        let summary = to.summary(recordings);
        ui::print_text(&render::recorded::text(&summary, ui::plain()));
    }
}
