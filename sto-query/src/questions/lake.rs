//! Profiles as a dataset of Parquet files, and back.

use crate::QueryError;
use crate::lake::{Added, Dataset, Found, LakeError};
use crate::maintain::{MergedStore, Merges};
use crate::questions::stores::selected;
use crate::sources::{Located, Named, Sources, Surroundings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::PathBuf;
use sto_core::Cancel;
use sto_core::files::Temporaries;
use sto_core::id::{BuildId, ExecutableId, ProfileId};
use sto_core::intern::Interned;
use sto_core::model::{Build, Profile};
use sto_core::store::{Merged, Snapshot, Store, StoreError, StoredBuild, StoredProfile};
use sto_core::units::{Bytes, UnixSeconds};

/// Profiles for a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LakeRequest {
    /// The profiles; without it, every one of the store.
    pub named: Option<Named>,
    /// The folder of the dataset. Where there is none, it is made.
    pub folder: PathBuf,
}

/// Adds profiles to a dataset of Parquet files. Any number of processes may do so at once.
///
/// # Errors
/// Where nothing has the name, the profiles cannot be read, or the dataset cannot be written.
pub fn add_to_lake(
    sources: &Sources,
    request: &LakeRequest,
    temporaries: &Temporaries,
) -> Result<Added, QueryError> {
    let located = sources.whole(request.named.as_ref())?;
    let dataset = Dataset::open_or_create(&request.folder, temporaries.clone())?;
    let mut result = Added::default();
    for Located {
        store, selection, ..
    } in &located
    {
        let build = &selection.build;
        let mut lacks: Vec<&StoredProfile> = Vec::new();
        for run in &selection.profiles {
            if !dataset.has(build, run.id)? {
                lacks.push(run);
            }
        }
        let ids: Vec<ProfileId> = lacks.iter().map(|run| run.id).collect();
        let runs: HashMap<ProfileId, &StoredProfile> =
            lacks.into_iter().map(|run| (run.id, run)).collect();
        store.load_each(ExecutableId::of(&build.executable), &ids, |id, interned| {
            dataset
                .add(build, runs[&id], &interned)
                .map_err(QueryError::from)
        })?;
        result.added += ids.len();
        result.kept += selection.profiles.len() - ids.len();
    }
    Ok(result)
}

/// Profiles of a dataset for a store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ImportLakeRequest {
    /// The folder of the dataset.
    pub folder: PathBuf,
    /// Selectors of the profiles; without any, it is all of them.
    pub selectors: Vec<String>,
    /// Ends it early: before the next profile.
    #[serde(skip)]
    pub cancel: Cancel,
}

/// How many profiles are in memory before they go into the store.
const AT_ONCE: usize = 256;

/// A profile of a dataset, without what it cost.
struct Listed {
    found: Found,
    build: Build,
    profile: Profile,
}

/// Takes profiles of a dataset into a store, as [`merge`](super::merge) takes in those of a store: what is here
/// stays as it is, and what is damaged is left out. `progress` is called with what became of them so far.
///
/// # Errors
/// Where there is no dataset, a selector names nothing, or the store cannot be read or written. What went in before
/// stays.
pub fn import_lake(
    store: &Store,
    surroundings: &dyn Surroundings,
    request: &ImportLakeRequest,
    progress: &mut dyn FnMut(&Merged),
) -> Result<Merges, QueryError> {
    let dataset = Dataset::open(&request.folder, Temporaries::default())?;
    let here = store.snapshot()?;
    let mut merged = Merged::default();
    let mut found = dataset.profiles()?;
    merged.profiles = found.len();
    if request.selectors.is_empty() {
        found = lacking(&here, found, &mut merged, |found| found.id)?;
    }
    let mut listed = listed(&dataset, found, &mut merged);
    if !request.selectors.is_empty() {
        let chosen = selected(surroundings, &builds(&listed), &request.selectors)?;
        listed.retain(|listed| chosen.contains(&listed.found.id));
        merged.profiles = listed.len();
        listed = lacking(&here, listed, &mut merged, |listed| listed.found.id)?;
    }
    // Nobody may read what is written to.
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
    let path = request.folder.display().to_string();
    Ok(Merges {
        sources: vec![MergedStore { path, merged }],
    })
}

/// Those that the store does not have; the others are counted.
fn lacking<T>(
    here: &Snapshot,
    all: Vec<T>,
    merged: &mut Merged,
    id: impl Fn(&T) -> ProfileId,
) -> Result<Vec<T>, StoreError> {
    let mut lacking = Vec::new();
    for one in all {
        match here.has(id(&one))? {
            true => merged.already_stored += 1,
            false => lacking.push(one),
        }
    }
    Ok(lacking)
}

/// What is known of profiles, in the order in which a store lists them; damaged ones are left out.
fn listed(dataset: &Dataset, found: Vec<Found>, merged: &mut Merged) -> Vec<Listed> {
    let read = |found: Found| match dataset.record(&found) {
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
        let recorded = profile.order_of_recording();
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
            (names, profile.order_of_recording(), found.id)
        },
    );
    listed
}

/// The builds that profiles are of, as selectors choose from.
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

/// A store with these profiles, but for those that are damaged.
fn in_memory(
    dataset: &Dataset,
    listed: &[Listed],
    merged: &mut Merged,
) -> Result<Store, QueryError> {
    let memory = Store::in_memory_for(dataset.root())?;
    let mut writer = memory.writer();
    for some in listed.chunks(rayon::current_num_threads()) {
        let read =
            |listed: &Listed| dataset.interned(&listed.found, &listed.build, &listed.profile);
        let read: Vec<Result<Interned, LakeError>> = some.par_iter().map(read).collect();
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
