//! Which profiles may go, and what that gives back.

use crate::answer::Answer;
use crate::select::first_recorded;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::{BuildId, ProfileId};
use sto_core::store::{Rewritten, Store, StoreError, StoredBuild, StoredProfile};
use sto_core::units::{Bytes, UnixSeconds};

/// Which profiles may go: those to which everything applies that is said here, and whose build has
/// no tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PruneOptions {
    /// Only what was recorded before this. A recording without a time stays.
    pub recorded_before: Option<UnixSeconds>,
    /// Not the runs of the newest builds of a group, this many in each. A group is what has the
    /// same executable and benchmark, and the same value of `group_by`. Averages are no runs: they do
    /// not count, and stay.
    pub keep_last: Option<usize>,
    /// A label that groups are distinguished by as well: say, the branch.
    pub group_by: Option<String>,
    /// Only these, where some are named.
    pub only: BTreeSet<ProfileId>,
    /// Only what has all these labels.
    pub labels: Vec<(String, String)>,
    /// Only runs of this benchmark.
    pub benchmark: Option<String>,
    /// Only as much, oldest first, as it takes to bring the store's file down to this size.
    pub max_size: Option<Bytes>,
    /// Not these.
    pub keep: BTreeSet<ProfileId>,
    /// Find out what would go, and change nothing.
    pub dry_run: bool,
}

/// What went, or would go.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pruned {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The builds of which profiles went, in the store's order.
    pub builds: Vec<PrunedBuild>,
    /// Number of profiles that went.
    pub profiles: usize,
    /// Number of profiles that are left.
    pub profiles_left: usize,
    /// Size of the store's file before.
    pub bytes_before: u64,
    /// Size of the store's file now, or what it would be.
    pub bytes_after: u64,
    /// Whether profiles were only taken out of the file, as the disk had no room to write it anew: stacks
    /// that no profile has any more are still in it.
    pub in_place: bool,
    /// Whether that is within the size that was asked for; `None` where none was.
    pub fits: Option<bool>,
    /// The builds that stay only because they have a tag, in the store's order.
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
    /// Its tags.
    pub tags: Vec<String>,
}

/// A build of which profiles went.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PrunedBuild {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub version: String,
    /// Ids of the profiles that went, oldest recording first.
    pub profiles: Vec<String>,
    /// Number of its profiles that are left.
    pub profiles_left: usize,
}

/// Removes the profiles that may go.
///
/// # Errors
/// Where the store cannot be read or written; it is then as it was.
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
    // Of a size that fits, only what is older than the last that went had to go as well.
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

/// The profiles that may go, oldest recording first; those without a time come before all others.
fn removable<'a>(builds: &'a [StoredBuild], options: &PruneOptions) -> Vec<&'a StoredProfile> {
    let kept = newest(builds, options);
    let mut removable: Vec<&StoredProfile> = builds
        .iter()
        .flat_map(|build| &build.profiles)
        .filter(|stored| {
            let profile = &stored.profile;
            let is_old = |time| profile.origin.recorded.is_some_and(|at| at < time);
            let has = |(key, value): &(String, String)| profile.labels.get(key) == Some(value);
            let runs = |benchmark: &String| profile.benchmark.as_ref() == Some(benchmark);
            options.recorded_before.is_none_or(is_old)
                && options.labels.iter().all(has)
                && options.benchmark.as_ref().is_none_or(runs)
                && (options.only.is_empty() || options.only.contains(&stored.id))
                && !options.keep.contains(&stored.id)
                && !kept.contains(&stored.id)
        })
        .collect();
    removable.sort_by_key(|stored| (stored.profile.origin.recorded, stored.id));
    removable
}

/// The runs of the newest builds of each group, and averages, which are no runs.
fn newest(builds: &[StoredBuild], options: &PruneOptions) -> BTreeSet<ProfileId> {
    let Some(count) = options.keep_last else {
        return BTreeSet::new();
    };
    // By the time of the build, and then by its id.
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

/// The oldest of these profiles, as many as have to go for the store's file to fit into a size; all
/// where that is not enough.
///
/// What is shared goes only with the last that has it, so the size is only known once the rest was
/// written. The search ends as soon as no more than a twentieth of the size stays unused.
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
            // What is its own goes with a profile at least.
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
