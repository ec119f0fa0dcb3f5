//! Runs of any number of builds, by labels and time.

use super::{Filter, LocatedProfiles, Sources};
use crate::QueryError;
use crate::select::{LabelledRuns, SelectError, Selection, is_of_benchmark, select_together};
use crate::tree::View;
use sto_core::store::{StoredBuild, StoredProfile};
use sto_core::units::SampleType;

impl Sources {
    /// Returns the builds with the runs that labels and time select: at least one.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or no run is selected.
    pub(crate) fn labelled(&self, runs: &LabelledRuns) -> Result<Vec<StoredBuild>, QueryError> {
        let builds = runs.choose(self.store()?.builds()?);
        if builds.is_empty() {
            return Err(none(runs).into());
        }
        Ok(builds)
    }

    /// Returns the selected runs, which must be of one program.
    pub(super) fn runs_of_program(
        &self,
        runs: &LabelledRuns,
    ) -> Result<LocatedProfiles, QueryError> {
        let store = self.store()?;
        Ok(LocatedProfiles {
            selection: select_labelled(runs, store.builds()?)?,
            store: store.clone(),
            is_stored: true,
        })
    }

    /// Returns the builds with the selected runs that measured an event of the filter, by default the one that the newest
    /// run shows, and its sample type.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or no such run is selected.
    pub(crate) fn labelled_in_event(
        &self,
        runs: &LabelledRuns,
        filter: &Filter,
    ) -> Result<(Vec<StoredBuild>, SampleType), QueryError> {
        let mut builds = self.labelled(runs)?;
        if !filter.benchmarks.is_empty() {
            keep_runs(&mut builds, |run| is_of_benchmark(&filter.benchmarks, run));
        }
        let sample_type = sample_type(&builds, filter).ok_or_else(|| none(runs))?;
        keep_runs(&mut builds, |run| measures(run, &sample_type));
        Ok((builds, sample_type))
    }

    /// Returns the summed stacks of the selected runs, of any number of programs, in the part of the time that is
    /// selected. With a window of each run, whole runs are selected.
    pub(super) fn labelled_view(
        &self,
        runs: &LabelledRuns,
        filter: &Filter,
        inlined: bool,
    ) -> Result<View, QueryError> {
        let store = self.store()?;
        let (builds, sample_type) = self.labelled_in_event(runs, filter)?;
        let filter = Filter {
            event: Some(sample_type.event),
            ..filter.clone()
        };
        let mut parts = Vec::new();
        for StoredBuild {
            build, profiles, ..
        } in &builds
        {
            self.context().cancel.check()?;
            let is_whole = |run: &&StoredProfile| filter.window.is_some() || runs.contains(run);
            let (whole, cut): (Vec<_>, Vec<_>) = profiles.iter().partition(is_whole);
            let select = |runs: Vec<&StoredProfile>| {
                Selection::new(build.clone(), runs.into_iter().cloned().collect())
            };
            if !whole.is_empty() {
                parts.push(filter.load_sum(LocatedProfiles {
                    selection: select(whole),
                    store: store.clone(),
                    is_stored: true,
                })?);
            }
            if !cut.is_empty() {
                let mut view = filter.keep(View::load(store, select(cut))?)?;
                let part = |run: &StoredProfile| runs.part_of(&run.profile);
                view.runs = vec![view.costs_between(store, part)?];
                parts.push(view);
            }
        }
        let sum = View::sum(&parts, select_together(builds));
        Ok(if inlined { sum } else { sum.without_inlined() })
    }
}

/// Returns the runs that labels and time select, which must be of one program.
pub(crate) fn select_labelled(
    runs: &LabelledRuns,
    builds: Vec<StoredBuild>,
) -> Result<Selection, QueryError> {
    let builds = runs.choose(builds);
    let mut programs: Vec<String> = builds.iter().map(|b| b.build.executable.clone()).collect();
    programs.dedup();
    match programs.len() {
        0 => Err(none(runs).into()),
        1 => Ok(select_together(builds)),
        _ => Err(SelectError::LabelledPrograms {
            labels: runs.labels.to_string(),
            programs,
        }
        .into()),
    }
}

/// Returns the sample type to sum up: the filter's, or else the default of the newest run.
fn sample_type(builds: &[StoredBuild], filter: &Filter) -> Option<SampleType> {
    let runs = builds.iter().flat_map(|build| &build.profiles);
    let of_run = |run: &StoredProfile| {
        let types = &run.profile.sample_types;
        let ix = match &filter.event {
            Some(event) => SampleType::index_of_event(event, types)?,
            None => 0,
        };
        Some((run.profile.origin.recorded, types.get(ix)?.clone()))
    };
    let newest = runs
        .filter_map(of_run)
        .max_by_key(|(recorded, _)| *recorded);
    newest.map(|(_, sample_type)| sample_type)
}

fn measures(run: &StoredProfile, sample_type: &SampleType) -> bool {
    let types = &run.profile.sample_types;
    let ix = SampleType::index_of_event(&sample_type.event, types);
    ix.is_some_and(|ix| types[ix].unit == sample_type.unit)
}

fn keep_runs(builds: &mut Vec<StoredBuild>, is_kept: impl Fn(&StoredProfile) -> bool) {
    for build in builds.iter_mut() {
        build.profiles.retain(&is_kept);
    }
    builds.retain(|build| !build.profiles.is_empty());
}

fn none(runs: &LabelledRuns) -> SelectError {
    SelectError::NoLabelledRun {
        labels: runs.labels.to_string(),
        is_in_time: runs.since.is_some() || runs.until.is_some(),
    }
}
