//! The cost of runs over the time of day.

use crate::answer::Answer;
use crate::select::run_label;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::id::ExecutableId;
use sto_core::store::{Snapshot, StoreError, StoredBuild, StoredProfile};
use sto_core::tree::total_cost;
use sto_core::units::{Cost, SampleType, UnixSeconds};
use sto_core::{CancelToken, store};

/// The cost of runs over the time of day, added up by labels.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostOverTime {
    /// The measured event; `None` without any.
    pub sample_type: Option<SampleType>,
    /// The length of a step in seconds. Steps begin at its multiples since 1970.
    pub step: u64,
    /// The costs for each set of labels, in ascending order of their values.
    pub series: Vec<LabelledCosts>,
}

impl Answer for CostOverTime {
    const SCHEMA: &'static str = "sto.cost-over-time/1";
}

/// The costs of the runs that have the same labels.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LabelledCosts {
    /// The labels by which costs are added up.
    pub labels: BTreeMap<String, String>,
    /// The steps with a cost, oldest first.
    pub points: Vec<CostPoint>,
}

/// The cost of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostPoint {
    /// The time at which the step begins.
    pub time: UnixSeconds,
    /// The cost of the whole step.
    #[serde(flatten)]
    pub cost: Cost,
}

/// Adds up the costs of runs in one sample type by step and by the values of these labels. A cost counts for the step
/// in which its slice of the run begins; runs without slices count for the one in which they begin.
pub(crate) fn cost_over_time(
    store: &Snapshot,
    builds: &[StoredBuild],
    sample_type: &SampleType,
    (step, group_by): (u64, &[String]),
    cancel: &CancelToken,
) -> Result<CostOverTime, StoreError> {
    let of_build = |build| move |run| (build, run);
    let runs: Vec<(&StoredBuild, &StoredProfile)> = builds
        .iter()
        .flat_map(|build| build.profiles.iter().map(of_build(build)))
        .collect();
    let costs = runs.par_iter().map(|&(build, run)| {
        cancel.check()?;
        costs_of(store, build, run, sample_type)
    });
    let costs: Vec<Vec<(u64, Cost)>> = costs.collect::<Result<_, StoreError>>()?;
    let mut series: BTreeMap<Vec<&str>, BTreeMap<u64, Cost>> = BTreeMap::new();
    for ((build, run), costs) in runs.into_iter().zip(costs) {
        let labels = group_by.iter();
        let labels = labels.map(|name| run_label(&build.build, &run.profile, name));
        let points = series.entry(labels.collect()).or_default();
        for (time, cost) in costs {
            *points.entry(time - time % step).or_default() += cost;
        }
    }
    let series = series.into_iter().map(|(values, points)| LabelledCosts {
        labels: group_by
            .iter()
            .zip(values)
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.clone(), value.to_owned()))
            .collect(),
        points: points
            .into_iter()
            .map(|(time, cost)| CostPoint {
                time: UnixSeconds(time),
                cost,
            })
            .collect(),
    });
    Ok(CostOverTime {
        sample_type: Some(sample_type.clone()),
        step,
        series: series.collect(),
    })
}

/// Returns the costs of a run, each with the second in which its slice begins.
fn costs_of(
    store: &Snapshot,
    build: &StoredBuild,
    run: &StoredProfile,
    sample_type: &SampleType,
) -> Result<Vec<(u64, Cost)>, StoreError> {
    let types = &run.profile.sample_types;
    let (Some(begin), Some(column)) = (run.profile.origin.recorded, sample_type.index_in(types))
    else {
        return Ok(Vec::new());
    };
    let Some(store::LoadedSlices { slices, .. }) = store.load_slices(run.id)? else {
        let executable = ExecutableId::from_name(&build.build.executable);
        let loaded = store.load(executable, &[run.id])?;
        return Ok(vec![(begin.0, total_cost(&loaded.costs[0][column]))]);
    };
    let mut by_slice = vec![Cost::ZERO; slices.grid.count().get() as usize];
    for cost in slices.costs[column].iter() {
        by_slice[cost.slice.get()] += cost.cost;
    }
    let seconds = |slice| slices.grid.slice_start(slice).0 / 1_000_000_000;
    let costs = (0..).zip(by_slice).filter(|(_, cost)| !cost.is_zero());
    Ok(costs
        .map(|(slice, cost)| (begin.0.saturating_add(seconds(slice)), cost))
        .collect())
}
