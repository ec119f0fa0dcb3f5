//! Origin and quality of profiles.

use crate::answer::Answer;
use crate::listing::{ProfileSummary, summarize_profile};
use crate::tree::View;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::ProfileId;
use sto_core::model::{Build, FrameKind, GnuBuildId, MetricKind, Profile};
use sto_core::store::{Snapshot, StoreError, StoredProfile};
use sto_core::trace::ThreadCalls;
use sto_core::tree::{SelfCosts, distinct_label_sets, total_cost};
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
    /// The profiles, oldest recording first.
    pub profiles: Vec<ShownProfile>,
}

impl Answer for ShownBuild {
    const SCHEMA: &'static str = "sto.show/1";
}

/// Details of a profile.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShownProfile {
    /// The profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
    /// Packed size of the profile's own data: counts and record. Frames and stacks are shared by all profiles.
    pub own_bytes: u64,
    /// The store from which it was merged; omitted from JSON if it was recorded or ingested here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<String>,
    /// The profiles that it replaced when it was symbolised again, in order; omitted from JSON if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<ProfileId>,
    /// Origin of the recording.
    pub origin: ShownOrigin,
    /// Total cost of each event.
    pub event_totals: Vec<Cost>,
    /// Keys of the samples' labels, sorted, if labels are stored.
    pub sample_labels: Vec<SampleLabelKey>,
    /// Metrics over time, by name; omitted from JSON if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics_over_time: Vec<MetricOverTime>,
    /// Calls over time; omitted from JSON if the profile has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_over_time: Option<CallsOverTime>,
    /// Samples whose innermost frame has no symbol.
    pub unresolved_samples: u64,
    /// Samples whose stack was cut before its root.
    pub truncated_samples: u64,
    /// Samples with only an instruction pointer.
    pub samples_without_stack: u64,
    /// Events dropped while recording.
    pub lost_events: u64,
    /// Modules with samples without a symbol: most samples first, equal ones by name.
    pub unresolved: Vec<UnresolvedModule>,
}

/// The calls of a profile over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallsOverTime {
    /// Number of threads with calls.
    pub threads: usize,
    /// Number of calls.
    pub calls: u64,
    /// Number of records after compression.
    pub records: usize,
    /// The individual calls; omitted from JSON if they are not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<AllCalls>,
}

/// The individual calls of a profile, stored as a graph of distinct subtrees of calls.
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

/// Origin of a profile; unknown parts are `None`.
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

/// Labels of a profile's samples with the same key.
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
    /// Name.
    pub name: String,
    /// Kind of its values.
    pub kind: MetricKind,
    /// Number of values.
    pub values: usize,
    /// Smallest value, ignoring the initial 0 of a count.
    pub least: Option<f64>,
    /// Largest value.
    pub most: Option<f64>,
}

/// Samples without a symbol in one module.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnresolvedModule {
    /// The module; empty if the address is in none.
    pub module: String,
    /// GNU build id in hexadecimal.
    pub build_id: Option<String>,
    /// Number of samples.
    pub samples: u64,
    /// Advice for finding the symbols.
    pub advice: String,
    /// The advice in a form that the calling program can format.
    #[serde(skip)]
    pub hint: Option<Hint>,
}

/// Returns details of a selection's profiles, which must be in `store`.
///
/// # Errors
///
/// Returns an error if `store` does not have a profile or is damaged.
pub(crate) fn show(view: &View, store: &Snapshot) -> Result<ShownBuild, StoreError> {
    let profiles = view.selection.profiles.iter().zip(&view.runs);
    let replaced = store.replaced()?;
    Ok(ShownBuild {
        build: view.selection.build.clone(),
        profiles: profiles
            .map(|(stored, run)| {
                let from = store.profile_of_recording(stored.profile.build_recording_id())?;
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
    for label in distinct_label_sets(&contexts).flatten() {
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

/// Returns the details that follow from a profile's record and stacks.
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
        column.map_or(Cost::ZERO, |column| total_cost(&costs[column]))
    });
    ShownProfile {
        profile: summarize_profile(stored.id, profile),
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

/// Returns advice for finding the symbols of a module.
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
        ("[vdso]", None) => "code of the kernel in every process; the recording does not say which kernel's"
            .to_owned(),
        _ if module.starts_with('[') || module.starts_with("//") => {
            "memory without a file: code generated at run time, whose perf map or jitdump is missing"
                .to_owned()
        }
        (_, None) if !by_perf => {
            "the profiler found no name in it; install its debug symbols, and record again"
                .to_owned()
        }
        (_, None) => "nothing says which file ran; link it with -Wl,--build-id, and have the \
                      profiler record that, as `perf record --buildid-mmap` does"
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
