//! What a profile is, beside its stacks and counts.

use super::{IngestError, IngestOptions};
use crate::symbolize::Symbols;
use hashbrown::HashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use sto_formats::Format;
use sto_formats::recording::{Location, LocationIx, Recording, Sample};
use sto_model::id::SourceDigest;
use sto_model::{Build, FrameKind, GnuBuildId, ModuleRef, Profile, Quality};

/// What is the same for all profiles of a recording.
pub(super) struct Stacks {
    /// Of each stack whether its leaf is resolved, and whether it is all that there is of it.
    quality: Vec<(bool, bool)>,
}

impl Stacks {
    pub(super) fn of(recording: &Recording, symbols: &Symbols) -> Stacks {
        let is_resolved = |leaf: LocationIx| {
            symbols.of(leaf).last().is_some_and(|line| {
                let frame = symbols.lines[line.get()].frame;
                symbols.frames.frame(frame).kind != FrameKind::Unresolved
            })
        };
        let roots = known_roots(recording);
        // V8, callgrind, cProfile and traces of calls follow calls from the first one on; `(idle)` has no caller.
        let follows_calls = matches!(
            recording.format,
            Format::CpuProfile
                | Format::HeapProfile
                | Format::HeapSnapshot
                | Format::Hermes
                | Format::Jstack
                | Format::Goroutines
                | Format::Chrome
                | Format::Callgrind
                | Format::Pstats
        ) || recording.calls.is_some();
        let is_whole = |function: &Option<&str>| follows_calls || roots.contains(function);
        let stacks = &recording.stacks;
        let quality = stacks.iter().map(|stack| {
            let leaf = stacks.leaf(stack);
            let is_leaf_alone = match (stacks.depth(stack), leaf) {
                (1, Some(only)) => !is_whole(&function_of(recording, only)),
                (depth, _) => depth == 0,
            };
            (leaf.is_some_and(is_resolved), is_leaf_alone)
        });
        Stacks {
            quality: quality.collect(),
        }
    }
}

/// Describes the profile that the kept samples make.
pub(super) fn profile(
    build: &Build,
    recording: &Recording,
    stacks: &Stacks,
    source: SourceDigest,
    options: &IngestOptions,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Profile {
    let kept = || recording.samples.iter().filter(|sample| keep(sample));
    Profile {
        build: build.id(),
        source,
        source_bytes: recording.source_bytes,
        format: recording.format.name().to_owned(),
        origin: recording.origin.clone(),
        quality: quality(recording, stacks, kept()),
        granularity: options.symbols.granularity,
        sample_types: recording.sample_types.clone(),
        modules: modules(recording, kept()).into(),
        benchmark: options.benchmark.clone(),
        labels: options.labels.clone(),
        metrics: options.metrics.clone(),
    }
}

fn quality<'a>(
    recording: &Recording,
    stacks: &Stacks,
    kept: impl Iterator<Item = &'a Sample>,
) -> Quality {
    let mut quality = Quality {
        lost: recording.lost,
        ..Quality::default()
    };
    for sample in kept {
        let (resolved, is_leaf_alone) = stacks.quality[sample.stack.get()];
        let add_if = |count: &mut u64, holds: bool| {
            if holds {
                *count = count.saturating_add(sample.cost.samples);
            }
        };
        add_if(&mut quality.samples, true);
        add_if(&mut quality.unresolved, !resolved);
        add_if(&mut quality.truncated, sample.truncated);
        add_if(&mut quality.without_stack, is_leaf_alone);
    }
    quality
}

/// The functions that longer stacks begin with, where a stack of one of them alone is whole: runtimes
/// walk their own stacks to the root, while what perf finds may begin anywhere.
fn known_roots(recording: &Recording) -> HashSet<Option<&str>> {
    match recording.format {
        Format::PerfData | Format::PerfScript => HashSet::new(),
        _ => {
            let stacks = &recording.stacks;
            // Callers stand before what they call.
            let mut roots: Vec<LocationIx> = Vec::with_capacity(stacks.len());
            for stack in stacks.iter() {
                let root = match stacks.caller(stack) {
                    Some(caller) => roots.get(caller.get()),
                    None => stacks.own(stack).first(),
                };
                roots.push(root.copied().unwrap_or(LocationIx(u32::MAX)));
            }
            let longer = stacks.iter().filter(|&stack| stacks.depth(stack) > 1);
            let roots: HashSet<LocationIx> = longer.map(|stack| roots[stack.get()]).collect();
            let roots = roots.into_iter().map(|root| function_of(recording, root));
            roots.filter(Option::is_some).collect()
        }
    }
}

/// The function that a location is in, where the format names it.
fn function_of(recording: &Recording, LocationIx(location): LocationIx) -> Option<&str> {
    match recording.locations[location as usize] {
        Location::Named(frame) => Some(recording.named.frame(frame).symbol),
        _ => None,
    }
}

/// The modules that have code on a sampled stack.
fn modules<'a>(recording: &Recording, kept: impl Iterator<Item = &'a Sample>) -> Vec<ModuleRef> {
    let mut seen_stacks = vec![false; recording.stacks.len()];
    let mut seen_locations = vec![false; recording.locations.len()];
    let mut modules = BTreeSet::new();
    let aliases = recording.aliases();
    let build_ids: BTreeMap<&str, &GnuBuildId> = recording
        .modules
        .iter()
        .filter_map(|module| Some((module.name(), module.build_id.as_ref()?)))
        .collect();
    for sample in kept {
        let mut new = Vec::new();
        let mut next = Some(sample.stack);
        while let Some(stack) = next
            && !std::mem::replace(&mut seen_stacks[stack.get()], true)
        {
            new.extend_from_slice(recording.stacks.own(stack));
            next = recording.stacks.caller(stack);
        }
        for LocationIx(location) in new {
            if std::mem::replace(&mut seen_locations[location as usize], true) {
                continue;
            }
            let (name, build_id) = match recording.locations[location as usize] {
                Location::Address { module, .. } => {
                    let module = &recording.modules[module.get()];
                    (module.name(), module.build_id.clone())
                }
                Location::Named(frame) => {
                    let name = recording.named.frame(frame).module;
                    let name = aliases.get(name).copied().unwrap_or(name);
                    (name, build_ids.get(name).copied().cloned())
                }
                Location::Unmapped => continue,
            };
            if !name.is_empty() {
                modules.insert(ModuleRef {
                    name: name.to_owned(),
                    build_id,
                });
            }
        }
    }
    modules.into_iter().collect()
}

/// Most samples of a hundred whose innermost frame may have no symbol.
const MAX_UNRESOLVED: u64 = 20;
/// Most samples of a hundred whose stack may be cut before its root.
const MAX_TRUNCATED: u64 = 20;
/// Most samples of a hundred that may have no more than one frame.
const MAX_WITHOUT_STACK: u64 = 20;
/// Most events of a hundred that may have been lost.
const MAX_LOST: u64 = 5;

/// Refuses a profile that is too poor to compare.
pub(super) fn check_quality(path: &Path, quality: &Quality) -> Result<(), IngestError> {
    let samples = quality.samples;
    let events = samples.saturating_add(quality.lost);
    let problems: Vec<String> = [
        (
            (quality.unresolved, samples, MAX_UNRESOLVED),
            "of samples have no symbol",
            "give the folder of the files that ran",
        ),
        (
            (quality.truncated, samples, MAX_TRUNCATED),
            "of stacks are cut before their root",
            "build with frame pointers, or record with a larger --call-graph dwarf,SIZE",
        ),
        (
            (quality.without_stack, samples, MAX_WITHOUT_STACK),
            "of samples have no stack",
            "record with call chains: perf record -g",
        ),
        (
            (quality.lost, events, MAX_LOST),
            "of events were lost",
            "record at a lower frequency (-F), or with larger buffers (-m)",
        ),
    ]
    .into_iter()
    .filter(|&((part, whole, limit), ..)| {
        u128::from(part) * 100 > u128::from(whole) * u128::from(limit)
    })
    .map(|((part, whole, limit), what, remedy)| {
        let percent = part as f64 * 100.0 / whole as f64;
        format!("{percent:.1} % {what}, at most {limit} % may: {remedy}")
    })
    .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(IngestError::Poor {
        path: path.display().to_string(),
        problems: problems.join("; "),
    })
}
