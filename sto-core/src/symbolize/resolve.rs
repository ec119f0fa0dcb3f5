//! Resolves the locations of a recording, module by module.

use super::lookup::Lookup;
use super::part::{Part, Resolved, Task, join};
use super::{ModuleSymbols, Symbols};
use rayon::prelude::*;
use sto_formats::recording::{Location, LocationIx, ModuleIx, Recording, StackIx, Walk};
use sto_model::SymbolOptions;
use sto_model::units::Cost;
use sto_model::{CancelToken, Cancelled};
use sto_model::{Frame, FrameKind, agreed_digests};

/// Resolves each location of a recording to its frames, using all threads.
///
/// With [`Granularity::Line`](sto_model::Granularity), the line is part of the frame. A location without a symbol
/// becomes a frame of [`FrameKind::Unresolved`] with a name like `[module+0xoffset]`, and [`Symbols::modules`] says what
/// is missing.
pub fn symbolize(recording: &Recording, options: &SymbolOptions) -> Symbols {
    let symbols = symbolize_cancellable(recording, options, &CancelToken::default());
    symbols.expect("nobody else has the flag")
}

/// Like [`symbolize`], but returns an error before the next module once `cancel` is set.
pub(crate) fn symbolize_cancellable(
    recording: &Recording,
    options: &SymbolOptions,
    cancel: &CancelToken,
) -> Result<Symbols, Cancelled> {
    let mut symbols = symbolize_uncounted(recording, options, cancel)?;
    let counts = unresolved_samples(recording, &symbols);
    symbols.set_unresolved_samples(counts);
    Ok(symbols)
}

/// Like [`symbolize_cancellable`], without the number of samples with unresolved locations.
pub(crate) fn symbolize_uncounted(
    recording: &Recording,
    options: &SymbolOptions,
    cancel: &CancelToken,
) -> Result<Symbols, Cancelled> {
    let (tasks, named) = to_tasks(recording, options);
    let lookup = Lookup::new(recording, options);
    let mut parts = vec![named];
    let mut modules = Vec::new();
    let mut sources = Vec::new();
    let resolved: Result<Vec<Resolved>, Cancelled> = tasks
        .par_iter()
        .with_max_len(1)
        .map(|task| cancel.check().map(|()| lookup.resolve(task)))
        .collect();
    for (task, resolved) in tasks.iter().zip(resolved?) {
        modules.push(ModuleSymbols {
            module: task.ix,
            file: resolved.file,
            locations: task.addresses.len(),
            unresolved: resolved.parts.iter().map(Part::unresolved).sum(),
            unresolved_samples: 0,
            may_be_found: resolved.may_be_found,
            problem: resolved.problem,
        });
        parts.extend(resolved.parts);
        sources.extend(resolved.sources);
    }
    modules.sort_by_key(|module| module.module);
    Ok(Symbols {
        modules,
        sources: agreed_digests(sources),
        ..join(&parts, recording.locations.len())
    })
}

/// Groups the locations of a recording by module, largest module first. Locations that need no lookup are resolved in
/// the returned part.
fn to_tasks<'a>(recording: &'a Recording, options: &SymbolOptions) -> (Vec<Task<'a>>, Part) {
    let granularity = options.granularity;
    let mut tasks: Vec<Task<'_>> = recording
        .modules
        .iter()
        .zip(0..)
        .map(|(module, ix)| Task {
            ix: ModuleIx(ix),
            module,
            granularity,
            addresses: Vec::new(),
        })
        .collect();
    let mut named = Part::new(granularity);
    let aliases = recording.aliases();
    for (location, ix) in recording.locations.iter().zip(0..) {
        let ix = LocationIx(ix);
        match *location {
            Location::Address { module, address } => {
                tasks[module.0 as usize].addresses.push((address, ix));
            }
            Location::Named(frame) => {
                let frame = recording.named.frame(frame);
                named.push_frame(Frame {
                    module: aliases.get(frame.module).unwrap_or(&frame.module),
                    ..frame
                });
                named.finish(ix);
            }
            Location::Unmapped => named.finish_unresolved_as(ix, "", "[unknown]"),
        }
    }
    tasks.retain(|task| !task.addresses.is_empty());
    // Largest first, so that the largest module does not start when the other threads are about to finish.
    tasks.sort_by_key(|task| std::cmp::Reverse(task.addresses.len()));
    (tasks, named)
}

/// Counts for each module of the symbols the samples with an unresolved location of the module on their stack.
pub(crate) fn unresolved_samples(recording: &Recording, symbols: &Symbols) -> Vec<u64> {
    let mut counts = vec![0; symbols.modules.len()];
    if symbols.modules.iter().all(|module| module.unresolved == 0) {
        return counts;
    }
    let mut index = vec![None; recording.modules.len()];
    for (ix, module) in symbols.modules.iter().enumerate() {
        index[module.module.0 as usize] = (module.unresolved > 0).then_some(ix);
    }
    let unresolved_in = |(location, ix): (&Location, u32)| {
        let Location::Address { module, .. } = *location else {
            return None;
        };
        let index = index[module.0 as usize]?;
        let code_line = *symbols.code_lines(LocationIx(ix)).last()?;
        let frame = symbols.lines[code_line.0 as usize].frame;
        let kind = symbols.frames.frame(frame).kind;
        (kind == FrameKind::Unresolved).then_some(index)
    };
    let locations = recording.locations.iter().zip(0..);
    let unresolved_in: Vec<Option<usize>> = locations.map(unresolved_in).collect();
    let mut samples = vec![Cost::ZERO; recording.stacks.len()];
    for sample in &recording.samples {
        let sum = &mut samples[sample.stack.0 as usize].samples;
        *sum = sum.saturating_add(sample.cost.samples);
    }
    let samples: Vec<_> = recording.stacks.iter().zip(samples).collect();
    // For each module, the last stack whose samples were counted; its callees are already included.
    let mut last = vec![StackIx(u32::MAX); symbols.modules.len()];
    Walk::new(&recording.stacks).visit(&samples, |visit| {
        for &LocationIx(location) in recording.stacks.own_locations(visit.stack) {
            if let Some(ix) = unresolved_in[location as usize]
                && !visit.is_within(last[ix])
            {
                last[ix] = visit.stack;
                let sum: &mut u64 = &mut counts[ix];
                *sum = sum.saturating_add(visit.total.samples);
            }
        }
    });
    counts
}
