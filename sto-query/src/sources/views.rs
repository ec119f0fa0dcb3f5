//! Views of the stacks denoted by names, of one benchmark and in one event.

use super::cache::ViewKey;
use super::{
    BuildRef, CONTEXTS, CallReading, LocatedProfiles, SLICES_OVER_TIME, Sources, Target,
    with_distinct_names,
};
use crate::QueryError;
use crate::calls::CallTrace;
use crate::compare::{Lines, shared_event};
use crate::phases::{self, CostOverTime};
use crate::select::{check_one_benchmark, full_name};
use crate::timeline::RunOverTime;
use crate::tree::{
    ContextCosts, RootsBy, RunWindow, TIME, ThreadNames, View, WholeRun, Window, WindowError,
};
use serde::{Deserialize, Serialize};
use std::mem::take;
use std::sync::Arc;
use sto_core::store::Snapshot;
use sto_core::trace::{CALLS_EVENT, CallThresholds, is_call_time};
use sto_core::tree::SliceCount;
use sto_core::units::SampleType;

/// Filter for the named runs, and the event to use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Filter {
    /// Benchmarks of the runs; `*` in a name stands for any text, and an empty name for runs without one. If there
    /// are no names, all runs must have the same benchmark.
    pub benchmarks: Vec<String>,
    /// Event; by default the one with most samples.
    pub event: Option<String>,
    /// Part of each run's time; by default all of it.
    pub window: Option<Window>,
}

/// Index in [`View::sample_types`] of the selected event.
pub const EVENT: usize = 0;

impl Sources {
    /// Returns the stacks denoted by a name, with their costs summed over all runs.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing has this name, or if it cannot be read.
    pub fn view(&self, named: &BuildRef, filter: &Filter) -> Result<Arc<View>, QueryError> {
        self.view_by_function(named, filter, true)
    }

    /// Like `view`; inlined functions count for those that they were compiled into unless `inlined` is set.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub(crate) fn view_by_function(
        &self,
        named: &BuildRef,
        filter: &Filter,
        inlined: bool,
    ) -> Result<Arc<View>, QueryError> {
        if let BuildRef::Labelled(runs) = named {
            return self.labelled_view(runs, filter, inlined).map(Arc::new);
        }
        let located = self.runs_of(named, filter, None)?;
        let cache = self.views.as_ref().filter(|_| located.is_stored);
        let profiles = located.selection.profiles.iter();
        let key = ViewKey {
            profiles: profiles.map(|stored| stored.id).collect(),
            event: filter.event.clone(),
            window: filter.window,
            inlined,
        };
        if let Some(kept) = cache.and_then(|cache| cache.get(&key)) {
            return Ok(kept);
        }
        let view = filter.load_sum(located)?;
        let view = Arc::new(if inlined {
            view
        } else {
            view.without_inlined()
        });
        if let Some(cache) = cache {
            cache.insert(key, &view);
        }
        Ok(view)
    }

    /// Returns the stacks denoted by a name, with the costs of each run.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub(crate) fn runs(&self, named: &BuildRef, filter: &Filter) -> Result<View, QueryError> {
        filter.load(self.runs_of(named, filter, None)?)
    }

    /// Like `runs`, together with the store; files are read with this number of slices.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub(crate) fn runs_and_store(
        &self,
        named: &BuildRef,
        filter: &Filter,
        slices: Option<SliceCount>,
    ) -> Result<(View, Snapshot), QueryError> {
        let located = self.runs_of(named, filter, slices)?;
        let store = located.store.clone();
        Ok((filter.load(located)?, store))
    }

    /// Returns the stacks of several names in the same event: the requested event, or the event of the first name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`], and an error if the names belong to several benchmarks.
    pub(crate) fn views(
        &self,
        named: &[BuildRef],
        filter: &Filter,
        inlined: bool,
    ) -> Result<Vec<Arc<View>>, QueryError> {
        let mut filter = filter.clone();
        let mut views = Vec::with_capacity(named.len());
        let each: Vec<Vec<BuildRef>> = named
            .iter()
            .map(|n| self.each(n))
            .collect::<Result<_, _>>()?;
        for named in each.iter().flatten() {
            let view = self.view_by_function(named, &filter, inlined)?;
            let first = view.sample_types.get(EVENT);
            filter.event = filter.event.or(first.map(|first| first.event.clone()));
            views.push(view);
        }
        if filter.benchmarks.is_empty() {
            check_one_benchmark(views.iter().map(|view| &view.selection))?;
        }
        Ok(views)
    }

    /// Returns the stacks of a baseline and a candidate with each run separately, in the requested event or one that
    /// both have, each with its store. The baseline may have a time window of its own. Files are read with this
    /// number of slices.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub(crate) fn pair_and_stores(
        &self,
        named: [&BuildRef; 2],
        filter: &Filter,
        against: Option<Window>,
        slices: Option<SliceCount>,
    ) -> Result<[(View, Snapshot); 2], QueryError> {
        let [baseline, candidate] = self.pair_of(named, filter, slices)?;
        let (old, new) = View::load_both(
            (&baseline.store, baseline.selection),
            (&candidate.store, candidate.selection),
        )?;
        let [old, new] = filter.keep_both([old, new])?;
        let old = restrict_to_window(old, &baseline.store, against.or(filter.window))?;
        let new = restrict_to_window(new, &candidate.store, filter.window)?;
        Ok([(old, baseline.store), (new, candidate.store)])
    }

    /// Returns the stacks denoted by a name, below one root for each thread or label.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`], and an error if threads or the label are unknown.
    pub(crate) fn view_with_roots(
        &self,
        named: &BuildRef,
        filter: &Filter,
        by: &RootsBy,
    ) -> Result<View, QueryError> {
        let located = self.runs_of(named, filter, CONTEXTS)?;
        let store = located.store.clone();
        let names = match located.selection.profiles.len() {
            1 => ThreadNames::NameAndId,
            _ => ThreadNames::Name,
        };
        Ok(filter.load(located)?.with_roots(&store, by, names)?)
    }

    /// Like `view_with_roots`, for a baseline and a candidate.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view_with_roots`].
    pub(crate) fn pair_with_roots(
        &self,
        named: [&BuildRef; 2],
        filter: &Filter,
        against: Option<Window>,
        by: &RootsBy,
    ) -> Result<[View; 2], QueryError> {
        let [baseline, candidate] = self.pair_of(named, filter, CONTEXTS)?;
        let stores = [baseline.store.clone(), candidate.store.clone()];
        let [baseline, candidate] = filter.keep_both([baseline.load()?, candidate.load()?])?;
        // Thread ids differ between the two, so only names are used.
        let below =
            |view: View, store, window| -> Result<View, QueryError> {
                Ok(restrict_to_window(view, store, window)?.with_roots(
                    store,
                    by,
                    ThreadNames::Name,
                )?)
            };
        Ok([
            below(baseline, &stores[0], against.or(filter.window))?,
            below(candidate, &stores[1], filter.window)?,
        ])
    }

    /// Returns the stacks denoted by a name, with their costs by thread and set of labels if every run has these.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub(crate) fn view_with_contexts(
        &self,
        named: &BuildRef,
        filter: &Filter,
    ) -> Result<(View, Option<ContextCosts>), QueryError> {
        if let BuildRef::Labelled(_) = named {
            return Ok((self.view(named, filter)?.as_ref().clone(), None));
        }
        let located = self.runs_of(named, filter, CONTEXTS)?;
        let store = located.store.clone();
        let view = filter.load_sum(located)?;
        let contexts = view.context_costs(&store)?;
        Ok((view, contexts))
    }

    /// Returns the stacks denoted by a name, with each run separately, and the store with threads and labels of
    /// samples.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub(crate) fn runs_with_contexts(
        &self,
        named: &BuildRef,
    ) -> Result<(View, Snapshot), QueryError> {
        let located = self.located(self.locate(named)?, CONTEXTS)?;
        let store = located.store.clone();
        Ok((located.load()?, store))
    }

    /// Returns the newest run denoted by a name over time, and the index of the requested sample type.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`], and an error if the run was stored without slices.
    pub fn run_over_time(
        &self,
        named: &BuildRef,
        filter: &Filter,
    ) -> Result<(RunOverTime, usize), QueryError> {
        let located = self.runs_of(named, filter, SLICES_OVER_TIME)?;
        let mut run = RunOverTime::load(&located.store, located.selection)?;
        let sample_type = match &filter.event {
            Some(event) => index_of_event(&run.view, event)?,
            None => EVENT,
        };
        if let Some(window) = filter.window {
            run = run.restrict(|run| part(run, window, sample_type))?;
        }
        Ok((run, sample_type))
    }

    /// Returns the newest run denoted by a name with the calls of its threads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`], and an error if the run is not a trace of calls.
    pub fn call_trace(&self, named: &BuildRef, filter: &Filter) -> Result<CallTrace, QueryError> {
        let located = self.runs_of(named, filter, None)?;
        Ok(CallTrace::load(&located.store, located.selection)?)
    }

    /// Like [`Sources::call_trace`], in the filter's time window, with calls compressed by these thresholds. A file
    /// that is not a trace of calls is read as in [`Sources::run_over_time`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::call_trace`], and an error if the individual calls of a stored run are needed
    /// but were not stored, or if there is no such window.
    pub(crate) fn call_trace_with_roots(
        &self,
        named: &BuildRef,
        filter: &Filter,
        thresholds: Option<CallThresholds>,
    ) -> Result<CallTrace, QueryError> {
        let reading = CallReading {
            // For a time window, every call is compressed again by these thresholds.
            thresholds: thresholds
                .filter(|_| filter.window.is_none())
                .unwrap_or_default(),
            keep: filter.window.is_some(),
            whole: true,
        };
        let run = self.called_run_read(named, filter, reading)?;
        Ok(match (filter.window, thresholds) {
            (Some(window), _) => run.restrict(window, thresholds)?,
            (None, Some(thresholds)) if run.is_stored => run.compressed(thresholds)?,
            _ => run,
        })
    }

    /// Like [`Sources::call_trace`], with every individual call if stored.
    pub(crate) fn call_trace_with_all_calls(
        &self,
        named: &BuildRef,
        filter: &Filter,
    ) -> Result<CallTrace, QueryError> {
        let reading = CallReading {
            keep: true,
            whole: true,
            ..CallReading::default()
        };
        let run = self.called_run_read(named, filter, reading)?;
        match filter.window {
            Some(window) => Ok(run.restrict(window, None)?),
            None => Ok(run),
        }
    }

    fn called_run_read(
        &self,
        named: &BuildRef,
        filter: &Filter,
        reading: CallReading,
    ) -> Result<CallTrace, QueryError> {
        let target = self.locate_runs(named, filter)?;
        let located = self.located_with_calls(target, SLICES_OVER_TIME, reading)?;
        let mut run = CallTrace::load(&located.store, located.selection)?;
        run.is_stored = located.is_stored;
        Ok(run)
    }

    /// Returns the stacks denoted by a name, and the cost of each line in each run. Time windows are ignored, because
    /// costs of lines are not stored over time.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::view`].
    pub fn view_with_lines(
        &self,
        named: &BuildRef,
        filter: &Filter,
    ) -> Result<(View, Vec<Lines>), QueryError> {
        let located = self.runs_of(named, filter, CONTEXTS)?;
        let view = filter.keep(View::load_sum(&located.store, located.selection)?)?;
        let lines = match view.sample_types.get(EVENT) {
            Some(event) => Lines::load_each(&located.store, &view.selection, &event.event)?,
            None => Vec::new(),
        };
        Ok((view, lines))
    }

    fn runs_of(
        &self,
        named: &BuildRef,
        filter: &Filter,
        slices: Option<SliceCount>,
    ) -> Result<LocatedProfiles, QueryError> {
        self.located(self.locate_runs(named, filter)?, filter.slices(slices))
    }

    fn pair_of(
        &self,
        [a, b]: [&BuildRef; 2],
        filter: &Filter,
        slices: Option<SliceCount>,
    ) -> Result<[LocatedProfiles; 2], QueryError> {
        if a == b {
            let both = self.runs_of(a, filter, slices)?;
            return Ok([both.clone(), both]);
        }
        let (a, b) =
            with_distinct_names(self.locate_runs(a, filter)?, self.locate_runs(b, filter)?);
        let slices = filter.slices(slices);
        Ok([self.located(a, slices)?, self.located(b, slices)?])
    }

    /// Restricts runs in the store to the filter's benchmarks; a file is a single run.
    fn locate_runs(&self, named: &BuildRef, filter: &Filter) -> Result<Target, QueryError> {
        Ok(match self.locate(named)? {
            Target::Stored(mut located) => {
                // Labels may select runs of several benchmarks.
                if !(matches!(named, BuildRef::Labelled(_)) && filter.benchmarks.is_empty()) {
                    located.selection = located.selection.with_benchmarks(&filter.benchmarks)?;
                }
                Target::Stored(located)
            }
            file => file,
        })
    }
}

impl Filter {
    /// Restricts a view to the requested event; by default, the event with most samples is the first.
    pub(super) fn keep(&self, view: View) -> Result<View, QueryError> {
        match &self.event {
            Some(event) => of_event(view, event),
            None => Ok(view),
        }
    }

    /// Returns the number of slices for reading files: enough for the time window, or otherwise `others`.
    fn slices(&self, others: Option<SliceCount>) -> Option<SliceCount> {
        self.window.and(SLICES_OVER_TIME).or(others)
    }

    /// Loads each run separately.
    fn load(&self, located: LocatedProfiles) -> Result<View, QueryError> {
        let store = located.store.clone();
        restrict_to_window(self.keep(located.load()?)?, &store, self.window)
    }

    /// Loads the runs, summed if possible, because that is faster.
    pub(super) fn load_sum(&self, located: LocatedProfiles) -> Result<View, QueryError> {
        match self.window {
            Some(_) => self.load(located),
            None => self.keep(View::load_sum(&located.store, located.selection)?),
        }
    }

    /// Like `keep`, for two views, by default in an event that both have.
    fn keep_both(&self, [a, b]: [View; 2]) -> Result<[View; 2], QueryError> {
        let shared = || shared_event(&a, &b).map(str::to_owned);
        match self.event.clone().or_else(shared) {
            Some(event) => Ok([
                select_event_to_compare(a, &event)?,
                select_event_to_compare(b, &event)?,
            ]),
            None => Ok([a, b]),
        }
    }
}

/// Returns the number of slices for reading files to get the values of `x`, which may be a label of samples.
pub(crate) fn slice_count_for(x: &str) -> Option<SliceCount> {
    match x {
        TIME => SLICES_OVER_TIME,
        _ => CONTEXTS,
    }
}

/// Restricts the runs to a time window.
pub(crate) fn restrict_to_window(
    view: View,
    store: &Snapshot,
    window: Option<Window>,
) -> Result<View, QueryError> {
    match window {
        None => Ok(view),
        Some(window) => view.restrict(store, |run| Ok(vec![part(run, window, EVENT)?])),
    }
}

/// Minimum number of parts of a window when two windows of the same run are compared, maximum number, and minimum
/// mean number of samples per part. The longer window has more parts of about the same length.
const PARTS: u64 = 6;
const MOST_PARTS: u64 = 24;
const SAMPLES: u64 = 100;

/// Restricts a baseline and a candidate to their time windows. If both are of the same single run, the windows are
/// divided into parts, whose variation determines the significance of a difference.
pub(crate) fn restrict_pair(
    views: [View; 2],
    stores: [&Snapshot; 2],
    windows: [Option<Window>; 2],
) -> Result<[View; 2], QueryError> {
    let [whole_old, whole_new] = views;
    let old = restrict_to_window(whole_old.clone(), stores[0], windows[0])?;
    let new = restrict_to_window(whole_new.clone(), stores[1], windows[1])?;
    let ([Some(window), Some(other)], [[_], [_]]) = (
        windows,
        [&old, &new].map(|view| &view.selection.profiles[..]),
    ) else {
        return Ok([old, new]);
    };
    if old.selection.profiles[0].id != new.selection.profiles[0].id {
        return Ok([old, new]);
    }
    let samples = |view: &View| {
        view.self_costs(EVENT)
            .iter()
            .map(|cost| cost.samples)
            .sum::<u64>()
    };
    let lengths = [&old, &new].map(|view| view.windows[0].length().0);
    let shorter = lengths[0].min(lengths[1]);
    let slices = [&old, &new].map(|view| view.windows[0].slice_count());
    let fewest = samples(&old).min(samples(&new)) / SAMPLES;
    let count = fewest.clamp(2, PARTS);
    let cut = |view: View, store, window, length: u64, slices: u64| {
        let count = (count * length / shorter).min(MOST_PARTS).min(slices) as u32;
        view.restrict(store, |run| -> Result<_, QueryError> {
            Ok(part(run, window, EVENT)?.split(count))
        })
    };
    Ok([
        cut(whole_old, stores[0], window, lengths[0], slices[0])?,
        cut(whole_new, stores[1], other, lengths[1], slices[1])?,
    ])
}

/// Converts a window to a part of a run's time; phases are found in this sample type.
fn part(run: &WholeRun, window: Window, sample_type: usize) -> Result<RunWindow, WindowError> {
    match window {
        Window::Time { from, to } => run.between(from, to),
        Window::Rest { from, to } => run.complement(from, to),
        Window::Phase(phase) => {
            let costs = run.slices.costs.get(sample_type).into_iter().flatten();
            let found = phases::borders(&CostOverTime {
                tree: &run.view.tree,
                grid: run.slices.grid,
                samples: costs
                    .map(|cost| (cost.slice.0, cost.node, cost.cost.samples))
                    .collect(),
            });
            run.phase(phase, &found.slices)
        }
    }
}

/// Returns a view with only one event.
fn of_event(view: View, event: &str) -> Result<View, QueryError> {
    let ix = index_of_event(&view, event)?;
    Ok(of_columns(view, &[ix]))
}

/// Returns a view with one event for a comparison; the time of calls is compared together with the number of calls.
pub(crate) fn select_event_to_compare(view: View, event: &str) -> Result<View, QueryError> {
    let ix = index_of_event(&view, event)?;
    let types = &view.sample_types;
    let calls = if is_call_time(&types[ix], types) {
        types.iter().position(|known| known.event == CALLS_EVENT)
    } else {
        None
    };
    let columns: Vec<usize> = [Some(ix), calls].into_iter().flatten().collect();
    Ok(of_columns(view, &columns))
}

fn of_columns(mut view: View, columns: &[usize]) -> View {
    view.sample_types = columns
        .iter()
        .map(|&ix| view.sample_types[ix].clone())
        .collect();
    for run in &mut view.runs {
        *run = columns.iter().map(|&ix| take(&mut run[ix])).collect();
    }
    view
}

fn index_of_event(view: &View, event: &str) -> Result<usize, QueryError> {
    SampleType::index_of_event(event, &view.sample_types).ok_or_else(|| QueryError::UnknownEvent {
        build: full_name(&view.selection.build),
        event: event.to_owned(),
        known: view
            .sample_types
            .iter()
            .map(|known| known.event.clone())
            .collect(),
    })
}
