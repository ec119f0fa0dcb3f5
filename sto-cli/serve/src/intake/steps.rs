//! Older windows become longer ones, and the oldest are removed.
//!
//! | length | up to this age of the window's end | slices of time in it |
//! |---|---|---|
//! | 10 seconds | 2 minutes | none |
//! | 1 minute | 2 hours | 10 seconds |
//! | 1 hour | 2 days | 1 minute |
//! | 1 day | retained | 1 hour |
//!
//! A longer window is the exact sum of the shorter ones, and replaces them in one transaction. So every question has the
//! same answer before and after, apart from times within a window. A late profile makes a new short window, which is
//! added to the long one of its time in the next round.

use super::windows::{Series, Step, Window};
use crate::services::Retention;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::store::{NewProfile, Store, StoredBuild, StoredProfile};
use sto_core::units::{Bytes, UnixSeconds};
use sto_core::{Build, StoreError};
use sto_query::QueryError;
use sto_query::questions::{PruneOptions, PruneRequest, prune};

/// The lengths of merged windows, longest first, and the lengths of their slices.
const STEPS: [(Step, Step); 3] = [
    (Step(86_400), Step(3_600)),
    (Step(3_600), Step(60)),
    (Step(60), Step::FIRST),
];

/// Number of windows that are read for one transaction.
const MAX_PARTS: usize = 128;

/// Windows that become one.
struct Group<'a> {
    build: &'a StoredBuild,
    start: UnixSeconds,
    /// The length of the sum's slices.
    steps: (Step, Step),
    parts: Vec<&'a StoredProfile>,
}

/// Returns the longest window at this time that is so old that another one of its length has passed since.
fn due(recorded: UnixSeconds, now: UnixSeconds) -> Option<(UnixSeconds, (Step, Step))> {
    let mut steps = STEPS.into_iter();
    steps.find_map(|(step, slice)| {
        let start = step.start(recorded);
        (start.0.saturating_add(2 * step.0) <= now.0).then_some((start, (step, slice)))
    })
}

/// Returns the windows that are to be merged, by build, oldest first.
fn groups(builds: &[StoredBuild], now: UnixSeconds) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(Series, UnixSeconds), Group> = BTreeMap::new();
    for build in builds {
        for part in build
            .profiles
            .iter()
            .filter(|part| part.profile.is_window())
        {
            let Some(recorded) = part.profile.origin.recorded else {
                continue;
            };
            if let Some((start, steps)) = due(recorded, now) {
                let key = (Series::new(&build.build, &part.profile), start);
                let group = groups.entry(key).or_insert_with(|| Group {
                    build,
                    start,
                    steps,
                    parts: Vec::new(),
                });
                group.parts.push(part);
            }
        }
    }
    let several = groups.into_values().filter(|group| group.parts.len() > 1);
    several.collect()
}

/// Merges windows that are old enough, of one program and in one transaction. Returns `true` if there may be more.
///
/// # Errors
///
/// Returns an error if the store cannot be read or written, or if another process removed a window meanwhile.
pub(super) fn merge_some(store: &Store, now: UnixSeconds) -> Result<bool, StoreError> {
    let snapshot = store.snapshot()?;
    let builds = snapshot.builds()?;
    let groups = groups(&builds, now);
    let Some(first) = groups.first() else {
        return Ok(false);
    };
    let executable = &first.build.build.executable;
    let mut count = 0;
    let chosen = groups.iter().take_while(|group| {
        let is_first = count == 0;
        count += group.parts.len();
        group.build.build.executable == *executable && (is_first || count <= MAX_PARTS)
    });
    let chosen: Vec<&Group> = chosen.collect();
    let sums = chosen.iter().map(|group| {
        let (step, slice) = group.steps;
        let like = group.parts[0];
        let build = part_build(group.build, like);
        let window = Window::new(&build, &like.profile, group.start, step.slices(slice));
        Mutex::new((window, Vec::new()))
    });
    let sums: Vec<Mutex<(Window, Vec<ProfileId>)>> = sums.collect();
    let parts = chosen.iter().zip(&sums);
    let parts: BTreeMap<ProfileId, (&StoredProfile, &Mutex<_>)> = parts
        .flat_map(|(group, sum)| group.parts.iter().map(move |part| (part.id, (*part, sum))))
        .collect();
    let ids: Vec<ProfileId> = parts.keys().copied().collect();
    snapshot.load_each(ExecutableId::from_name(executable), &ids, |id, data| {
        let (part, sum) = parts[&id];
        let build = part_build(first.build, part);
        let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        // A part whose counts do not fit stays what it is.
        if sum
            .0
            .add(part.profile.source, &build, &part.profile, &data)
            .is_ok()
        {
            sum.1.push(id);
        }
        Ok::<(), StoreError>(())
    })?;
    drop(snapshot);
    let sums = sums.into_iter().map(|sum| {
        let (window, sum_of) = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        NewProfile {
            sum_of,
            ..window.finish()
        }
    });
    let sums: Vec<NewProfile> = sums.filter(|sum| sum.sum_of.len() > 1).collect();
    let merged = store.writer().add_all(&sums)?;
    Ok(merged > 0)
}

/// The build as one of its profiles describes it.
fn part_build(build: &StoredBuild, part: &StoredProfile) -> Build {
    Build {
        gnu_build_id: part.gnu_build_id.clone(),
        revision: part.revision.clone(),
        commit: None,
        ..build.build.clone()
    }
}

/// Removes windows that are retained long enough.
///
/// # Errors
///
/// Returns an error if the store cannot be read or written.
pub(super) fn expire(
    store: &Store,
    retention: &Retention,
    now: UnixSeconds,
) -> Result<(), QueryError> {
    if let Some(days) = retention.days {
        let age = u64::from(days) * 86_400;
        let before = UnixSeconds(now.0.saturating_sub(age));
        prune_windows(store, |options| options.recorded_before = Some(before))?;
    }
    if let Some(mib) = retention.store_mib {
        let size = Bytes(u64::from(mib) << 20);
        if store.file_size()? > size {
            prune_windows(store, |options| options.max_size = Some(size))?;
        }
    }
    Ok(())
}

/// Removes windows that fulfil a condition, and never runs.
fn prune_windows(
    store: &Store,
    condition: impl FnOnce(&mut PruneOptions),
) -> Result<(), QueryError> {
    let builds = store.snapshot()?.builds()?;
    let all = builds.iter().flat_map(|build| &build.profiles);
    let windows = all.filter(|stored| stored.profile.is_window());
    let mut request = PruneRequest::default();
    request.options.only = windows.map(|stored| stored.id).collect();
    // An empty list would stand for all profiles.
    if request.options.only.is_empty() {
        return Ok(());
    }
    condition(&mut request.options);
    prune(store, &(), &request).map(drop)
}
