//! Removal of old profiles from a store.

use crate::answer::Answer;
use crate::select::{first_recorded, is_of_benchmark};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::{BuildId, ProfileId};
use sto_core::store::{Rewritten, Store, StoreError, StoredBuild, StoredProfile};
use sto_core::units::{Bytes, UnixSeconds};

/// Selection of profiles to remove. They must match all criteria, and their build must not have a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PruneOptions {
    /// Remove only profiles recorded before this time. Recordings without a time are kept.
    pub recorded_before: Option<UnixSeconds>,
    /// Keep the runs of this number of newest builds in each group. Builds in a group have the same executable,
    /// benchmark, and value of `group_by`. Averages do not count as runs, and are kept.
    pub keep_last: Option<usize>,
    /// Label that also distinguishes groups, such as the branch.
    pub group_by: Option<String>,
    /// Remove only these, unless empty.
    pub only: BTreeSet<ProfileId>,
    /// Remove only profiles with all of these labels.
    pub labels: Vec<(String, String)>,
    /// Remove only runs of these benchmarks, unless empty; `*` in a name stands for any text.
    pub benchmarks: Vec<String>,
    /// Remove only as many as necessary, oldest first, for the store's file to have at most this size.
    pub max_size: Option<Bytes>,
    /// Keep these.
    pub keep: BTreeSet<ProfileId>,
    /// Only report what would be removed.
    pub dry_run: bool,
}

/// Result of removing profiles.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pruned {
    /// Whether this was a dry run, which changes nothing.
    pub dry_run: bool,
    /// Builds with removed profiles, in the store's order.
    pub builds: Vec<PrunedBuild>,
    /// Number of removed profiles.
    pub profiles: usize,
    /// Number of remaining profiles.
    pub profiles_left: usize,
    /// Size of the store's file before.
    pub bytes_before: u64,
    /// Size of the store's file afterwards; in a dry run, the expected size.
    pub bytes_after: u64,
    /// Whether the file was modified in place, because the disk did not have enough space to rewrite it. Stacks
    /// without profiles then remain in it.
    pub in_place: bool,
    /// Whether `bytes_after` is within the requested size; `None` if none was requested.
    pub fits: Option<bool>,
    /// Builds kept only because they have a tag, in the store's order.
    pub kept_by_tag: Vec<TaggedBuild>,
}

impl Answer for Pruned {
    const SCHEMA: &'static str = "sto.prune/1";
}

/// A build that has tags.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaggedBuild {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub version: String,
    /// Tags.
    pub tags: Vec<String>,
}

/// A build with removed profiles.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PrunedBuild {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub version: String,
    /// Ids of the removed profiles, oldest recording first.
    pub profiles: Vec<String>,
    /// Number of remaining profiles of the build.
    pub profiles_left: usize,
}

/// Removes profiles.
///
/// # Errors
///
/// Returns an error if the store cannot be read or written; it is then unchanged.
pub fn prune(store: &Store, options: &PruneOptions) -> Result<Pruned, StoreError> {
    let builds = store.snapshot()?.builds()?;
    let tagged = builds.iter().filter(|build| !build.tags.is_empty());
    let tagged: BTreeSet<BuildId> = tagged.map(|build| build.id).collect();
    let may_go = removable(&builds, options);
    let is_tagged = |stored: &&StoredProfile| tagged.contains(&stored.profile.build);
    let untagged: Vec<&StoredProfile> = may_go.iter().copied().filter(|p| !is_tagged(p)).collect();
    let gone: BTreeSet<ProfileId> = match options.max_size {
        None => untagged.iter().map(|stored| stored.id).collect(),
        Some(size) => enough(store, &untagged, size)?,
    };
    let rewritten = if options.dry_run {
        store.try_prune(&gone)?
    } else if gone.is_empty() && options.max_size.is_none() {
        let size = store.file_size()?;
        Rewritten {
            before: size,
            after: size,
            in_place: false,
        }
    } else {
        store.prune(&gone)?
    };
    let fits = options.max_size.map(|size| rewritten.after <= size);
    // If the size was reached, profiles newer than the last removed one did not have to be removed.
    let reached = match (
        fits,
        may_go.iter().rposition(|stored| gone.contains(&stored.id)),
    ) {
        (Some(true), last) => last.map_or(0, |last| last + 1),
        _ => may_go.len(),
    };
    let kept = may_go[..reached].iter().filter(|p| is_tagged(p));
    let kept: BTreeSet<BuildId> = kept.map(|stored| stored.profile.build).collect();
    Ok(report(
        &builds,
        &gone,
        &kept,
        options.dry_run,
        fits,
        rewritten,
    ))
}

/// Returns the profiles that may be removed, oldest recording first; those without a time come before all others.
fn removable<'a>(builds: &'a [StoredBuild], options: &PruneOptions) -> Vec<&'a StoredProfile> {
    let kept = newest(builds, options);
    let mut removable: Vec<&StoredProfile> = builds
        .iter()
        .flat_map(|build| &build.profiles)
        .filter(|stored| {
            let profile = &stored.profile;
            let is_old = |time| profile.origin.recorded.is_some_and(|at| at < time);
            let has = |(key, value): &(String, String)| profile.labels.get(key) == Some(value);
            options.recorded_before.is_none_or(is_old)
                && options.labels.iter().all(has)
                && (options.benchmarks.is_empty() || is_of_benchmark(&options.benchmarks, stored))
                && (options.only.is_empty() || options.only.contains(&stored.id))
                && !options.keep.contains(&stored.id)
                && !kept.contains(&stored.id)
        })
        .collect();
    removable.sort_by_key(|stored| (stored.profile.origin.recorded, stored.id));
    removable
}

/// Returns the runs of the newest builds in each group, and averages.
fn newest(builds: &[StoredBuild], options: &PruneOptions) -> BTreeSet<ProfileId> {
    let Some(count) = options.keep_last else {
        return BTreeSet::new();
    };
    // By the time of the build, then by its id.
    type Runs = BTreeMap<(Option<UnixSeconds>, BuildId), Vec<ProfileId>>;
    let mut groups: BTreeMap<_, Runs> = BTreeMap::new();
    let mut kept = BTreeSet::new();
    for build in builds {
        let time = (first_recorded(build), build.id);
        for StoredProfile { id, profile, .. } in &build.profiles {
            if profile.is_average() {
                kept.insert(*id);
                continue;
            }
            let label = options.group_by.as_ref().map(|key| profile.labels.get(key));
            let group = (&build.build.executable, &profile.benchmark, label);
            let runs = groups.entry(group).or_default();
            runs.entry(time).or_default().push(*id);
        }
    }
    for builds in groups.into_values() {
        let newest = builds.into_values().rev().take(count);
        kept.extend(newest.flatten());
    }
    kept
}

/// Returns the oldest of these profiles whose removal reduces the store's file to a size; all if that is not enough.
///
/// Shared data is only removed with the last profile that uses it, so the size is only known after writing the rest.
/// The search ends when at most a twentieth of the size is unused.
fn enough(
    store: &Store,
    removable: &[&StoredProfile],
    size: Bytes,
) -> Result<BTreeSet<ProfileId>, StoreError> {
    let first = |count: usize| removable[..count].iter().map(|stored| stored.id).collect();
    let size_without = |count: usize| store.try_prune(&first(count)).map(|pruned| pruned.after);
    let mut too_few = size_without(0)?;
    if too_few <= size {
        return Ok(BTreeSet::new());
    }
    let (mut low, mut high) = (0, removable.len());
    let mut fits: Option<Bytes> = None;
    while high - low > 1 && fits.is_none_or(|fits| fits.0 + size.0 / 20 < size.0) {
        let middle = match fits {
            // At least its own data is removed with a profile.
            None => {
                let excess = too_few.0.saturating_sub(size.0);
                let mut own = 0u64;
                let count = removable[low..high].iter().take_while(|stored| {
                    own = own.saturating_add(stored.stored.0);
                    own < excess
                });
                (low + 1 + count.count()).min(high - 1)
            }
            Some(_) => low + (high - low) / 2,
        };
        let found = size_without(middle)?;
        if found <= size {
            (high, fits) = (middle, Some(found));
        } else {
            (low, too_few) = (middle, found);
        }
    }
    Ok(first(high))
}

fn report(
    builds: &[StoredBuild],
    gone: &BTreeSet<ProfileId>,
    kept_by_tag: &BTreeSet<BuildId>,
    dry_run: bool,
    fits: Option<bool>,
    rewritten: Rewritten,
) -> Pruned {
    let pruned = builds.iter().filter_map(|build| {
        let ids = build.profiles.iter().map(|stored| stored.id);
        let profiles: Vec<String> = ids
            .filter(|id| gone.contains(id))
            .map(|id| id.to_string())
            .collect();
        (!profiles.is_empty()).then(|| PrunedBuild {
            executable: build.build.executable.clone(),
            version: build.build.version.clone(),
            profiles_left: build.profiles.len() - profiles.len(),
            profiles,
        })
    });
    let all: usize = builds.iter().map(|build| build.profiles.len()).sum();
    Pruned {
        dry_run,
        builds: pruned.collect(),
        profiles: gone.len(),
        profiles_left: all - gone.len(),
        bytes_before: rewritten.before.0,
        bytes_after: rewritten.after.0,
        in_place: rewritten.in_place,
        fits,
        kept_by_tag: builds
            .iter()
            .filter(|build| kept_by_tag.contains(&build.id))
            .map(|build| TaggedBuild {
                executable: build.build.executable.clone(),
                version: build.build.version.clone(),
                tags: build.tags.clone(),
            })
            .collect(),
    }
}
