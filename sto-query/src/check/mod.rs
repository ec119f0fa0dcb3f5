//! The check of a release: what got worse between two builds, benchmark by benchmark, by a policy.
//!
//! [`check`] finds the runs, chooses the benchmarks, shares the false findings out among them, looks for
//! an earlier build that shows how much runs vary where neither side does, compares, and looks up the
//! lines. What it finds is judged together, as one [`Check`].

mod benchmarks;
#[cfg(feature = "lake")]
mod counts;
#[cfg(not(feature = "lake"))]
#[path = "no_counts.rs"]
mod counts;

pub(crate) use benchmarks::reason;
pub use benchmarks::{Benchmarks, Check};
pub use counts::check_counts;

use crate::QueryError;
use crate::calls::new_outliers;
use crate::compare::{CompareOptions, Comparison, Finding, Lines, compare_with_earlier};
use crate::functions::KeyOptions;
use crate::models::{Asked, CompareModelsOptions, compare_models};
use crate::policy::{Policy, Thresholds};
use crate::select::Selection;
use crate::sources::{
    self, EVENT, Located, Named, OVER_TIME, Sources, of_event_to_compare, slices_for,
};
use crate::text::Date;
use crate::tree::{Order, View, Window};
use serde::{Deserialize, Serialize};
use sto_core::Cancel;
use sto_core::store::Snapshot;
use sto_core::units::SampleType;

/// What is to be checked, and by what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CheckRequest {
    /// What to compare with; by default what the policy names.
    pub baseline: Option<Baseline>,
    /// What to judge.
    pub candidate: Named,
    /// Compare only runs of these benchmarks; by default of those that the policy names, else of all that
    /// both sides have.
    pub benchmarks: Vec<String>,
    /// Look at this event instead of the one with most samples.
    pub event: Option<String>,
    /// Judge only this part of each run's time.
    pub window: Option<Window>,
    /// Compare with this part of each run's time; by default with the same part as is judged. The runs may be the same.
    pub against: Option<Window>,
    /// What holds over the policy.
    pub thresholds: Thresholds,
    /// What else holds.
    pub policy: Policy,
    /// What the answer calls the policy, such as the name of its file.
    pub policy_name: Option<String>,
    /// The day on which what the policy ignores has expired or not; without one, nothing has.
    pub today: Option<Date>,
    /// Which functions of the two builds are one.
    pub matching: KeyOptions,
    /// Whether the answer has every function that was tested.
    pub all: bool,
    /// Whether the answer has the stacks of both sides, to draw them.
    pub stacks: bool,
    /// Ends it early.
    #[serde(skip)]
    pub cancel: Cancel,
}

/// What names a baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Baseline {
    /// Whatever a name stands for.
    Any(Named),
    /// A build or tag of the candidate's executable; a selector where it has none such.
    OfCandidate(String),
}

/// Compares two builds, and says whether one may follow the other.
///
/// # Errors
/// Where a side is not found or cannot be read, there is no baseline, a threshold is out of its range, or
/// a run does not have a metric that cost is asked for by. Where curves are asked for, and runs do not say x.
pub fn check(sources: &Sources, request: &CheckRequest) -> Result<Check, QueryError> {
    let policy = &request.policy;
    let baseline = match (&request.baseline, &policy.baseline) {
        (Some(Baseline::Any(named)), _) => sources::Baseline::Any(named),
        (Some(Baseline::OfCandidate(name)), _) | (None, Some(name)) => {
            sources::Baseline::OfCandidate(name)
        }
        (None, None) => return Err(QueryError::NoBaseline),
    };
    let has_windows = request.window.is_some() || request.against.is_some();
    let slices = match policy.x(None, &request.thresholds) {
        _ if has_windows => OVER_TIME,
        Some(x) => slices_for(x),
        None => None,
    };
    let sides = sources.sides(&baseline, &request.candidate, slices)?;
    let named = match &request.benchmarks[..] {
        // Files name no benchmark.
        [] if sides.iter().all(|side| side.is_stored) => {
            policy.benchmarks.keys().cloned().collect()
        }
        named => named.to_vec(),
    };
    let [baseline, candidate] = &sides;
    let selections = [&baseline.selection, &candidate.selection];
    compare_each(selections, &named, request, |runs, options| {
        compare_runs(sources, &sides, runs, request, options)
    })
}

/// Compares the benchmarks that are named, or those of both sides, each by itself.
fn compare_each(
    [baseline, candidate]: [&Selection; 2],
    named: &[String],
    request: &CheckRequest,
    compare: impl Fn(Option<Option<&str>>, &CompareOptions) -> Result<Comparison, QueryError>,
) -> Result<Check, QueryError> {
    let benchmarks = Benchmarks::of(baseline, candidate, named);
    let mut warnings = request.policy.expired(request.today.as_ref());
    warnings.extend(benchmarks.warnings);
    let each = match &benchmarks.compared[..] {
        [] => vec![None],
        compared => compared.iter().map(|name| Some(name.as_deref())).collect(),
    };
    let mut comparisons = Vec::with_capacity(each.len());
    for &runs in &each {
        request.cancel.check()?;
        let name = runs.flatten();
        let mut options = request.options(name);
        // So at most `alpha` of the findings of all benchmarks together are false.
        options.alpha /= each.len() as f64;
        let mut comparison = compare(runs, &options)?;
        comparison.benchmark = name.map(str::to_owned);
        comparison.policy.clone_from(&request.policy_name);
        comparison.warnings.splice(0..0, warnings.iter().cloned());
        comparisons.push(comparison);
    }
    Ok(Check::of(comparisons))
}

/// The runs of a side that are of a benchmark; all, where none is chosen.
fn of_benchmark(selection: &Selection, benchmark: Option<Option<&str>>) -> Selection {
    match benchmark {
        Some(benchmark) => selection.of_benchmark(benchmark),
        None => selection.clone(),
    }
}

impl CheckRequest {
    fn options(&self, benchmark: Option<&str>) -> CompareOptions {
        let options = CompareOptions {
            all: self.all,
            stacks: self.stacks,
            matching: self.matching,
            cancel: self.cancel.clone(),
            ..CompareOptions::default()
        };
        let today = self.today.as_ref();
        self.policy
            .options(benchmark, &self.thresholds, today, options)
    }
}

/// Compares all runs of both sides, or those of one benchmark.
fn compare_runs(
    sources: &Sources,
    sides: &[Located; 2],
    benchmark: Option<Option<&str>>,
    request: &CheckRequest,
    options: &CompareOptions,
) -> Result<Comparison, QueryError> {
    let chosen = |all: Selection| of_benchmark(&all, benchmark);
    let keep = |view: View| match &request.event {
        Some(event) if !view.runs.is_empty() => of_event_to_compare(view, event),
        _ => Ok(view),
    };
    let runs = |side: &Located| of_benchmark(&side.selection, benchmark);
    let [baseline, candidate] = sides;
    let (old, new) = View::load_both(
        (&baseline.store, runs(baseline)),
        (&candidate.store, runs(candidate)),
    )?;
    let windows = [request.against.or(request.window), request.window];
    let stores = [&baseline.store, &candidate.store];
    let [old, new] = sources::parts([keep(old)?, keep(new)?], stores, windows)?;
    // Where neither side has several runs, an earlier build shows how much they vary.
    let earlier = if old.runs.len() > 1 || new.runs.len() > 1 {
        None
    } else {
        sources.with_several_runs(&new.selection.build.executable, chosen)?
    };
    let mut comparison = compare_with_earlier(&old, &new, earlier.as_ref(), options)?;
    if let Some(x) = request.policy.x(benchmark.flatten(), &request.thresholds) {
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

/// Compares how cost goes with x, by the event that was compared.
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
    let asked = Asked {
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
    let costs = asked.of_both(sides, columns)?;
    comparison.add_curves(compare_models(costs, None, &options, None)?);
    Ok(())
}

/// Says of findings of one side which line to look at first.
fn find_lines(
    comparison: &mut Comparison,
    side: &Located,
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
