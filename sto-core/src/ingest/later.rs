//! Names of functions that were found after a profile went in.

use super::IngestError;
use crate::intern::{addresses_left, intern_with_nodes, moved};
use crate::symbolize::{ModuleSymbols, Symbols, symbolize_unless};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use sto_formats::Format;
use sto_formats::recording::{
    Location, LocationIx, ModuleIx, Process, ProcessIx, Recording, RecordingParts, Sample,
    SampleTypeIx, StackIx, Stacks, Thread, ThreadIx,
};
use sto_model::Cancel;
use sto_model::SymbolOptions;
use sto_model::id::{ExecutableId, ProfileId};
use sto_model::tree::{Addresses, Interned, LineCost, NodeIx, Slices};
use sto_model::units::Bytes;
use sto_model::{Build, FrameKind, Origin, Profile};
use sto_store::{Added, InternalError, StoreError, StoredBuild, StoredProfile, Writer};

/// What looking for the names of a profile's functions again came to.
#[derive(Clone, Debug)]
pub struct Symbolized {
    /// The profile that stands in its place now, and the packed size of what was written for that; none where
    /// nothing was found.
    pub became: Option<(ProfileId, Bytes)>,
    /// Addresses that had no name.
    pub nameless: usize,
    /// Files that they are in.
    pub modules: usize,
    /// How many of them have a name now.
    pub named: usize,
    /// Addresses that had a name, and have another source file, or inlined functions, now.
    pub detailed: usize,
    /// What was found of each file, with its path.
    pub found: Vec<(String, ModuleSymbols)>,
}

/// Looks up the addresses that were kept of a stored profile, as [`ingest`](super::ingest) would of its recording.
/// What it becomes by the names that are found goes into its place.
///
/// # Errors
/// Where the profile is not there, or not sound, or the store cannot be written. It is then as it was.
pub fn symbolize_again(
    writer: &mut Writer<'_>,
    build: &StoredBuild,
    stored: &StoredProfile,
    options: &SymbolOptions,
    cancel: &Cancel,
) -> Result<Symbolized, IngestError> {
    let before = loaded(writer, build, stored)?;
    let Some(addresses) = &before.addresses else {
        return Ok(Symbolized::nothing());
    };
    let path = writer.store().path().to_owned();
    let recording =
        recording(&stored.profile, &before, addresses).ok_or_else(|| unsound(&path, stored.id))?;
    let options = SymbolOptions {
        granularity: stored.profile.granularity,
        ..options.clone()
    };
    let symbols = symbolize_unless(&recording, &options, cancel)?;
    let mut result = Symbolized::of(&before, addresses, &symbols);
    if result.named + result.detailed > 0 {
        let after = after(&before, addresses, &recording, &symbols);
        let after = after.map_err(|source| IngestError::Intern {
            path: path.display().to_string(),
            source,
        })?;
        let mut profile = stored.profile.clone();
        profile.quality.unresolved = unresolved(&after);
        let of_profile = Build {
            gnu_build_id: stored.gnu_build_id.clone(),
            revision: stored.revision.clone(),
            commit: stored.commit.clone(),
            ..build.build.clone()
        };
        cancel.check()?;
        if let Added::New { id, stored, .. } =
            writer.replace(stored.id, &of_profile, &profile, &after)?
        {
            result.became = Some((id, stored));
        }
    }
    let path_of = |found: &ModuleSymbols| recording.modules[found.module.get()].path.clone();
    let found = symbols.modules.iter();
    result.found = found.map(|found| (path_of(found), found.clone())).collect();
    Ok(result)
}

impl Symbolized {
    fn nothing() -> Symbolized {
        Symbolized {
            became: None,
            nameless: 0,
            modules: 0,
            named: 0,
            detailed: 0,
            found: Vec::new(),
        }
    }

    fn of(before: &Interned, addresses: &Addresses, symbols: &Symbols) -> Symbolized {
        let mut result = Symbolized::nothing();
        let mut is_counted = vec![false; addresses.addresses.len()];
        let mut is_nameless_in = vec![false; addresses.modules.len()];
        for stack in &addresses.stacks {
            let Some(address) = stack.address.map(|address| address as usize) else {
                continue;
            };
            if std::mem::replace(&mut is_counted[address], true) {
                continue;
            }
            let was = before.frames.frame(before.tree.frame(stack.node));
            let now = symbols.of(LocationIx(address as u32)).iter();
            let mut now = now.map(|line| symbols.frames.frame(symbols.lines[line.get()].frame));
            let first = now.next();
            if was.kind == FrameKind::Unresolved {
                result.nameless += 1;
                let (module, _) = addresses.addresses[address];
                is_nameless_in[module as usize] = true;
                let has_name = first.is_some_and(|now| now.kind != FrameKind::Unresolved);
                result.named += usize::from(has_name);
            } else if first != Some(was) || now.next().is_some() {
                result.detailed += 1;
            }
        }
        result.modules = is_nameless_in.into_iter().filter(|&is| is).count();
        result
    }
}

/// The profile as it went in.
fn loaded(
    writer: &Writer<'_>,
    build: &StoredBuild,
    stored: &StoredProfile,
) -> Result<Interned, StoreError> {
    let slot = Mutex::new(None);
    let executable = ExecutableId::of(&build.build.executable);
    let snapshot = writer.store().snapshot()?;
    snapshot.load_each(executable, &[stored.id], |_, interned| {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(interned);
        Ok::<(), StoreError>(())
    })?;
    let interned = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(interned.unwrap_or_default())
}

/// What a profile would have been read from: addresses where these are known, else its frames. The stack with an
/// index there has it here too; `None` where two are the same.
fn recording(profile: &Profile, interned: &Interned, addresses: &Addresses) -> Option<Recording> {
    let of_address = addresses.addresses.iter();
    let mut locations: Vec<Location> = of_address
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

/// The profile with the names that were found.
fn after(
    before: &Interned,
    addresses: &Addresses,
    recording: &Recording,
    symbols: &Symbols,
) -> Result<Interned, crate::intern::InternError> {
    let (mut after, nodes) = intern_with_nodes(recording, symbols, None, |_| true)?;
    let node = |stack: NodeIx| nodes.of(StackIx(stack.0));
    after.slices = before.slices.as_ref().map(|slices| Slices {
        costs: moved(&addresses.slices, node),
        ..slices.clone()
    });
    after.metrics = before.metrics.clone();
    for (lines, known) in after.lines.iter_mut().zip(&before.lines) {
        // Frames that had a name keep their lines.
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
    for (file, digest) in &before.sources {
        after.sources.entry(file.clone()).or_insert(*digest);
    }
    after.addresses = addresses_left(recording, symbols, &after, &addresses.slices)?;
    Ok(after)
}

/// Samples whose leaf has no name.
fn unresolved(interned: &Interned) -> u64 {
    let costs = interned.costs.iter().flatten();
    let nameless = costs.filter(|&&(node, _)| {
        let frame = interned.frames.frame(interned.tree.frame(node));
        frame.kind == FrameKind::Unresolved
    });
    nameless.fold(0, |sum, (_, cost)| sum.saturating_add(cost.samples))
}

fn unsound(path: &Path, profile: ProfileId) -> IngestError {
    let what = "two stacks of its addresses are the same";
    let error = InternalError::damaged(format!("addresses of profile {profile}"), what);
    IngestError::Store(error.at(path, "read"))
}
