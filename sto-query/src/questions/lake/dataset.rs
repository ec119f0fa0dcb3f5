//! Datasets, if the feature `lake` is enabled.

use super::{ImportLakeRequest, LakeRequest};
use crate::QueryError;
use crate::exchange::AddedToLake;
use crate::functions::Functions;
use crate::maintain::{MergedStore, Merges};
use crate::questions::stores::selected;
use crate::select::Selection;
use crate::sources::{Environment, LocatedProfiles, Sources};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use sto_core::id::{BuildId, ExecutableId, ProfileId};
use sto_core::ingest::{IngestOutcome, PreparedFile, Stage};
use sto_core::model::{Build, Profile};
use sto_core::store::{Added, Merged, Snapshot, Store, StoreError, StoredBuild, StoredProfile};
use sto_core::tree::ProfileData;
use sto_core::units::{Bytes, UnixSeconds};
use sto_lake::lake::{Dataset, DatasetProfile, LakeError, ProfileToAdd};
use sto_lake::places::Machine;

/// Adds profiles to a dataset of Parquet files. Any number of processes can do so concurrently.
///
/// # Errors
///
/// Returns an error if a selector names nothing, the profiles cannot be read, or the dataset cannot
/// be written. Profiles that were already added stay.
pub fn add_to_lake(
    sources: &Sources,
    request: &LakeRequest,
    machine: &Machine,
) -> Result<AddedToLake, QueryError> {
    let located = sources.select_all(request.named.as_ref())?;
    let dataset = Dataset::open_or_create(&request.place, machine)?;
    let mut result = AddedToLake {
        place: dataset.place().to_string(),
        ..AddedToLake::default()
    };
    for LocatedProfiles {
        store, selection, ..
    } in &located
    {
        add_build(store, selection, &dataset, &mut result)?;
    }
    Ok(result)
}

/// Adds the profiles of a build that a dataset lacks.
fn add_build(
    store: &Snapshot,
    selection: &Selection,
    dataset: &Dataset,
    result: &mut AddedToLake,
) -> Result<(), QueryError> {
    let build = &selection.build;
    let mut lacks: HashMap<ProfileId, &StoredProfile> = HashMap::new();
    let mut ids = Vec::new();
    for run in &selection.profiles {
        if dataset.has(build, run.id)? {
            result.kept += 1
        } else {
            lacks.insert(run.id, run);
            ids.push(run.id);
        }
    }
    let added = Mutex::new(&mut result.added);
    let executable = ExecutableId::from_name(&build.executable);
    store.load_each(executable, &ids, |id, interned| {
        let functions = Functions::new(&interned.frames);
        let all = functions.find_by_key(None).into_iter();
        let keys: Vec<&str> = all.map(|number| functions.name(number).0).collect();
        let bytes = dataset.add(&ProfileToAdd {
            build,
            run: lacks[&id],
            interned: &interned,
            function_of: functions.numbers(),
            functions: &keys,
        })?;
        let mut added = added.lock().unwrap_or_else(PoisonError::into_inner);
        added.insert(id, bytes);
        Ok(())
    })
}

/// Checks that a dataset can be written, so that a long recording does not fail at its end. Creates
/// the dataset if it does not exist.
///
/// # Errors
///
/// Returns an error if the place contains something else, or cannot be written.
pub fn check_lake(place: &Path, machine: &Machine) -> Result<(), QueryError> {
    Dataset::open_or_create(place, machine)?;
    Ok(())
}

/// Adds the profiles of a recording to a dataset without a store. The outcome is the same as for a
/// store.
///
/// # Errors
///
/// Returns an error if [`add_to_lake`] would.
pub fn ingest_to_lake(
    prepared: PreparedFile,
    place: &Path,
    machine: &Machine,
    progress: &mut dyn FnMut(Stage),
) -> Result<IngestOutcome, QueryError> {
    let memory = Store::in_memory()?;
    let mut outcome = prepared.store(&mut memory.writer(), progress)?;
    let request = LakeRequest {
        named: None,
        place: place.to_owned(),
    };
    let sources = Sources::from_snapshot(memory.snapshot()?);
    let result = add_to_lake(&sources, &request, machine)?;
    for ingested in &mut outcome.profiles {
        match (result.added.get(&ingested.id), &mut ingested.added) {
            (Some(&bytes), Added::New { stored, .. }) => *stored = bytes,
            (_, added) => *added = Added::AlreadyStored(ingested.id),
        }
    }
    Ok(outcome)
}

/// Number of profiles in memory before they are added to the store.
const AT_ONCE: usize = 256;

/// A profile of a dataset without its costs.
struct Listed {
    found: DatasetProfile,
    build: Build,
    profile: Profile,
}

/// Adds profiles of a dataset to a store. As in [`merge`](crate::questions::merge), profiles in the
/// store stay unchanged, and damaged ones are left out. Calls `progress` with the result so far.
///
/// # Errors
///
/// Returns an error if there is no dataset, a selector names nothing, or the store cannot be read
/// or written. Profiles that were already added stay.
pub fn import_lake(
    store: &Store,
    environment: &dyn Environment,
    request: &ImportLakeRequest,
    machine: &Machine,
    progress: &mut dyn FnMut(&Merged),
) -> Result<Merges, QueryError> {
    let dataset = Dataset::open(&request.place, machine)?;
    let here = store.snapshot()?;
    let mut merged = Merged::default();
    let mut found = dataset.profiles()?;
    merged.profiles = found.len();
    if request.selectors.is_empty() {
        found = lacking(&here, found, &mut merged, |found| found.id)?;
    }
    let mut listed = listed(&dataset, found, &mut merged);
    if !request.selectors.is_empty() {
        let chosen = selected(environment, &builds(&listed), &request.selectors)?;
        listed.retain(|listed| chosen.contains(&listed.found.id));
        merged.profiles = listed.len();
        listed = lacking(&here, listed, &mut merged, |listed| listed.found.id)?;
    }
    // The snapshot has to be dropped before the store is written to.
    drop(here);
    for some in listed.chunks(AT_ONCE) {
        progress(&merged);
        let memory = in_memory(&dataset, some, &mut merged)?;
        let before = merged.clone();
        let part = store.merge(&memory.snapshot()?, &mut |part| {
            let mut now = before.clone();
            now.extend(part.clone());
            progress(&now);
            request.cancel.check()
        })?;
        merged.extend(part);
    }
    progress(&merged);
    let path = dataset.place().to_string();
    Ok(Merges {
        sources: vec![MergedStore { path, merged }],
    })
}

/// Returns the profiles that the store lacks, and counts the others.
fn lacking<T>(
    here: &Snapshot,
    all: Vec<T>,
    merged: &mut Merged,
    id: impl Fn(&T) -> ProfileId,
) -> Result<Vec<T>, StoreError> {
    let mut lacking = Vec::new();
    for one in all {
        if here.has(id(&one))? {
            merged.already_stored += 1
        } else {
            lacking.push(one)
        }
    }
    Ok(lacking)
}

/// Reads the records of profiles in the order in which a store lists them. Damaged ones are left
/// out.
fn listed(dataset: &Dataset, found: Vec<DatasetProfile>, merged: &mut Merged) -> Vec<Listed> {
    let read = |found: DatasetProfile| match dataset.record(&found) {
        Ok((build, profile)) => Ok(Listed {
            found,
            build,
            profile,
        }),
        Err(error) => Err((found.id, error)),
    };
    let mut listed = Vec::new();
    for read in found.into_par_iter().map(read).collect::<Vec<_>>() {
        match read {
            Ok(profile) => listed.push(profile),
            Err((id, error)) => merged.leave_out(vec![id], error),
        }
    }
    let mut first: HashMap<BuildId, UnixSeconds> = HashMap::new();
    for Listed { profile, .. } in &listed {
        let recorded = profile.recorded_sort_key();
        let first = first.entry(profile.build).or_insert(recorded);
        *first = recorded.min(*first);
    }
    listed.sort_by_cached_key(
        |Listed {
             found,
             build,
             profile,
         }| {
            let first = first[&profile.build];
            let names = (build.executable.clone(), first, build.version.clone());
            (names, profile.recorded_sort_key(), found.id)
        },
    );
    listed
}

/// Groups profiles by build, for selectors.
fn builds(listed: &[Listed]) -> Vec<StoredBuild> {
    let of_build = listed.chunk_by(|a, b| a.profile.build == b.profile.build);
    let stored = |listed: &Listed| StoredProfile {
        id: listed.found.id,
        profile: listed.profile.clone(),
        gnu_build_id: listed.build.gnu_build_id.clone(),
        revision: listed.build.revision.clone(),
        commit: listed.build.commit.clone(),
        stored: Bytes(0),
        slices: Bytes(0),
    };
    let build = |profiles: &[Listed]| StoredBuild {
        id: profiles[0].profile.build,
        build: profiles[0].build.clone(),
        profiles: profiles.iter().map(stored).collect(),
        tags: Vec::new(),
    };
    of_build.map(build).collect()
}

/// Returns an in-memory store with these profiles, except for damaged ones.
fn in_memory(
    dataset: &Dataset,
    listed: &[Listed],
    merged: &mut Merged,
) -> Result<Store, QueryError> {
    let memory = Store::in_memory_for(Path::new(&dataset.place().to_string()))?;
    let mut writer = memory.writer();
    for some in listed.chunks(rayon::current_num_threads()) {
        let read =
            |listed: &Listed| dataset.interned(&listed.found, &listed.build, &listed.profile);
        let read: Vec<Result<ProfileData, LakeError>> = some.par_iter().map(read).collect();
        for (listed, interned) in some.iter().zip(read) {
            let Listed {
                found,
                build,
                profile,
            } = listed;
            let added = match interned {
                Ok(interned) => writer.add(build, profile, &interned),
                Err(error) => {
                    merged.leave_out(vec![found.id], error);
                    continue;
                }
            };
            match added {
                Ok(added) if added.id() == found.id => {}
                Ok(other) => {
                    let why = format!(
                        "profile {} of the dataset is of the same source",
                        other.id()
                    );
                    merged.leave_out(vec![found.id], why);
                }
                Err(why @ StoreError::Refused { .. }) => merged.leave_out(vec![found.id], why),
                Err(error) => return Err(error.into()),
            }
        }
    }
    drop(writer);
    Ok(memory)
}
