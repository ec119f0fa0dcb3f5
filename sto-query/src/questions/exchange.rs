//! Exchange of profiles with a place that other stores can reach.

use crate::QueryError;
use crate::exchange::{Pulled, Pushed, run_concurrently};
use crate::questions::stores::selected;
use crate::sources::Environment;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use sto_core::CancelToken;
use sto_core::id::ProfileId;
use sto_core::model::Build;
use sto_core::store::{LeftOut, Merged, Snapshot, Store, StoreError, StoredProfile};
use sto_core::units::Bytes;
use sto_lake::exchange::{self, Exchange, ExchangeError};
use sto_lake::places::{ListedFile, Place};

/// Returns the manifest of the exchange that a server offers for its store.
pub fn exchange_manifest() -> String {
    exchange::manifest()
}

/// Lists the profiles of a store as the files that a server offers.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn exchange_files(snapshot: &Snapshot) -> Result<Vec<ListedFile>, StoreError> {
    let builds = snapshot.builds()?;
    let profiles = builds.iter().flat_map(|of| &of.profiles);
    Ok(profiles
        .map(|run| ListedFile {
            name: exchange::path(run.id),
            size: run.stored,
        })
        .collect())
}

/// Returns the file of a profile that a server offers; `None` if the store has no profile of this name.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn exchange_file(snapshot: &Snapshot, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let builds = snapshot.builds()?;
    let mut runs = builds
        .iter()
        .flat_map(|of| of.profiles.iter().map(move |run| (&of.build, run)));
    let id = exchange::profile_of(name);
    let Some((build, run)) = runs.find(|(_, run)| Some(run.id) == id) else {
        return Ok(None);
    };
    let file = Mutex::new(None);
    snapshot.pack_each(build, &[run], |id, packed| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        *file = Some(exchange::sealed(id, &packed));
        Ok::<_, StoreError>(())
    })?;
    Ok(file.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The outcome of adding the profile of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedFile {
    /// The profile is new.
    New,
    /// The store had it already.
    Known,
    /// The store has this other profile of the same recording and build, and keeps it.
    Conflict(ProfileId),
}

/// Adds the profile of a file that another store sent.
///
/// # Errors
///
/// Returns an error if the file is not the profile that its name says, or the store cannot be written.
pub fn add_exchange_file(store: &Store, name: &str, file: &[u8]) -> Result<AddedFile, QueryError> {
    let refused = |why: String| QueryError::RefusedFile { why };
    let id = exchange::profile_of(name)
        .ok_or_else(|| refused(format!("{name}: expected profiles/ID.sto.zst")))?;
    if store.snapshot()?.has(id)? {
        return Ok(AddedFile::Known);
    }
    let profile = exchange::unpack(id, file, Path::new(name)).map_err(refused)?;
    let merged = store.merge(&profile, &mut |_| Ok(()))?;
    match (merged.left_out.first(), merged.conflicts.first()) {
        (Some(left_out), _) => Err(refused(left_out.why.clone())),
        (None, Some(conflict)) => Ok(AddedFile::Conflict(conflict.here)),
        (None, None) if merged.added.contains(&id) => Ok(AddedFile::New),
        (None, None) => Ok(AddedFile::Known),
    }
}

/// Request to send profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PushRequest {
    /// Selectors of the profiles; all profiles if empty.
    pub selectors: Vec<String>,
    /// Whether to only report what would be sent.
    pub dry_run: bool,
    /// Cancels the request before the next profile.
    #[serde(skip)]
    pub cancel: CancelToken,
}

/// Request to receive profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PullRequest {
    /// Whether to only report what would be received.
    pub dry_run: bool,
    /// Cancels the request before the next profile.
    #[serde(skip)]
    pub cancel: CancelToken,
}

/// Called with the number of finished profiles and the number of all profiles, by any thread.
pub type OnProfiles<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Size of files in memory from which on no further file is added to a batch.
const BYTES_AT_ONCE: u64 = 64 << 20;

/// Maximum number of files that are packed at once. The store is locked for writing meanwhile.
const PACKED_AT_ONCE: usize = 64;

/// Maximum number of files that are added to the store at once.
const PULLED_AT_ONCE: usize = 256;

/// Sends the profiles that a place lacks. Any number of processes can send concurrently.
///
/// # Errors
///
/// Returns an error if a selector names nothing, the store cannot be read, or the place contains
/// something else or cannot be written. Profiles that were already sent stay there.
pub fn push(
    store: &Store,
    environment: &dyn Environment,
    place: &Place,
    request: &PushRequest,
    progress: OnProfiles<'_>,
) -> Result<Pushed, QueryError> {
    let builds = store.snapshot()?.builds()?;
    let profiles = builds
        .iter()
        .flat_map(|of| of.profiles.iter().map(|run| (&of.build, run)));
    let mut profiles: Vec<Run<'_>> = profiles.collect();
    if !request.selectors.is_empty() {
        let chosen = selected(environment, &builds, &request.selectors)?;
        profiles.retain(|(_, run)| chosen.contains(&run.id));
    }
    let exchange = Exchange::open(place)?;
    let there = exchange.map(|exchange| exchange.profiles()).transpose()?;
    let there = there.unwrap_or_default();
    let (known, lacking): (Vec<Run<'_>>, Vec<Run<'_>>) = profiles
        .into_iter()
        .partition(|(_, run)| there.contains_key(&run.id));
    // Files elsewhere take long to read.
    let to_check = known.iter().map(|(_, run)| run.id);
    let to_check = to_check.filter(|id| place.is_local() || there[id] == Bytes(0));
    let left_out = match &exchange {
        Some(exchange) => find_wrong_files(exchange, &to_check.collect::<Vec<_>>(), request)?,
        None => Vec::new(),
    };
    let mut pushed = Pushed {
        place: place.to_string(),
        dry_run: request.dry_run,
        already_there: known.len() - left_out.len(),
        left_out,
        ..Pushed::default()
    };
    if request.dry_run {
        pushed.sent = lacking.iter().map(|(_, run)| run.id).collect();
    } else if !lacking.is_empty() {
        let exchange = match exchange {
            Some(exchange) => exchange,
            None => Exchange::create(place)?,
        };
        send(store, &exchange, &lacking, request, &mut pushed, progress)?;
    }
    pushed.sent.sort_unstable();
    pushed.left_out.sort_by(|a, b| a.profiles.cmp(&b.profiles));
    Ok(pushed)
}

/// Returns the profiles whose files at the place are not theirs.
fn find_wrong_files(
    exchange: &Exchange<'_>,
    profiles: &[ProfileId],
    request: &PushRequest,
) -> Result<Vec<LeftOut>, QueryError> {
    let wrong = Mutex::new(Vec::new());
    run_concurrently(profiles, |&id| -> Result<(), QueryError> {
        request.cancel.check()?;
        if let Err(why) = exchange.check(id) {
            let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.push(LeftOut::new(vec![id], why));
        }
        Ok(())
    })?;
    Ok(wrong.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A profile and its build.
type Run<'a> = (&'a Build, &'a StoredProfile);

fn send(
    store: &Store,
    exchange: &Exchange<'_>,
    lacking: &[Run<'_>],
    request: &PushRequest,
    pushed: &mut Pushed,
    progress: OnProfiles<'_>,
) -> Result<(), QueryError> {
    let is_local = exchange.place().is_local();
    let done = AtomicUsize::new(0);
    let sizes = lacking.iter().map(|(_, run)| run.stored);
    for some in parts(lacking, sizes, PACKED_AT_ONCE) {
        let packed = packed(store, some)?;
        done.fetch_add(some.len() - packed.len(), Relaxed);
        let sent = Mutex::new(&mut *pushed);
        run_concurrently(&packed, |(id, bytes)| -> Result<(), QueryError> {
            request.cancel.check()?;
            let added = exchange.add(*id, bytes);
            let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            match added {
                Ok(Some(size)) => {
                    sent.sent.push(*id);
                    sent.bytes.0 += size.0;
                }
                // Something has appeared since the listing; elsewhere it would take long to read.
                Ok(None) => match is_local.then(|| exchange.check(*id)) {
                    Some(Err(why)) => sent.left_out.push(LeftOut::new(vec![*id], why)),
                    _ => sent.already_there += 1,
                },
                Err(error) if error.is_about_one_file() => {
                    sent.left_out.push(LeftOut::new(vec![*id], error));
                }
                Err(error) => return Err(error.into()),
            }
            progress(done.fetch_add(1, Relaxed) + 1, lacking.len());
            Ok(())
        })?;
    }
    Ok(())
}

/// Splits a list into batches of at most `most` items. A batch ends when its size reaches
/// [`BYTES_AT_ONCE`].
fn parts<T>(all: &[T], sizes: impl Iterator<Item = Bytes>, most: usize) -> Vec<&[T]> {
    let (mut parts, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (at, size) in sizes.enumerate() {
        if at - begin >= most || bytes >= BYTES_AT_ONCE {
            parts.push(&all[begin..at]);
            (begin, bytes) = (at, 0);
        }
        bytes += size.0;
    }
    parts.extend((begin < all.len()).then(|| &all[begin..]));
    parts
}

/// Packs profiles, except those that were removed from the store.
fn packed(store: &Store, runs: &[Run<'_>]) -> Result<Vec<(ProfileId, Vec<u8>)>, StoreError> {
    let snapshot = store.snapshot()?;
    let packed = Mutex::new(Vec::new());
    for of_build in runs.chunk_by(|(a, _), (b, _)| std::ptr::eq(*a, *b)) {
        let mut there = Vec::new();
        for (_, run) in of_build {
            if snapshot.has(run.id)? {
                there.push(*run);
            }
        }
        snapshot.pack_each(of_build[0].0, &there, |id, bytes| {
            let mut packed = packed.lock().unwrap_or_else(PoisonError::into_inner);
            packed.push((id, bytes));
            Ok::<_, StoreError>(())
        })?;
    }
    Ok(packed.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Receives the profiles of a place that the store lacks. As in [`merge`](super::merge), profiles
/// in the store stay unchanged, and damaged ones are left out.
///
/// # Errors
///
/// Returns an error if the place is empty, contains something else or cannot be read, or the store
/// cannot be read or written. Profiles that were already received stay.
pub fn pull(
    store: &Store,
    place: &Place,
    request: &PullRequest,
    progress: OnProfiles<'_>,
) -> Result<Pulled, QueryError> {
    let exchange = Exchange::open(place)?.ok_or_else(|| ExchangeError::Nothing {
        place: place.to_string(),
    })?;
    let there = exchange.profiles()?;
    let mut pulled = Pulled {
        place: place.to_string(),
        dry_run: request.dry_run,
        ..Pulled::default()
    };
    pulled.merged.profiles = there.len();
    let here = store.snapshot()?;
    let replaced = here.replaced()?;
    let mut lacking = Vec::new();
    for (id, size) in there {
        // Another store may claim that any profile was replaced, which only the profile itself can show.
        let is_replaced = request.dry_run && replaced.contains_key(&id);
        if here.has(id)? || is_replaced {
            pulled.merged.already_stored += 1
        } else {
            lacking.push((id, size))
        }
    }
    // The snapshot has to be dropped before the store is written to.
    drop(here);
    if request.dry_run {
        pulled.received_bytes = Bytes(lacking.iter().map(|(_, size)| size.0).sum());
        pulled.merged.added = lacking.into_iter().map(|(id, _)| id).collect();
        return Ok(pulled);
    }
    let sizes = lacking.iter().map(|&(_, size)| size);
    for some in parts(&lacking, sizes, PULLED_AT_ONCE) {
        let files = fetched(&exchange, some, request, &mut pulled, progress)?;
        let memory = in_memory(&exchange, files, &mut pulled.merged)?;
        let part = store.merge(&memory.snapshot()?, &mut |_| request.cancel.check())?;
        pulled.merged.extend(part);
        progress(pulled.merged.processed(), pulled.merged.profiles);
    }
    Ok(pulled)
}

/// Downloads the files of profiles.
fn fetched(
    exchange: &Exchange<'_>,
    files: &[(ProfileId, Bytes)],
    request: &PullRequest,
    pulled: &mut Pulled,
    progress: OnProfiles<'_>,
) -> Result<Vec<(ProfileId, Vec<u8>)>, QueryError> {
    let fetched = Mutex::new(Vec::new());
    let (before, all) = (pulled.merged.processed(), pulled.merged.profiles);
    run_concurrently(files, |&(id, _)| -> Result<(), QueryError> {
        request.cancel.check()?;
        if let Some(bytes) = exchange.get(id)? {
            let mut fetched = fetched.lock().unwrap_or_else(PoisonError::into_inner);
            fetched.push((id, bytes));
            progress(before + fetched.len(), all);
        }
        Ok(())
    })?;
    let mut fetched = fetched.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The order must not depend on the duration of downloads.
    fetched.sort_unstable_by_key(|&(id, _)| id);
    pulled.received_bytes.0 += fetched
        .iter()
        .map(|(_, bytes)| bytes.len() as u64)
        .sum::<u64>();
    Ok(fetched)
}

/// Returns an in-memory store with these profiles, except for damaged ones.
fn in_memory(
    exchange: &Exchange<'_>,
    files: Vec<(ProfileId, Vec<u8>)>,
    merged: &mut Merged,
) -> Result<Store, StoreError> {
    let memory = Store::in_memory_for(Path::new(&exchange.place().to_string()))?;
    for (id, bytes) in files {
        match exchange.unpack(id, &bytes) {
            Ok(one) => match memory.merge(&one, &mut |_| Ok(())) {
                Ok(part) => {
                    merged.conflicts.extend(part.conflicts);
                    merged.left_out.extend(part.left_out);
                }
                Err(error) => merged.leave_out(vec![id], error),
            },
            Err(why) => merged.leave_out(vec![id], why),
        }
    }
    Ok(memory)
}
