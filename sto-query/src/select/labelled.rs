//! Runs of any programs and builds, by labels and time.

use super::matchers::{LabelMatchers, run_label};
use super::{Selection, full_name, listed};
use serde::{Deserialize, Serialize};
use sto_core::model::{Build, Profile};
use sto_core::store::{StoredBuild, StoredProfile};
use sto_core::units::{Nanoseconds, UnixSeconds};

/// Runs of any number of programs and builds, selected by labels and time. Averages of runs are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelledRuns {
    /// Conditions on their labels.
    pub labels: LabelMatchers,
    /// Only the time from this one on.
    pub since: Option<UnixSeconds>,
    /// Only the time before this one.
    pub until: Option<UnixSeconds>,
}

/// Maximum number of builds that the name of a selection lists.
const MAX_NAMED: usize = 3;

impl LabelledRuns {
    /// Removes all runs but those that have the labels and were recorded at least partly in the time.
    pub(crate) fn choose(&self, mut builds: Vec<StoredBuild>) -> Vec<StoredBuild> {
        for StoredBuild {
            build, profiles, ..
        } in &mut builds
        {
            profiles.retain(|stored| {
                let profile = &stored.profile;
                let label = |name: &str| run_label(build, profile, name);
                !profile.is_average() && self.overlaps(stored) && self.labels.matches(label)
            });
        }
        builds.retain(|build| !build.profiles.is_empty());
        builds
    }

    /// Returns `true` if a run was recorded in the time from begin to end.
    pub(crate) fn contains(&self, run: &StoredProfile) -> bool {
        let Some((first, last)) = time_of(run) else {
            return self.is_any_time();
        };
        self.since.is_none_or(|since| since.0 <= first)
            && self.until.is_none_or(|until| last < nanoseconds(until))
    }

    /// Returns the part of the time after the run's begin, from one time to before another.
    pub(crate) fn part_of(&self, profile: &Profile) -> [Nanoseconds; 2] {
        let begin = profile.origin.recorded.map_or(0, |recorded| recorded.0);
        let after = |time: UnixSeconds| {
            let seconds = time.0.saturating_sub(begin);
            Nanoseconds(seconds.saturating_mul(1_000_000_000))
        };
        [
            self.since.map_or(Nanoseconds(0), after),
            self.until.map_or(Nanoseconds(u64::MAX), after),
        ]
    }

    fn overlaps(&self, run: &StoredProfile) -> bool {
        let Some((first, last)) = time_of(run) else {
            return self.is_any_time();
        };
        self.since.is_none_or(|since| nanoseconds(since) <= last)
            && self.until.is_none_or(|until| first < until.0)
    }

    fn is_any_time(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }
}

/// Returns the second in which a run began, and the latest nanosecond in which it may have ended; `None` if unknown.
fn time_of(run: &StoredProfile) -> Option<(u64, u128)> {
    let begin = run.profile.origin.recorded?;
    Some((
        begin.0,
        nanoseconds(begin) + u128::from(longest(run, begin).0),
    ))
}

/// Returns the longest time that a run may have lasted. Its slices tell which part of that is in a period.
fn longest(run: &StoredProfile, begin: UnixSeconds) -> Nanoseconds {
    /// A day, an hour and a minute.
    const LENGTHS: [u64; 3] = [86_400, 3_600, 60];
    let is_window = run.profile.is_window();
    match run.profile.origin.duration {
        // The duration of a window is that of all runs in it, which were at the same time.
        Some(duration) if !is_window => duration,
        _ if run.slices.0 == 0 => Nanoseconds(0),
        _ => {
            // A window begins at a multiple of its length.
            let may_be = |length: &u64| !is_window || begin.0.is_multiple_of(*length);
            let length = LENGTHS.into_iter().find(may_be).unwrap_or(LENGTHS[2]);
            Nanoseconds(length * 1_000_000_000)
        }
    }
}

fn nanoseconds(time: UnixSeconds) -> u128 {
    u128::from(time.0) * 1_000_000_000
}

/// Makes one selection of the runs of several builds, under a name that lists some of the builds.
pub(crate) fn select_together(mut builds: Vec<StoredBuild>) -> Selection {
    if let [_] = &builds[..] {
        let StoredBuild {
            build, profiles, ..
        } = builds.remove(0);
        return Selection { build, profiles };
    }
    let mut programs: Vec<&str> = builds.iter().map(|b| &*b.build.executable).collect();
    programs.dedup();
    let names: Vec<String> = match programs[..] {
        [_] => builds.iter().map(|b| b.build.version.clone()).collect(),
        _ => builds.iter().map(|b| full_name(&b.build)).collect(),
    };
    let mut version = listed(&names[..names.len().min(MAX_NAMED)]);
    if names.len() > MAX_NAMED {
        version += &format!(" and {} more", names.len() - MAX_NAMED);
    }
    let executable = match programs[..] {
        [program] => program.to_owned(),
        _ => format!("{} programs", programs.len()),
    };
    Selection {
        build: Build {
            executable,
            version,
            gnu_build_id: None,
            revision: None,
            commit: None,
        },
        profiles: builds.into_iter().flat_map(|b| b.profiles).collect(),
    }
}
