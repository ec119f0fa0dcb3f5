//! The label sets of runs.

use crate::answer::Answer;
use crate::select::{SERVICE_NAME, VERSION, run_label};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{Build, Profile};
use sto_core::store::StoredBuild;
use sto_core::units::SampleType;

/// The distinct label sets of runs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LabelSets {
    /// The sets, in ascending order.
    pub sets: Vec<LabelSet>,
}

impl Answer for LabelSets {
    const SCHEMA: &'static str = "sto.label-sets/1";
}

/// The runs that have the same labels.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LabelSet {
    /// Their labels, with `service_name` and `version`.
    pub labels: BTreeMap<String, String>,
    /// The events that any of them measured, in ascending order.
    pub events: Vec<SampleType>,
    /// Number of runs.
    pub runs: usize,
}

/// Lists the label sets of runs.
pub(crate) fn label_sets(builds: &[StoredBuild]) -> LabelSets {
    let mut sets: BTreeMap<BTreeMap<String, String>, (BTreeSet<&SampleType>, usize)> =
        BTreeMap::new();
    for build in builds {
        for stored in &build.profiles {
            let labels = all_labels(&build.build, &stored.profile);
            let (events, runs) = sets.entry(labels).or_default();
            events.extend(&stored.profile.sample_types);
            *runs += 1;
        }
    }
    let sets = sets.into_iter().map(|(labels, (events, runs))| LabelSet {
        labels,
        events: events.into_iter().cloned().collect(),
        runs,
    });
    LabelSets {
        sets: sets.collect(),
    }
}

/// Returns all labels of a run that are not empty.
fn all_labels(build: &Build, profile: &Profile) -> BTreeMap<String, String> {
    let own = profile.labels.keys().map(String::as_str);
    let names = own.chain([SERVICE_NAME, VERSION, "benchmark", "host"]);
    let labels = names.map(|name| (name.to_owned(), run_label(build, profile, name).to_owned()));
    labels.filter(|(_, value)| !value.is_empty()).collect()
}
