//! Chooses the event that both sides measured, and the runs that have samples of it.

use super::call_counts;
use super::pair::Pair;
use super::result::{CompareError, NormalisationMethod, Run, Side, round_for_output};
use crate::select::full_name;
use crate::tree::View;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use sto_core::id::ProfileId;
use sto_core::model::{Profile, Quality};
use sto_core::tree::{SelfCosts, merge_equal_nodes, total_cost};
use sto_core::units::{Cost, Nanoseconds, SampleType};

/// The metrics of a run, by name.
pub(super) type Metrics = BTreeMap<String, f64>;

/// Chooses the sample type to compare, and the runs that have it.
///
/// Among the sample types that both sides have, this is the time of calls in call traces, and
/// otherwise the one with most samples on the smaller side. `None` if the sides have no sample type
/// in common.
pub(super) fn choose_sample_type<'a>(
    views: Pair<&'a View>,
) -> Option<(&'a SampleType, Pair<Runs<'a>>)> {
    let candidate = &views.candidate.sample_types;
    let types = views.baseline.sample_types.iter();
    let shared = types.filter(|t| t.index_in(candidate).is_some());
    let shared = shared.map(|t| (t, views.map(|view| Runs::new(view, t))));
    // `max_by_key` returns the last of equal elements, so the order is reversed to get the first.
    let (sample_type, runs) = shared.rev().max_by_key(|(t, runs)| {
        let samples = runs.as_ref().map(|runs| runs.cost.samples);
        let account = views.map(|view| call_counts::rank_sample_type(view, t));
        (
            account.baseline.min(account.candidate),
            samples.baseline.min(samples.candidate),
        )
    })?;
    let most = runs.baseline.costs.len().max(runs.candidate.costs.len());
    let shorter = runs.baseline.mean_value().min(runs.candidate.mean_value());
    let period = call_counts::period(views, sample_type, shorter, most);
    Some((sample_type, runs.map(|runs| runs.with_period(period))))
}

/// Returns the length of each run in seconds, baseline first, if the sides are parts of the same
/// runs; otherwise `None`.
pub(super) fn seconds(views: Pair<&View>, runs: &Pair<Runs>) -> Option<Vec<f64>> {
    let of = |view: &View, runs: &Runs| -> Vec<f64> {
        let lengths = runs.profiles.iter().map(|&ix| view.windows[ix].length());
        lengths.map(|length| length.0 as f64 / 1e9).collect()
    };
    are_of_same_runs(views).then(|| {
        let baseline = of(views.baseline, &runs.baseline);
        [baseline, of(views.candidate, &runs.candidate)].concat()
    })
}

/// Whether the sides are parts of the same runs.
pub(crate) fn are_of_same_runs(views: Pair<&View>) -> bool {
    let ids = |view: &View| -> BTreeSet<ProfileId> {
        let profiles = view.selection.profiles.iter();
        profiles.map(|stored| stored.id).collect()
    };
    let have_windows = !views.baseline.windows.is_empty() && !views.candidate.windows.is_empty();
    have_windows && !ids(views.baseline).is_disjoint(&ids(views.candidate))
}

/// Returns the event in which two views are compared: of the events of both, by the baseline's
/// names, the one with most samples on the side that has fewer.
pub(crate) fn shared_event<'a>(baseline: &'a View, candidate: &'a View) -> Option<&'a str> {
    let (sample_type, _) = choose_sample_type(Pair::new(baseline, candidate))?;
    Some(&sample_type.event)
}

/// The runs of one side.
#[derive(Default)]
pub(super) struct Runs<'a> {
    /// Self costs of each run that has samples.
    pub(super) costs: Vec<Cow<'a, SelfCosts>>,
    /// The index of the first profile of each in the selection.
    pub(super) profiles: Vec<usize>,
    /// The cost that one sample stands for in each run, in the event's unit.
    pub(super) periods: Vec<f64>,
    /// The cost of all runs together.
    pub(super) cost: Cost,
    /// The period of a sample, if time was measured instead of sampled.
    pub(super) counted_in: Option<Nanoseconds>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(view: &'a View, sample_type: &SampleType) -> Runs<'a> {
        let mut runs = Runs {
            costs: Vec::new(),
            profiles: Vec::new(),
            periods: Vec::new(),
            cost: Cost::ZERO,
            counted_in: None,
        };
        let column = sample_type.index_in(&view.sample_types);
        for profiles in replicates(view) {
            let columns = profiles.iter().map(|&ix| &view.runs[ix]);
            let columns = columns.filter_map(|run| column.and_then(|column| run.get(column)));
            let costs = sum(columns.collect());
            let cost = total_cost(&costs);
            if cost.samples > 0 {
                runs.costs.push(costs);
                runs.profiles.push(profiles[0]);
                runs.periods.push(period(cost));
                runs.cost += cost;
            }
        }
        runs
    }

    /// Returns the same runs with one sample for each period of time, if there is a period.
    pub(super) fn with_period(mut self, period: Option<Nanoseconds>) -> Runs<'a> {
        let Some(sample_period) = period else {
            return self;
        };
        self.cost = Cost::ZERO;
        for (costs, period) in self.costs.iter_mut().zip(&mut self.periods) {
            *costs = Cow::Owned(call_counts::resample_by_period(sample_period, costs));
            let cost = total_cost(costs);
            *period = self::period(cost);
            self.cost += cost;
        }
        self.counted_in = period;
        self
    }

    /// Returns the metrics and the total cost of each run.
    pub(super) fn totals<'v>(&self, view: &'v View) -> Vec<(&'v Metrics, f64)> {
        let total = |(&ix, costs): (&usize, &Cow<SelfCosts>)| {
            let metrics = &view.selection.profiles[ix].profile.metrics;
            (metrics, total_cost(costs).value as f64)
        };
        self.profiles.iter().zip(&self.costs).map(total).collect()
    }

    /// Returns the cost of each run.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        let costs = self.costs.iter();
        costs.map(|costs| total_cost(costs).value as f64)
    }

    /// Returns the mean cost of a run; NaN without runs.
    pub(super) fn mean_value(&self) -> f64 {
        self.cost.value as f64 / self.costs.len() as f64
    }

    /// Returns the mean number of samples of a run.
    pub(super) fn mean_samples(&self) -> f64 {
        self.cost.samples as f64 / self.costs.len() as f64
    }

    fn described(&self, view: &View) -> Vec<Run> {
        let samples = |costs: &SelfCosts| total_cost(costs).samples;
        let run = |(&ix, costs): (&usize, &Cow<SelfCosts>)| {
            let stored = &view.selection.profiles[ix];
            let origin = &stored.profile.origin;
            Run {
                profile: stored.id.to_string(),
                recorded: origin.recorded.map(|time| time.to_string()),
                host: origin.host.clone(),
                samples: samples(costs),
                size_factor: None,
                window: view.windows.get(ix).cloned(),
            }
        };
        self.profiles.iter().zip(&self.costs).map(run).collect()
    }
}

/// Returns the indices of the profiles of each run.
///
/// Each profile is a run, except that the windows of a service that is profiled continuously are one run for each host
/// and set of labels: windows of one instance are not independent.
pub(super) fn replicates(view: &View) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut services = BTreeMap::new();
    for (ix, profile) in profiles(view).enumerate() {
        if view.windows.is_empty() && profile.is_window() {
            let run = *services
                .entry((&profile.origin.host, &profile.labels))
                .or_insert(runs.len());
            match runs.get_mut(run) {
                Some(run) => run.push(ix),
                None => runs.push(vec![ix]),
            }
        } else {
            runs.push(vec![ix]);
        }
    }
    runs
}

/// Adds up columns of costs.
fn sum(columns: Vec<&SelfCosts>) -> Cow<'_, SelfCosts> {
    match columns[..] {
        [] => Cow::Owned(SelfCosts::new()),
        [only] => Cow::Borrowed(only),
        _ => {
            let mut all: SelfCosts = columns.into_iter().flatten().copied().collect();
            merge_equal_nodes(&mut all);
            Cow::Owned(all)
        }
    }
}

/// Returns the cost that one sample stands for; at least 1, because a period of 0 is meaningless.
fn period(cost: Cost) -> f64 {
    match cost.samples {
        0 => 1.0,
        samples => (cost.value as f64 / samples as f64).max(1.0),
    }
}

/// Maximum number of profiles that an error message names.
const MAX_NAMED: usize = 4;

/// Returns the amount of work of each run, baseline first: the value of the metric that normalises
/// costs, or 1 if no metric does.
pub(super) fn work_amounts(
    views: Pair<&View>,
    runs: &Pair<Runs>,
    method: Option<&NormalisationMethod>,
) -> Result<Vec<f64>, CompareError> {
    let Some(NormalisationMethod::PerMetric(metric)) = method else {
        return Ok(vec![
            1.0;
            runs.baseline.costs.len() + runs.candidate.costs.len()
        ]);
    };
    let mut amounts = Vec::new();
    let mut profiles = Vec::new();
    let mut lacking = Vec::new();
    for (view, runs) in [
        (views.baseline, &runs.baseline),
        (views.candidate, &runs.candidate),
    ] {
        for stored in runs.profiles.iter().map(|&ix| &view.selection.profiles[ix]) {
            let found = stored.profile.metrics.get(metric).copied();
            let amount = found.filter(|amount| *amount > 0.0 && amount.is_finite());
            amounts.extend(amount);
            if amount.is_none() {
                lacking.push(stored.id);
                if lacking.len() > MAX_NAMED {
                    continue;
                }
                let found = found.map_or("missing".to_owned(), |found| found.to_string());
                let build = full_name(&view.selection.build);
                profiles.push(format!(
                    "{found} in {:.12} of {build}",
                    stored.id.to_string()
                ));
            }
        }
    }
    match lacking[..] {
        [] => Ok(amounts),
        [first, ..] => Err(CompareError::Metric {
            metric: metric.clone(),
            first,
            more: lacking.len() - profiles.len(),
            profiles,
        }),
    }
}

/// Describes a side. `runs` is `None` if the sides have no event in common.
pub(super) fn describe_side(view: &View, runs: Option<&Runs>) -> Side {
    let build = &view.selection.build;
    let recorded = || profiles(view).filter_map(|profile| profile.origin.recorded);
    let hosts: BTreeSet<&str> = profiles(view)
        .filter_map(|profile| profile.origin.host.as_deref())
        .collect();
    let Quality {
        samples,
        unresolved,
        truncated,
        lost,
        ..
    } = quality(view);
    let cost = runs.map_or(Cost::ZERO, |runs| runs.cost);
    Side {
        executable: build.executable.clone(),
        build: build.version.clone(),
        gnu_build_id: build.gnu_build_id.as_ref().map(ToString::to_string),
        revision: build.revision.clone(),
        runs: runs.map_or(0, |runs| {
            let ids = runs
                .profiles
                .iter()
                .map(|&ix| view.selection.profiles[ix].id);
            ids.collect::<BTreeSet<_>>().len()
        }),
        samples: cost.samples,
        value: cost.value,
        calls: runs.and_then(|runs| call_counts::calls(view, &runs.profiles)),
        hosts: hosts.into_iter().map(str::to_owned).collect(),
        first_recorded: recorded().min().map(|time| time.to_string()),
        last_recorded: recorded().max().map(|time| time.to_string()),
        unresolved_share: share(unresolved, samples),
        truncated_share: share(truncated, samples),
        lost_share: share(lost, samples.saturating_add(lost)),
        profiles: runs.map_or(Vec::new(), |runs| runs.described(view)),
    }
}

pub(super) fn profiles(view: &View) -> impl Iterator<Item = &Profile> {
    view.selection.profiles.iter().map(|stored| &stored.profile)
}

/// Returns the quality of all runs together, over all events.
fn quality(view: &View) -> Quality {
    profiles(view)
        .map(|profile| profile.quality)
        .fold(Quality::default(), |a, b| Quality {
            samples: a.samples.saturating_add(b.samples),
            unresolved: a.unresolved.saturating_add(b.unresolved),
            truncated: a.truncated.saturating_add(b.truncated),
            without_stack: a.without_stack.saturating_add(b.without_stack),
            lost: a.lost.saturating_add(b.lost),
        })
}

/// Returns `part / whole`, or 0 if `whole` is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        round_for_output(part as f64 / whole as f64)
    }
}
