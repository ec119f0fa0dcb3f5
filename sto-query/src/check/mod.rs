//! Checks a release by a policy: what got worse between two builds, benchmark by benchmark.
//!
//! A [`CheckRequest`] finds the runs, chooses the benchmarks, divides the accepted rate of false findings
//! among them, looks for an earlier build to estimate the variation between runs if neither side
//! shows it, compares, and finds source lines. The result is one [`Check`].

mod benchmarks;
#[cfg(feature = "lake")]
mod counts;
#[cfg(not(feature = "lake"))]
#[path = "no_counts.rs"]
mod counts;
mod each;
mod request;

pub use crate::sources::Baseline;
pub(crate) use benchmarks::reason;
pub use benchmarks::{Benchmarks, Check};
pub use request::CheckRequest;

use crate::QueryError;
use crate::calls::new_outliers;
use crate::compare::{CompareOptions, Comparison, Finding, Lines, compare_with_earlier};
use crate::models::{CompareModelsOptions, ModelVariables, compare_models};
use crate::select::Selection;
use crate::sources::{
    self, EVENT, LocatedProfiles, SLICES_OVER_TIME, Sources, select_event_to_compare,
    slice_count_for,
};
use crate::tree::{Order, View};
use counts::check_counts;
use each::{compare_each, of_benchmark};
use sto_core::store::Snapshot;
use sto_core::units::SampleType;

/// Compares two builds, and decides whether the candidate got worse.
///
/// # Errors
/// Returns an error if a side is not found or cannot be read, there is no baseline, a threshold is
/// out of range, a run lacks the metric that normalises costs, or curves are requested and runs
/// lack x.
pub(crate) fn check(sources: &Sources, request: &CheckRequest) -> Result<Check, QueryError> {
    if let Some(counts) = &request.counts {
        sources.check_reads_files(counts)?;
        return check_counts(counts, request, sources);
    }
    let policy = &request.policy;
    let of_policy = policy.baseline.clone().map(Baseline::OfCandidate);
    let baseline = request.baseline.as_ref().or(of_policy.as_ref());
    let baseline = baseline.ok_or(QueryError::NoBaseline)?;
    let has_windows = request.window.is_some() || request.against.is_some();
    let slices = match policy.curve_metric(None, &request.thresholds) {
        _ if has_windows => SLICES_OVER_TIME,
        Some(x) => slice_count_for(x),
        None => None,
    };
    let sides = sources.sides(baseline, &request.candidate, slices)?;
    let named = match &request.benchmarks[..] {
        // Files have no benchmark.
        [] if sides.iter().all(|side| side.is_stored) => {
            policy.benchmarks.keys().cloned().collect()
        }
        named => named.to_vec(),
    };
    let [baseline, candidate] = &sides;
    let selections = [&baseline.selection, &candidate.selection];
    compare_each(
        selections,
        &named,
        request,
        sources.context(),
        |runs, options| compare_runs(sources, &sides, runs, request, options),
    )
}

/// Compares all runs of both sides, or only the runs of one benchmark.
fn compare_runs(
    sources: &Sources,
    sides: &[LocatedProfiles; 2],
    benchmark: Option<Option<&str>>,
    request: &CheckRequest,
    options: &CompareOptions,
) -> Result<Comparison, QueryError> {
    let chosen = |all: Selection| of_benchmark(&all, benchmark);
    let keep = |view: View| match &request.event {
        Some(event) if !view.runs.is_empty() => select_event_to_compare(view, event),
        _ => Ok(view),
    };
    let runs = |side: &LocatedProfiles| of_benchmark(&side.selection, benchmark);
    let [baseline, candidate] = sides;
    let (old, new) = View::load_both(
        (&baseline.store, runs(baseline)),
        (&candidate.store, runs(candidate)),
    )?;
    let windows = [request.against.or(request.window), request.window];
    let stores = [&baseline.store, &candidate.store];
    let [old, new] = sources::restrict_pair([keep(old)?, keep(new)?], stores, windows)?;
    // If neither side has several runs, an earlier build shows how much they vary.
    let earlier = if old.runs.len() > 1 || new.runs.len() > 1 {
        None
    } else {
        sources.newest_with_several_runs(&new.selection.build.executable, chosen)?
    };
    let mut comparison = compare_with_earlier(&old, &new, earlier.as_ref(), options)?;
    if let Some(x) = request
        .policy
        .curve_metric(benchmark.flatten(), &request.thresholds)
    {
        let sides = [(&old, &baseline.store), (&new, &candidate.store)];
        add_curves(&mut comparison, sides, x)?;
    }
    if comparison.counted_in.is_some() {
        let sides = [(baseline, &old), (candidate, &new)];
        let sides = sides.map(|(side, view)| (&side.store, &view.selection));
        comparison
            .warnings
            .extend(new_outliers(sides, options.min_share)?);
    }
    find_lines(&mut comparison, baseline, &old, true)?;
    find_lines(&mut comparison, candidate, &new, false)?;
    Ok(comparison)
}

/// Compares how cost scales with x, in the event that was compared.
fn add_curves(
    comparison: &mut Comparison,
    sides: [(&View, &Snapshot); 2],
    x: &str,
) -> Result<(), QueryError> {
    let Some(compared) = &comparison.sample_type else {
        return Ok(());
    };
    let column = |view: &View| SampleType::index_of_event(&compared.event, &view.sample_types);
    let columns = sides.map(|(view, _)| column(view).unwrap_or(EVENT));
    let asked = ModelVariables {
        x,
        cost: Order::Total,
        inlined: false,
    };
    let options = CompareModelsOptions {
        alpha: comparison.thresholds.alpha,
        min_effect: comparison.thresholds.min_effect,
        min_share: comparison.thresholds.min_share,
        ..CompareModelsOptions::default()
    };
    let costs = asked.load_both_costs(sides, columns)?;
    comparison.add_curves(compare_models(costs, None, &options, None)?);
    Ok(())
}

/// Finds the source lines of the findings of one side.
fn find_lines(
    comparison: &mut Comparison,
    side: &LocatedProfiles,
    view: &View,
    of_gone: bool,
) -> Result<(), QueryError> {
    let is_of_side = |finding: &Finding| finding.is_gone() == of_gone;
    if let Some(sample_type) = &comparison.sample_type
        && comparison.findings.iter().any(is_of_side)
    {
        let lines = Lines::load(&side.store, &view.selection, &sample_type.event)?;
        comparison.set_lines(&lines, of_gone);
    }
    Ok(())
}
