//! Handles failed runs, which may not have done the same work as the others.

use super::metrics::EXIT_STATUS;
use super::pair::Pair;
use crate::select::Selection;
use crate::tree::View;
use std::collections::BTreeSet;
use sto_core::store::StoredProfile;

/// Consequences of the exit statuses of both sides' runs.
#[derive(Debug, Default)]
pub(super) struct ExitStatuses {
    /// The sides without their failed runs; `None` if no runs of the side are left out.
    pub(super) kept: Pair<Option<View>>,
    /// Warnings about failed runs.
    pub(super) warnings: Vec<String>,
    /// Why the sides cannot be compared, if one of them did not do its work.
    pub(super) failed: Option<String>,
}

impl ExitStatuses {
    /// Checks the exit statuses of all runs.
    ///
    /// If both sides have successful runs, only these are compared. If all runs of both sides
    /// failed with the same statuses, the program works like that (`grep` without a match, say).
    pub(super) fn new(views: Pair<&View>) -> ExitStatuses {
        let failures = views.map(|view| -> BTreeSet<u64> {
            let profiles = view.selection.profiles.iter();
            profiles.filter_map(failure).collect()
        });
        let all_failed = views.map(|view| {
            let profiles = &view.selection.profiles;
            !profiles.is_empty() && profiles.iter().all(|stored| failure(stored).is_some())
        });
        let mut statuses = ExitStatuses::default();
        let sides = [
            ("baseline", views.baseline, &failures.baseline),
            ("candidate", views.candidate, &failures.candidate),
        ];
        match (all_failed.baseline, all_failed.candidate) {
            (true, true) if failures.baseline == failures.candidate => {
                statuses.warnings.push(format!(
                    "All runs of both sides ended with {}.",
                    listed(&failures.candidate)
                ));
            }
            (false, false) => {
                for (name, view, failures) in sides {
                    if failures.is_empty() {
                        continue;
                    }
                    let kept = without_failed(view);
                    let (all, left) = (view.runs.len(), kept.runs.len());
                    statuses.warnings.push(format!(
                        "{} of the {name}'s {all} runs failed, and {} left out: {}.",
                        all - left,
                        if all - left == 1 { "is" } else { "are" },
                        listed(failures)
                    ));
                    match name {
                        "baseline" => statuses.kept.baseline = Some(kept),
                        _ => statuses.kept.candidate = Some(kept),
                    }
                }
            }
            _ => {
                let described: Vec<String> = sides
                    .iter()
                    .map(|(name, view, failures)| describe_failures(name, view, failures))
                    .collect();
                let described = described.join(", ");
                statuses.warnings.push(format!(
                    "The sides' runs ended with different statuses: {described}."
                ));
                statuses.failed = Some(format!(
                    "the sides' runs did not do the same work: {described}; fix the program or the \
                     command, and record it again"
                ));
            }
        }
        statuses
    }
}

/// Returns the sides to compare: without failed runs, or unchanged.
pub(super) fn sides_to_compare<'a>(
    kept: &'a Pair<Option<View>>,
    views: Pair<&'a View>,
) -> Pair<&'a View> {
    Pair::new(
        kept.baseline.as_ref().unwrap_or(views.baseline),
        kept.candidate.as_ref().unwrap_or(views.candidate),
    )
}

/// `all 3 of the candidate failed with status 1`.
fn describe_failures(name: &str, view: &View, failures: &BTreeSet<u64>) -> String {
    let profiles = &view.selection.profiles;
    let failed = profiles
        .iter()
        .filter(|stored| failure(stored).is_some())
        .count();
    match (failed, profiles.len()) {
        (0, _) => format!("none of the {name} failed"),
        (failed, all) if failed == all => {
            format!("all {all} of the {name} failed ({})", listed(failures))
        }
        (failed, all) => format!(
            "{failed} of {all} of the {name} failed ({})",
            listed(failures)
        ),
    }
}

/// Returns the exit status of a failed run; `None` if the run succeeded or its status is not known.
fn failure(stored: &StoredProfile) -> Option<u64> {
    let status = *stored.profile.metrics.get(EXIT_STATUS)?;
    (status != 0.0).then_some(status as u64)
}

fn without_failed(view: &View) -> View {
    let succeeded: Vec<bool> = view
        .selection
        .profiles
        .iter()
        .map(|p| failure(p).is_none())
        .collect();
    View {
        selection: Selection {
            build: view.selection.build.clone(),
            profiles: kept(&view.selection.profiles, &succeeded),
        },
        sample_types: view.sample_types.clone(),
        frames: view.frames.clone(),
        tree: view.tree.clone(),
        runs: kept(&view.runs, &succeeded),
        windows: kept(&view.windows, &succeeded),
    }
}

fn kept<T: Clone>(of_runs: &[T], succeeded: &[bool]) -> Vec<T> {
    let kept = of_runs
        .iter()
        .zip(succeeded)
        .filter(|(_, succeeded)| **succeeded);
    kept.map(|(of_run, _)| of_run.clone()).collect()
}

/// `status 1`, `status 1, 139`.
fn listed(statuses: &BTreeSet<u64>) -> String {
    let statuses: Vec<String> = statuses.iter().map(u64::to_string).collect();
    format!("status {}", statuses.join(", "))
}
