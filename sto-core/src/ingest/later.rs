//! Symbolizes stored profiles again, when files with symbols turn up later.

use super::IngestError;
use crate::intern::{intern_with_nodes, remaining_addresses, remap_slices};
use crate::symbolize::{ModuleSymbols, Symbols, symbolize_cancellable};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use sto_formats::Format;
use sto_formats::recording::{
    Location, LocationIx, ModuleIx, Process, ProcessIx, Recording, RecordingParts, Sample,
    SampleTypeIx, StackIx, Stacks, Thread, ThreadIx,
};
use sto_model::CancelToken;
use sto_model::SymbolOptions;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::tree::{LineCost, NodeIx, ProfileAddresses, ProfileData, TimeSlices};
use sto_model::units::Bytes;
use sto_model::{Build, FrameKind, Origin, Profile};
use sto_store::{Added, InternalError, StoreError, StoredBuild, StoredProfile, Writer};

/// The outcome of [`symbolize_again`] for a profile.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Symbolized {
    /// The profile that replaces it, and the packed size of the data written; `None` if nothing was found.
    pub replaced_by: Option<(ProfileId, Bytes)>,
    /// Number of addresses that had no symbol.
    pub unresolved: usize,
    /// Number of modules with such addresses.
    pub modules: usize,
    /// Number of these addresses that have a symbol now.
    pub named: usize,
    /// Number of addresses that had a symbol, and now have another source file or inlined functions.
    pub detailed: usize,
    /// The path of each module, with the outcome for it.
    pub found: Vec<(String, ModuleSymbols)>,
}

/// Looks up the addresses that a stored profile has kept, by the same rules as [`ingest`](super::ingest()). If symbols
/// are found, a new profile with these replaces the profile.
///
/// # Errors
/// Returns an error, and leaves the profile unchanged, if the profile does not exist or is damaged, or if the store
/// cannot be written.
pub fn symbolize_again(
    writer: &mut Writer,
    build: &StoredBuild,
    stored: &StoredProfile,
    options: &SymbolOptions,
    cancel: &CancelToken,
) -> Result<Symbolized, IngestError> {
    let before = load(writer, build, stored)?;
    let Some(addresses) = &before.addresses else {
        return Ok(Symbolized::default());
    };
    let path = writer.store().path().to_owned();
    let recording = to_recording(&stored.profile, &before, addresses)
        .ok_or_else(|| duplicate_stacks(&path, stored.id))?;
    let options = SymbolOptions {
        granularity: stored.profile.granularity,
        ..options.clone()
    };
    let symbols = symbolize_cancellable(&recording, &options, cancel)?;
    let mut result = Symbolized::new(&before, addresses, &symbols);
    if result.named + result.detailed > 0 {
        let after = with_new_symbols(&before, addresses, &recording, &symbols);
        let after = after.map_err(|source| IngestError::Intern {
            path: path.display().to_string(),
            source,
        })?;
        let mut profile = stored.profile.clone();
        profile.quality.unresolved = count_unresolved(&after);
        let profile_build = Build {
            gnu_build_id: stored.gnu_build_id.clone(),
            revision: stored.revision.clone(),
            commit: stored.commit.clone(),
            ..build.build.clone()
        };
        cancel.check()?;
        if let Added::New { id, stored, .. } =
            writer.replace(stored.id, &profile_build, &profile, &after)?
        {
            result.replaced_by = Some((id, stored));
        }
    }
    let path_of = |found: &ModuleSymbols| recording.modules[found.module.get()].path.clone();
    let found = symbols.modules.iter();
    result.found = found.map(|found| (path_of(found), found.clone())).collect();
    Ok(result)
}

impl Symbolized {
    /// Compares the symbols of addresses with those found now.
    fn new(before: &ProfileData, addresses: &ProfileAddresses, symbols: &Symbols) -> Symbolized {
        let mut result = Symbolized::default();
        let mut is_counted = vec![false; addresses.addresses.len()];
        let mut has_unresolved = vec![false; addresses.modules.len()];
        for stack in &addresses.stacks {
            let Some(address) = stack.address.map(|address| address as usize) else {
                continue;
            };
            if std::mem::replace(&mut is_counted[address], true) {
                continue;
            }
            let old = before.frames.frame(before.tree.frame(stack.node));
            let new = symbols.code_lines(LocationIx(address as u32)).iter();
            let mut new = new.map(|line| symbols.frames.frame(symbols.lines[line.get()].frame));
            let first = new.next();
            if old.kind == FrameKind::Unresolved {
                result.unresolved += 1;
                let (module, _) = addresses.addresses[address];
                has_unresolved[module as usize] = true;
                let is_named = first.is_some_and(|frame| frame.kind != FrameKind::Unresolved);
                result.named += usize::from(is_named);
            } else if first != Some(old) || new.next().is_some() {
                result.detailed += 1;
            }
        }
        result.modules = has_unresolved.into_iter().filter(|&has| has).count();
        result
    }
}

/// Loads the stored profile.
fn load(
    writer: &Writer,
    build: &StoredBuild,
    stored: &StoredProfile,
) -> Result<ProfileData, StoreError> {
    let slot = Mutex::new(None);
    let executable = ExecutableId::from_name(&build.build.executable);
    let snapshot = writer.snapshot()?;
    snapshot.load_each(executable, &[stored.id], |_, interned| {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(interned);
        Ok::<(), StoreError>(())
    })?;
    let interned = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(interned.unwrap_or_default())
}

/// Makes a recording from a profile: of its kept addresses, and of its frames elsewhere.
///
/// Stacks keep their indices; `None` if two stacks are equal, so that they cannot.
fn to_recording(
    profile: &Profile,
    interned: &ProfileData,
    addresses: &ProfileAddresses,
) -> Option<Recording> {
    let kept = addresses.addresses.iter();
    let mut locations: Vec<Location> = kept
        .map(|&(module, address)| Location::Address {
            module: ModuleIx(module),
            address,
        })
        .collect();
    let frames = locations.len() as u32;
    locations.extend(
        interned
            .frames
            .iter()
            .map(|(frame, _)| Location::Named(frame)),
    );
    let mut stacks = Stacks::default();
    for (ix, stack) in (0..).zip(&addresses.stacks) {
        let frame = interned.tree.frame(stack.node);
        let location = LocationIx(stack.address.unwrap_or(frames + frame.0));
        let inserted = stacks.try_insert_call(stack.caller.map(StackIx), location)?;
        if inserted != StackIx(ix) {
            return None;
        }
    }
    let samples = (0..)
        .zip(&addresses.costs)
        .flat_map(|(sample_type, costs)| {
            costs.iter().map(move |&(stack, cost)| Sample {
                stack: StackIx(stack.0),
                thread: ThreadIx(0),
                sample_type: SampleTypeIx(sample_type),
                time: None,
                cost,
                truncated: false,
            })
        });
    let parts = RecordingParts {
        format: Format::Folded,
        source: profile.source,
        source_bytes: profile.source_bytes,
        origin: Origin::default(),
        sample_types: profile.sample_types.clone(),
        processes: vec![Process {
            pid: 0,
            program: String::new(),
            main_module: None,
        }],
        recorded: None,
        threads: vec![Thread {
            tid: 0,
            name: String::new(),
            process: ProcessIx(0),
            labels: Arc::default(),
        }],
        modules: addresses.modules.clone(),
        locations,
        named: interned.frames.clone(),
        stacks,
        samples: samples.collect(),
        metrics: Vec::new(),
        calls: None,
        lost: 0,
        warnings: Vec::new(),
    };
    parts.try_into().ok()
}

/// Makes the profile with the symbols that were found.
fn with_new_symbols(
    before: &ProfileData,
    addresses: &ProfileAddresses,
    recording: &Recording,
    symbols: &Symbols,
) -> Result<ProfileData, crate::intern::InternError> {
    let (mut after, nodes) = intern_with_nodes(recording, symbols, None, |_| true)?;
    let node = |stack: NodeIx| nodes.node(StackIx(stack.0));
    after.slices = before.slices.as_ref().map(|slices| TimeSlices {
        costs: remap_slices(&addresses.slices, node),
        ..slices.clone()
    });
    after.metrics = before.metrics.clone();
    for (lines, known) in after.line_costs.iter_mut().zip(&before.line_costs) {
        // Frames that had a symbol keep their lines.
        let known = known.iter().filter_map(|line| {
            let frame = after.frames.find(before.frames.frame(line.frame))?;
            Some(LineCost { frame, ..*line })
        });
        lines.extend(known);
        lines.sort_unstable_by_key(|line| (line.frame, line.line));
        lines.dedup_by(|next, line| {
            let is_same = (next.frame, next.line) == (line.frame, line.line);
            if is_same {
                line.self_cost += next.self_cost;
                line.total += next.total;
            }
            is_same
        });
    }
    for (file, digest) in &before.source_digests {
        after.source_digests.entry(file.clone()).or_insert(*digest);
    }
    after.addresses =
        remaining_addresses(recording, symbols, (&after.tree, &nodes), &addresses.slices)?;
    Ok(after)
}

/// Counts the samples whose innermost frame has no symbol.
fn count_unresolved(interned: &ProfileData) -> u64 {
    let costs = interned.costs.iter().flatten();
    let unresolved = costs.filter(|&&(node, _)| {
        let frame = interned.frames.frame(interned.tree.frame(node));
        frame.kind == FrameKind::Unresolved
    });
    unresolved.fold(0, |sum, (_, cost)| sum.saturating_add(cost.samples))
}

fn duplicate_stacks(path: &Path, profile: ProfileId) -> IngestError {
    let place = format!("addresses of profile {profile}");
    let error = InternalError::damaged(place, "two stacks of addresses are equal");
    IngestError::Store(error.at(path, "read"))
}
