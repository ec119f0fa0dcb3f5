//! Describes a profile: its quality, modules and metadata.

use super::{IngestError, IngestOptions};
use crate::symbolize::Symbols;
use hashbrown::HashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use sto_formats::Format;
use sto_formats::recording::{Location, LocationIx, Recording, Sample};
use sto_model::id::RecordingDigest;
use sto_model::{
    Build, FrameIx, FrameKind, GnuBuildId, JIT_MODULE, ModuleRef, Origin, Profile, Quality,
};

/// Describes the profiles of a recording.
pub(super) struct Describer<'a> {
    recording: &'a Recording,
    options: &'a IngestOptions,
    /// The quality of each stack.
    stacks: Vec<StackQuality>,
}

struct StackQuality {
    /// Whether the innermost frame has a symbol.
    is_resolved: bool,
    /// Whether the stack has at most one frame although there may have been callers.
    has_no_callers: bool,
    /// Whether the stack contains a function in which programs or threads start.
    has_start: bool,
}

/// Functions in which programs and threads start, of C, glibc, musl, Go, macOS and Windows. Their callers are of no
/// interest, and often have no unwinding rules.
const STARTS: [&str; 22] = [
    "main",
    "_start",
    "_start_c",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "libc_start_main_stage2",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "start_thread",
    "thread_start",
    "start_c11",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
    "runtime.main",
    "_pthread_start",
    "BaseThreadInitThunk",
    "RtlUserThreadStart",
    "__scrt_common_main_seh",
];

fn is_start(symbol: &str) -> bool {
    // The version of glibc's symbols, and the calling convention of Go's assembly.
    let name = symbol.split('@').next().unwrap_or(symbol);
    STARTS.contains(&name.strip_suffix(".abi0").unwrap_or(name))
}

impl<'a> Describer<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        symbols: &Symbols,
        options: &'a IngestOptions,
    ) -> Describer<'a> {
        let starts: Vec<bool> = (0..symbols.frames.len() as u32)
            .map(|ix| symbols.frames.frame(FrameIx(ix)))
            .map(|frame| frame.kind == FrameKind::User && is_start(frame.symbol))
            .collect();
        let is_start = |location: &LocationIx| {
            let mut lines = symbols.code_lines(*location).iter();
            lines.any(|line| starts[symbols.lines[line.get()].frame.get()])
        };
        let is_resolved = |leaf: LocationIx| {
            symbols.code_lines(leaf).last().is_some_and(|line| {
                let frame = symbols.lines[line.get()].frame;
                symbols.frames.frame(frame).kind != FrameKind::Unresolved
            })
        };
        let roots = known_roots(recording);
        // These formats follow calls from the root on, so a stack of one frame, such as V8's `(idle)`, is complete.
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
        let is_root = |function: &Option<&str>| follows_calls || roots.contains(function);
        let stacks = &recording.stacks;
        let mut qualities: Vec<StackQuality> = Vec::with_capacity(stacks.len());
        // Stacks come after the stacks of their callers.
        for stack in stacks.iter() {
            let leaf = stacks.leaf(stack);
            let of_callers = stacks.caller(stack).map(|caller| &qualities[caller.get()]);
            qualities.push(StackQuality {
                has_start: of_callers.is_some_and(|callers| callers.has_start)
                    || stacks.own_locations(stack).iter().any(is_start),
                is_resolved: leaf.is_some_and(is_resolved),
                has_no_callers: match (stacks.depth(stack), leaf) {
                    (1, Some(only)) => !is_root(&function_of(recording, only)),
                    (depth, _) => depth == 0,
                },
            });
        }
        Describer {
            recording,
            options,
            stacks: qualities,
        }
    }

    /// Describes the profile of the samples for which `keep` returns `true`.
    pub(super) fn profile(
        &self,
        build: &Build,
        source: RecordingDigest,
        keep: impl Fn(&Sample) -> bool,
    ) -> Profile {
        let Describer {
            recording, options, ..
        } = self;
        let kept = || recording.samples.iter().filter(|sample| keep(sample));
        Profile {
            build: build.id(),
            source,
            source_bytes: recording.source_bytes,
            format: recording.format.name().to_owned(),
            origin: Origin {
                recorded: options.recorded.or(recording.origin.recorded),
                ..recording.origin.clone()
            },
            quality: self.quality(kept()),
            granularity: options.symbols.granularity,
            sample_types: recording.sample_types.clone(),
            modules: modules(recording, kept()).into(),
            benchmark: options.benchmark.clone(),
            labels: options.labels.clone(),
            metrics: options.metrics.clone(),
        }
    }

    fn quality<'s>(&self, kept: impl Iterator<Item = &'s Sample>) -> Quality {
        let mut quality = Quality {
            lost: self.recording.lost,
            ..Quality::default()
        };
        for sample in kept {
            let stack = &self.stacks[sample.stack.get()];
            let add_if = |count: &mut u64, holds: bool| {
                if holds {
                    *count = count.saturating_add(sample.cost.samples);
                }
            };
            add_if(&mut quality.samples, true);
            add_if(&mut quality.unresolved, !stack.is_resolved);
            add_if(&mut quality.truncated, sample.truncated && !stack.has_start);
            add_if(&mut quality.without_stack, stack.has_no_callers);
        }
        quality
    }
}

/// Returns the functions at the root of stacks with several frames. A stack that consists only of such a function is
/// complete, because runtimes walk their own stacks to the root. perf's stacks may begin anywhere, so it returns none.
fn known_roots(recording: &Recording) -> HashSet<Option<&str>> {
    match recording.format {
        Format::PerfData | Format::PerfScript => HashSet::new(),
        _ => {
            let stacks = &recording.stacks;
            // Stacks come after the stacks of their callers.
            let mut roots: Vec<LocationIx> = Vec::with_capacity(stacks.len());
            for stack in stacks.iter() {
                let root = match stacks.caller(stack) {
                    Some(caller) => roots.get(caller.get()),
                    None => stacks.own_locations(stack).first(),
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

/// Returns the function of a location, if the format itself names it.
fn function_of(recording: &Recording, LocationIx(location): LocationIx) -> Option<&str> {
    match recording.locations[location as usize] {
        Location::Named(frame) => Some(recording.named.frame(frame).symbol),
        _ => None,
    }
}

/// Returns the modules with code on the stack of a sample.
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
            new.extend_from_slice(recording.stacks.own_locations(stack));
            next = recording.stacks.caller(stack);
        }
        for LocationIx(location) in new {
            if std::mem::replace(&mut seen_locations[location as usize], true) {
                continue;
            }
            let (name, build_id) = match recording.locations[location as usize] {
                Location::Address { module, .. } => {
                    let module = &recording.modules[module.get()];
                    let is_file = module.name() != JIT_MODULE;
                    (module.name(), module.build_id.clone().filter(|_| is_file))
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

/// Maximum percentage of samples whose innermost frame has no symbol.
const MAX_UNRESOLVED: u64 = 20;
/// Maximum percentage of samples whose stack is truncated.
const MAX_TRUNCATED: u64 = 20;
/// Maximum percentage of samples with at most one frame.
const MAX_WITHOUT_STACK: u64 = 20;
/// Maximum percentage of lost events.
const MAX_LOST: u64 = 5;

/// Returns an error if a profile's quality is too low for comparisons.
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
            "of stacks are truncated",
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
        format!("{percent:.1} % {what} (limit: {limit} %): {remedy}")
    })
    .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(IngestError::LowQuality {
        path: path.display().to_string(),
        problems: problems.join("; "),
    })
}
