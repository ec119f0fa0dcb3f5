//! What is known of a profile: where it is from, and how much of it can be trusted.

use crate::answer::Answer;
use crate::listing::{ProfileSummary, profile_report};
use crate::tree::View;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::ProfileId;
use sto_core::model::{Build, FrameKind, GnuBuildId, MetricKind, Profile};
use sto_core::store::{Snapshot, StoreError, StoredProfile};
use sto_core::trace::ThreadCalls;
use sto_core::tree::{SelfCosts, label_sets, total};
use sto_core::units::{Bytes, Cost};
use sto_core::{Format, Hint};

/// The profiles of a selection.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShownBuild {
    /// The build.
    #[serde(flatten)]
    pub build: Build,
    /// Its profiles, oldest recording first.
    pub profiles: Vec<ShownProfile>,
}

impl Answer for ShownBuild {
    const SCHEMA: &'static str = "sto.show/1";
}

/// What is known of a profile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShownProfile {
    /// The profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
    /// Packed size of its own: its counts and record. Frames and stacks belong to all profiles.
    pub own_bytes: u64,
    /// The store that it was merged from; JSON leaves it out where its recording was read here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<String>,
    /// The profiles in whose place it stands since names of its functions were found, in order; JSON leaves it out
    /// where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<ProfileId>,
    /// Where and how it was recorded.
    pub origin: ShownOrigin,
    /// What the samples of each of its events cost together.
    pub event_totals: Vec<Cost>,
    /// The keys of its samples' labels, in order, where they are kept with slices of time.
    pub sample_labels: Vec<SampleLabelKey>,
    /// Its metrics over time, by name; JSON leaves it out where it has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics_over_time: Vec<MetricOverTime>,
    /// Its calls over time; JSON leaves it out where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_over_time: Option<CallsOverTime>,
    /// Samples whose innermost frame has no symbol.
    pub unresolved_samples: u64,
    /// Samples whose stack was cut before its root.
    pub truncated_samples: u64,
    /// Samples with no more than the instruction pointer.
    pub samples_without_stack: u64,
    /// Events that were dropped while recording.
    pub lost_events: u64,
    /// Where the samples without a symbol are: most samples first, equals by name.
    pub unresolved: Vec<UnresolvedModule>,
}

/// The calls of a profile over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallsOverTime {
    /// Number of threads that called anything.
    pub threads: usize,
    /// Number of calls.
    pub calls: u64,
    /// Number of records that they were compressed to.
    pub records: usize,
    /// Every one of them; JSON leaves it out where they were not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<AllCalls>,
}

/// Every call of a profile, as a graph of equal subtrees of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AllCalls {
    /// Number of calls.
    pub calls: u64,
    /// Number of nodes of the graph.
    pub nodes: u64,
    /// Packed size.
    pub bytes: u64,
}

/// Where and how a profile was recorded, as far as it is known.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShownOrigin {
    /// Time between the first sample and the last, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// Host name.
    pub host: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Machine architecture.
    pub arch: Option<String>,
    /// CPU description.
    pub cpu: Option<String>,
    /// Command line of the recording tool.
    pub command: Option<String>,
}

/// The labels of one key that samples of a profile have.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SampleLabelKey {
    /// The key.
    pub key: String,
    /// Number of distinct values.
    pub values: usize,
}

/// A metric over time of a profile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MetricOverTime {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: MetricKind,
    /// Number of its values.
    pub values: usize,
    /// The least of them; of a count the first one, which is 0 as counting begins there, is none.
    pub least: Option<f64>,
    /// The largest of them.
    pub most: Option<f64>,
}

/// Samples without a symbol in one module.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnresolvedModule {
    /// The module; empty where the address is in none.
    pub module: String,
    /// Its GNU build id, in hexadecimal.
    pub build_id: Option<String>,
    /// Number of samples.
    pub samples: u64,
    /// What would help.
    pub advice: String,
    /// The same, for the program that shows it to name.
    #[serde(skip)]
    pub hint: Option<Hint>,
}

/// What is known of a selection's profiles, which `store` has.
///
/// # Errors
/// Where `store` does not have a profile, or is damaged.
pub(crate) fn show(view: &View, store: &Snapshot) -> Result<ShownBuild, StoreError> {
    let profiles = view.selection.profiles.iter().zip(&view.runs);
    let replaced = store.replaced()?;
    Ok(ShownBuild {
        build: view.selection.build.clone(),
        profiles: profiles
            .map(|(stored, run)| {
                let from = store.reading(stored.profile.reading())?;
                let merged_from = from.and_then(|(_, from)| from.store().map(str::to_owned));
                Ok(ShownProfile {
                    merged_from,
                    replaces: replaced
                        .iter()
                        .filter(|&(_, by)| *by == stored.id)
                        .map(|(&gone, _)| gone)
                        .collect(),
                    sample_labels: sample_labels(store, stored)?,
                    metrics_over_time: metrics_over_time(store, stored)?,
                    calls_over_time: calls_over_time(store, stored)?,
                    ..shown(view, stored, run)
                })
            })
            .collect::<Result<_, StoreError>>()?,
    })
}

fn sample_labels(
    store: &Snapshot,
    stored: &StoredProfile,
) -> Result<Vec<SampleLabelKey>, StoreError> {
    if stored.slices == Bytes(0) {
        return Ok(Vec::new());
    }
    let contexts = store.load_contexts(stored.id)?.unwrap_or_default();
    let mut values: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
    for label in label_sets(&contexts).flatten() {
        values.entry(&label.key).or_default().insert(label.text());
    }
    let reports = values.into_iter().map(|(key, values)| SampleLabelKey {
        key: key.to_owned(),
        values: values.len(),
    });
    Ok(reports.collect())
}

fn metrics_over_time(
    store: &Snapshot,
    stored: &StoredProfile,
) -> Result<Vec<MetricOverTime>, StoreError> {
    let run = store.load_metrics(stored.id)?;
    let series = run.into_iter().flat_map(|run| run.series);
    let metrics = series.map(|series| {
        let begin = usize::from(series.kind() == MetricKind::Count);
        let values = series.values().get(begin..).unwrap_or_default();
        MetricOverTime {
            name: series.name().to_owned(),
            kind: series.kind(),
            values: values.len(),
            least: values.iter().copied().reduce(f64::min),
            most: values.iter().copied().reduce(f64::max),
        }
    });
    Ok(metrics.collect())
}

fn calls_over_time(
    store: &Snapshot,
    stored: &StoredProfile,
) -> Result<Option<CallsOverTime>, StoreError> {
    let Some(loaded) = store.load_calls(stored.id)? else {
        return Ok(None);
    };
    let kept = store.kept_calls(stored.id)?;
    let kept = kept.map(|kept| kept.size()).transpose()?;
    let threads = loaded.calls.threads.iter();
    Ok(Some(CallsOverTime {
        threads: threads.len(),
        calls: threads.clone().map(|thread| thread.calls).sum(),
        records: threads.map(ThreadCalls::record_count).sum(),
        kept: kept.map(|kept| AllCalls {
            calls: kept.calls,
            nodes: kept.nodes,
            bytes: kept.bytes.0,
        }),
    }))
}

/// What is known from its record and its stacks.
fn shown(view: &View, stored: &StoredProfile, costs: &[SelfCosts]) -> ShownProfile {
    let profile = &stored.profile;
    let mut by_module: BTreeMap<&str, u64> = BTreeMap::new();
    for &(node, cost) in costs.iter().flatten() {
        let frame = view.frames.frame(view.tree.frame(node));
        if frame.kind == FrameKind::Unresolved {
            let sum = by_module.entry(frame.module).or_default();
            *sum = sum.saturating_add(cost.samples);
        }
    }
    let mut unresolved: Vec<UnresolvedModule> = by_module
        .into_iter()
        .map(|(module, samples)| unresolved_report(module, samples, profile))
        .collect();
    unresolved.sort_by_key(|found| std::cmp::Reverse(found.samples));
    let (quality, origin) = (profile.quality, profile.origin.clone());
    let event_totals = profile.sample_types.iter().map(|sample_type| {
        let column = view.sample_types.iter().position(|t| t == sample_type);
        column.map_or(Cost::ZERO, |column| total(&costs[column]))
    });
    ShownProfile {
        profile: profile_report(stored.id, profile),
        own_bytes: stored.stored.0,
        origin: ShownOrigin {
            duration_ns: origin.duration.map(|duration| duration.0),
            host: origin.host,
            kernel: origin.kernel,
            arch: origin.arch,
            cpu: origin.cpu,
            command: origin.command,
        },
        event_totals: event_totals.collect(),
        sample_labels: Vec::new(),
        metrics_over_time: Vec::new(),
        calls_over_time: None,
        merged_from: None,
        replaces: Vec::new(),
        unresolved_samples: quality.unresolved,
        truncated_samples: quality.truncated,
        samples_without_stack: quality.without_stack,
        lost_events: quality.lost,
        unresolved,
    }
}

fn unresolved_report(module: &str, samples: u64, profile: &Profile) -> UnresolvedModule {
    let known = profile.modules.iter().find(|known| known.name == module);
    let build_id = known.and_then(|known| known.build_id.as_ref());
    let by_perf = [Format::PerfData, Format::PerfScript]
        .iter()
        .any(|format| format.name() == profile.format);
    UnresolvedModule {
        module: module.to_owned(),
        build_id: build_id.map(GnuBuildId::to_string),
        samples,
        hint: build_id.map(|_| Hint::SymbolFolder),
        advice: advice(module, build_id, by_perf),
    }
}

/// What would give the functions of a module their names.
fn advice(module: &str, build_id: Option<&GnuBuildId>, by_perf: bool) -> String {
    let is_library = module.contains(".so.") || module.ends_with(".so");
    match (module, build_id) {
        ("", _) if !by_perf => "the profiler had no name for these".to_owned(),
        ("", _) => "no file covers these addresses; build with frame pointers, or record with \
                    --call-graph dwarf"
            .to_owned(),
        ("[kernel]", _) => "ingest as root on the machine that recorded, before it boots again: \
                            others see no addresses in /proc/kallsyms"
            .to_owned(),
        _ if module.starts_with('[') || module.starts_with("//") => {
            "memory without a file: code made at run time, whose perf map or jitdump is missing"
                .to_owned()
        }
        (_, None) if !by_perf => {
            "the profiler found no name in it; install its debug symbols, and record again"
                .to_owned()
        }
        (_, None) => "nothing says which file ran; link it with -Wl,--build-id, and have the \
                      profiler record that, as `perf record --buildid-all` does"
            .to_owned(),
        (_, Some(id)) if is_library => format!(
            "install its debug package (on Debian, find-dbgsym-packages names it), or give the \
             folder of the file with build id {id}"
        ),
        (_, Some(id)) => {
            format!("give the folder of the file with build id {id}")
        }
    }
}
