//! The mean of several profiles, as a profile.
//!
//! See [the manual](crate::manual::average).

use crate::answer::Answer;
use crate::functions::KeyOptions;
use crate::select::{SelectError, Selection, check_one_benchmark, main_modules};
use crate::text::printable;
use crate::tree::KeyedStacks;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::{ExecutableId, ProfileId, RecordingHasher};
use sto_core::model::{Build, ModuleRef, Origin, Profile, Quality};
use sto_core::store::{Added, Snapshot, StoreError, StoredProfile};
use sto_core::tree::{NodeIx, ProfileData, SelfCosts};
use sto_core::units::{Bytes, Cost, SampleType};

/// The mean of several profiles, ready for [`Writer::add`](sto_core::store::Writer::add).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Average {
    /// Build of the average.
    pub build: Build,
    /// The profile without stacks and counts.
    pub profile: Profile,
    /// Stacks and counts.
    pub interned: ProfileData,
    /// Number of averaged profiles.
    pub of: usize,
    /// Mean number of samples in all events, not rounded.
    pub samples: f64,
}

/// Error of averaging profiles.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AverageError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A selector denotes nothing.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The list of profiles is empty.
    #[error("an average needs at least one profile")]
    Nothing,
    /// The profiles are of several programs.
    #[error("an average needs profiles of one program, but these are of `{}` and `{}`", printable(.a), printable(.b))]
    SeveralPrograms {
        /// One program.
        a: String,
        /// Another program.
        b: String,
    },
}

/// Averages the profiles of some selections, each counted once, as a profile of a build with this version.
///
/// A profile without a sample type does not count for its mean. Means are rounded so that the total of every stack is
/// off by less than one: in the order of the tree, each cumulative sum is rounded, and a node gets the difference to
/// the one before. Rounding each node separately would lose the stacks that occur in few runs, which together are a
/// large part of most profiles.
///
/// Functions that `matching` treats as equal are merged and named by their keys; otherwise, the mean of several
/// builds would have a function once for each of its spellings. All files of the program get its name.
///
/// Labels and benchmark are kept if all profiles agree on them, and metrics as their mean if all profiles have them.
/// Costs by line and by slice of time are left out.
///
/// # Errors
///
/// Returns an error if there is no selection, if the store cannot be read, or if the profiles are of several programs
/// or benchmarks.
pub fn average(
    store: &Snapshot,
    selections: &[Selection],
    version: &str,
    matching: KeyOptions,
) -> Result<Average, AverageError> {
    check_one_benchmark(selections)?;
    let Some(first) = selections.first() else {
        return Err(AverageError::Nothing);
    };
    let executable = &first.build.executable;
    let names = selections
        .iter()
        .map(|selection| &selection.build.executable);
    if let Some(other) = names.into_iter().find(|name| *name != executable) {
        return Err(AverageError::SeveralPrograms {
            a: executable.clone(),
            b: other.clone(),
        });
    }
    let profiles = selections.iter().flat_map(|selection| &selection.profiles);
    let profiles: BTreeMap<ProfileId, &StoredProfile> =
        profiles.map(|stored| (stored.id, stored)).collect();
    let ids: Vec<ProfileId> = profiles.keys().copied().collect();
    let loaded = store.load(ExecutableId::from_name(executable), &ids)?;
    let main: BTreeSet<&str> = selections
        .iter()
        .flat_map(|selection| main_modules(&selection.build, &selection.profiles))
        .collect();
    let matched = KeyedStacks::new(
        (&loaded.frames, &loaded.tree),
        (&main, executable),
        matching,
    );

    let types = profiles.values();
    let types = types.map(|stored| &stored.profile.sample_types[..]);
    let (sample_types, of_runs) = SampleType::choose_columns(types);
    let mut by_type: BTreeMap<&SampleType, Vec<SelfCosts>> = BTreeMap::new();
    for (of_run, columns) in of_runs.iter().zip(loaded.costs) {
        for (&ix, column) in of_run.iter().zip(columns) {
            let columns = by_type.entry(&sample_types[ix]).or_default();
            columns.push(matched.costs(&column));
        }
    }
    let build = Build {
        executable: executable.clone(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let (types, columns): (Vec<_>, Vec<_>) = by_type.into_iter().unzip();
    let interned = ProfileData {
        costs: columns
            .iter()
            .map(|columns| mean(columns, matched.tree.len()))
            .collect(),
        line_costs: vec![Vec::new(); columns.len()],
        slices: None,
        metrics: None,
        calls: None,
        kept_calls: None,
        source_digests: Default::default(),
        addresses: None,
        frames: matched.frames,
        tree: matched.tree,
    };
    let profiles: Vec<&StoredProfile> = profiles.into_values().collect();
    let profile = Profile {
        sample_types: types.into_iter().cloned().collect(),
        ..described(&build, &profiles)
    };
    Ok(Average {
        of: profiles.len(),
        samples: columns.iter().map(|columns| mean_samples(columns)).sum(),
        build,
        profile,
        interned,
    })
}

/// Returns the mean number of samples of a column.
fn mean_samples(columns: &[SelfCosts]) -> f64 {
    let costs = columns.iter().flatten();
    let sum: u64 = costs.map(|(_, cost)| cost.samples).sum();
    sum as f64 / columns.len() as f64
}

/// Returns the mean cost of each node over columns of a tree with this number of nodes.
fn mean(columns: &[SelfCosts], nodes: usize) -> SelfCosts {
    let mut sums: Vec<(u128, u128)> = vec![(0, 0); nodes];
    for (node, cost) in columns.iter().flatten() {
        let sum = &mut sums[node.get()];
        sum.0 += u128::from(cost.samples);
        sum.1 += u128::from(cost.value);
    }
    let count = columns.len() as u128;
    let rounded = |sum: u128| (2 * sum + count) / (2 * count);
    let (mut samples, mut value) = (0, 0);
    let mut mean = SelfCosts::new();
    for (node, sum) in (0..).map(NodeIx).zip(sums) {
        let part = |before: u128, sum: u128| {
            let part = rounded(before + sum) - rounded(before);
            u64::try_from(part).expect("a mean of numbers below 2^64, rounded")
        };
        let cost = Cost {
            samples: part(samples, sum.0),
            value: part(value, sum.1),
        };
        samples += sum.0;
        value += sum.1;
        if !cost.is_zero() {
            mean.push((node, cost));
        }
    }
    mean
}

/// Returns the average's profile without its sample types.
fn described(build: &Build, profiles: &[&StoredProfile]) -> Profile {
    let mut source = RecordingHasher::new();
    for stored in profiles {
        source.update(&stored.id.0);
    }
    let of = || profiles.iter().map(|stored| &stored.profile);
    let modules: BTreeSet<&ModuleRef> = of().flat_map(|profile| profile.modules.iter()).collect();
    let first = &profiles[0].profile;
    let count = profiles.len() as u64;
    let mean = |number: fn(&Quality) -> u64| {
        let sum: u128 = of()
            .map(|profile| u128::from(number(&profile.quality)))
            .sum();
        (sum / u128::from(count)) as u64
    };
    let labels = first.labels.iter();
    let agreed = labels.filter(|(key, value)| of().all(|p| p.labels.get(*key) == Some(value)));
    let metrics = first.metrics.keys().filter_map(|name| {
        let values: Option<Vec<f64>> = of().map(|p| p.metrics.get(name).copied()).collect();
        Some((name.clone(), values?.iter().sum::<f64>() / count as f64))
    });
    Profile {
        build: build.id(),
        source: source.finish(),
        source_bytes: Bytes(0),
        format: Profile::AVERAGE.to_owned(),
        origin: Origin {
            recorded: of().filter_map(|profile| profile.origin.recorded).max(),
            ..Origin::default()
        },
        quality: Quality {
            samples: mean(|quality| quality.samples),
            unresolved: mean(|quality| quality.unresolved),
            truncated: mean(|quality| quality.truncated),
            without_stack: mean(|quality| quality.without_stack),
            lost: mean(|quality| quality.lost),
        },
        granularity: first.granularity,
        sample_types: Vec::new(),
        modules: modules.into_iter().cloned().collect(),
        benchmark: first
            .benchmark
            .clone()
            .filter(|name| of().all(|profile| profile.benchmark.as_ref() == Some(name))),
        labels: agreed
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        metrics: metrics.collect(),
    }
}

/// Result of storing an average.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StoredAverage {
    /// The program.
    pub executable: String,
    /// Version of the average's build.
    pub build: String,
    /// Id of the average's profile.
    pub profile: String,
    /// Number of averaged profiles.
    pub of: usize,
    /// Mean number of samples in all events. The stored numbers are rounded, so that the total of each stack is off by less
    /// than one.
    pub samples: f64,
    /// Number of stacks.
    pub nodes: usize,
    /// Whether the same average was already in the store.
    pub already_stored: bool,
}

impl Answer for StoredAverage {
    const SCHEMA: &'static str = "sto.average/1";
}

impl StoredAverage {
    /// Describes an average that was stored.
    pub(crate) fn new(average: &Average, added: &Added) -> Self {
        StoredAverage {
            executable: average.build.executable.clone(),
            build: average.build.version.clone(),
            profile: added.id().to_string(),
            of: average.of,
            samples: average.samples,
            nodes: average.interned.tree.len(),
            already_stored: !added.is_new(),
        }
    }
}
