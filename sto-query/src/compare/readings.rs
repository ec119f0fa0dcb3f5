//! The assumptions under which the counts of different runs are compared.
//!
//! Counts alone do not tell whether a run did more work, or did the same work more slowly. So a
//! change must hold under both readings, "each run did the same work" and "most functions are
//! unchanged", unless the user chose one or the recordings show that the work was the same.

use super::pair::Pair;
use super::result::{CompareOptions, NormalisationMethod, SECONDS};
use super::runs::{Runs, are_of_same_runs};
use crate::tree::View;
use sto_core::model::Profile;
use sto_stats::Group;

/// Largest standard deviation of the total cost of a side's runs, relative to its mean, of runs that
/// did the same work.
const STEADY: f64 = 0.1;
/// Standard deviation of the total cost of a side's runs, relative to its mean, above which they
/// cannot have done the same work.
const UNSTEADY: f64 = 0.3;

/// Returns the methods under which a change must be found. The first attributes it to functions, and
/// the last gives its size.
pub(super) fn methods(
    views: Pair<&View>,
    runs: Pair<&Runs>,
    options: &CompareOptions,
) -> Vec<NormalisationMethod> {
    match &options.normalisation {
        Some(chosen) => vec![chosen.clone()],
        // A program has more work at one time than at another.
        None if are_of_same_runs(views) => vec![NormalisationMethod::Tmm],
        None if did_different_work(runs) => vec![NormalisationMethod::Tmm],
        None if did_same_work(views, runs) => vec![NormalisationMethod::PerRun],
        None => vec![NormalisationMethod::Tmm, NormalisationMethod::PerRun],
    }
}

/// Whether the recordings show that each run did the same work: the same command was recorded to its
/// end with the same arguments, several times a side, at about the same cost within each side.
fn did_same_work(views: Pair<&View>, runs: Pair<&Runs>) -> bool {
    let sides = [
        (views.baseline, runs.baseline),
        (views.candidate, runs.candidate),
    ];
    let profiles = sides.iter().flat_map(|(view, runs)| {
        let profiles = &view.selection.profiles;
        runs.profiles.iter().map(|&ix| &profiles[ix].profile)
    });
    let mut work = profiles.map(work);
    let first = work.next().flatten();
    let is_steady = |runs| deviation(runs).is_some_and(|d| d <= STEADY);
    first.is_some()
        && work.all(|other| other == first)
        && sides.iter().all(|(_, runs)| is_steady(runs))
}

/// Returns the arguments of a command that was recorded to its end, which has measured its seconds.
/// The program may be in another folder for each build.
fn work(profile: &Profile) -> Option<&str> {
    profile.metrics.get(SECONDS)?;
    Some(
        recorded_command(profile)?
            .split_once(' ')
            .map_or("", |(_, arguments)| arguments),
    )
}

/// Returns the command that perf recorded, its words separated by spaces; `None` if it is not known.
pub(crate) fn recorded_command(profile: &Profile) -> Option<&str> {
    let (_, command) = profile.origin.command.as_ref()?.split_once(" -- ")?;
    Some(command)
}

/// Whether the runs of a side differ so much in cost that they cannot have done the same work.
fn did_different_work(runs: Pair<&Runs>) -> bool {
    let deviations = [runs.baseline, runs.candidate].map(deviation);
    deviations.into_iter().flatten().any(|d| d > UNSTEADY)
}

/// Returns the standard deviation of the total cost of a side's runs, relative to its mean; `None`
/// with fewer than two runs.
fn deviation(runs: &Runs) -> Option<f64> {
    let costs: Vec<f64> = runs.values().collect();
    let group = Group::from_numbers(&costs)?;
    Some(group.deviation? / group.mean)
}
