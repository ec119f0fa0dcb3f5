//! Checks builds from counts by function and run that a query engine computed, for builds with more
//! runs than one machine can hold.

use super::benchmarks::Check;
use super::each::{compare_each, of_benchmark};
use super::request::CheckRequest;
use crate::QueryError;
use crate::compare::{CompareOptions, Comparison, compare_counts};
use crate::select::{Selection, Selector, select_from};
use crate::sources::{
    Baseline, BuildRef, Sources, resolve_revision, runs_of, select_event_to_compare,
    select_labelled,
};
use crate::tree::View;
use std::path::Path;
use sto_lake::lake::Counts;

/// Compares counts by function and run, see [`CheckRequest::counts`].
pub(super) fn check_counts(
    path: &Path,
    request: &CheckRequest,
    sources: &Sources,
) -> Result<Check, QueryError> {
    let counts = Counts::read(path)?;
    let find = |name: &str| -> Result<Selection, QueryError> {
        let selector = resolve_revision(sources.environment(), name.parse::<Selector>()?)?;
        Ok(select_from(counts.builds(), &selector)?)
    };
    let named = |named: &BuildRef| match named {
        BuildRef::Selector(name) => find(name),
        BuildRef::File(path) => find(&path.to_string_lossy()),
        BuildRef::Runs(ids) => runs_of(counts.builds().to_vec(), ids),
        BuildRef::Labelled(runs) => select_labelled(runs, counts.builds().to_vec()),
    };
    let candidate = named(&request.candidate)?;
    let of_candidate = |name: &str| {
        let whole = find(&format!("{}@{name}", candidate.build.executable));
        whole.or_else(|_| find(name))
    };
    let baseline = match (&request.baseline, &request.policy.baseline) {
        (Some(Baseline::Any(baseline)), _) => named(baseline)?,
        (Some(Baseline::OfCandidate(name)), _) | (None, Some(name)) => of_candidate(name)?,
        (None, None) => return Err(QueryError::NoBaseline),
    };
    let benchmarks: Vec<String> = match &request.benchmarks[..] {
        [] => request.policy.benchmarks.keys().cloned().collect(),
        named => named.to_vec(),
    };
    compare_each(
        [&baseline, &candidate],
        &benchmarks,
        request,
        sources.context(),
        |runs, options| {
            let sides = [&baseline, &candidate].map(|side| of_benchmark(side, runs));
            let mut comparison = compare(&counts, &sides, request, options)?;
            if let Some(x) = request
                .policy
                .curve_metric(runs.flatten(), &request.thresholds)
            {
                comparison.warnings.push(format!(
                    "Counts by function do not show how cost scales with {x}."
                ));
            }
            Ok(comparison)
        },
    )
}

fn compare(
    counts: &Counts,
    sides: &[Selection; 2],
    request: &CheckRequest,
    options: &CompareOptions,
) -> Result<Comparison, QueryError> {
    let keep = |view: View| match &request.event {
        Some(event) if !view.runs.is_empty() => select_event_to_compare(view, event),
        _ => Ok(view),
    };
    let [baseline, candidate] = sides.each_ref().map(|side| {
        let loaded = counts.self_and_total(&side.profiles);
        loaded.map(|loaded| View::from_loaded(side.clone(), loaded))
    });
    let [old, old_total] = baseline;
    let [new, new_total] = candidate;
    let own = [keep(old)?, keep(new)?];
    Ok(compare_counts(
        own.each_ref(),
        [&old_total, &new_total],
        options,
    )?)
}
