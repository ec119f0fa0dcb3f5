//! What is compared: the event that both sides measured, and the runs that have samples of it.

use super::evidence::rounded;
use super::pair::Pair;
use super::report::Side;
use crate::report::rfc3339;
use crate::tree::View;
use std::collections::BTreeSet;
use sto_core::intern::SelfCosts;
use sto_core::model::{Profile, Quality};
use sto_core::units::{Cost, SampleType};

/// Of the sample types that both sides have, the one with most samples on the smaller side, and the
/// runs that have it.
pub(super) fn shared<'a>(views: Pair<&'a View>) -> Option<(&'a SampleType, Pair<Runs<'a>>)> {
    let candidate = &views.candidate.sample_types;
    let types = views.baseline.sample_types.iter();
    let shared = types.filter(|t| candidate.contains(t));
    let shared = shared.map(|t| (t, views.map(|view| Runs::of(view, t))));
    // Of equals, the last is taken: so the order is turned round.
    shared.rev().max_by_key(|(_, runs)| {
        let samples = runs.as_ref().map(|runs| runs.cost.samples);
        samples.baseline.min(samples.candidate)
    })
}

/// The runs of one side.
pub(super) struct Runs<'a> {
    /// Self costs of each run that has samples.
    pub(super) costs: Vec<&'a SelfCosts>,
    /// What one sample stands for in each of them, in the event's unit.
    pub(super) periods: Vec<f64>,
    /// What all of them cost.
    pub(super) cost: Cost,
}

impl<'a> Runs<'a> {
    pub(super) fn of(view: &'a View, sample_type: &SampleType) -> Runs<'a> {
        let mut runs = Runs {
            costs: Vec::new(),
            periods: Vec::new(),
            cost: Cost::ZERO,
        };
        let column = view.sample_types.iter().position(|t| t == sample_type);
        for run in &view.runs {
            let costs = column.and_then(|column| run.get(column));
            let cost: Cost = costs.into_iter().flatten().map(|&(_, cost)| cost).sum();
            if let Some(costs) = costs
                && cost.samples > 0
            {
                runs.costs.push(costs);
                // A period of 0 is no period; samples are then taken as alike.
                runs.periods
                    .push((cost.value as f64 / cost.samples as f64).max(1.0));
                runs.cost += cost;
            }
        }
        runs
    }
}

/// Describes a side; `runs` is `None` where it has no event that the other has.
pub(super) fn side(view: &View, runs: Option<&Runs>) -> Side {
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
        runs: runs.map_or(0, |runs| runs.costs.len()),
        samples: cost.samples,
        value: cost.value,
        hosts: hosts.into_iter().map(str::to_owned).collect(),
        first_recorded: recorded().min().map(rfc3339),
        last_recorded: recorded().max().map(rfc3339),
        unresolved_share: share(unresolved, samples),
        truncated_share: share(truncated, samples),
        lost_share: share(lost, samples.saturating_add(lost)),
    }
}

pub(super) fn profiles(view: &View) -> impl Iterator<Item = &Profile> {
    view.selection.profiles.iter().map(|stored| &stored.profile)
}

/// The quality of all runs together, over all events.
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

/// Nothing of nothing is nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        rounded(part as f64 / whole as f64)
    }
}
