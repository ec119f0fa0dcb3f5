//! Selects builds by their age: `@newest`, `@previous`, `@newest~2`.

use super::{SelectError, Selection, Selector, full_name, select_whole_build};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use sto_core::model::Build;
use sto_core::store::StoredBuild;
use sto_core::units::UnixSeconds;

/// Returns how many builds before the newest one a selector means; `None` if it does not select by
/// age.
///
/// The name of a program precedes the `@`; without one, the selector begins with `@`.
pub(super) fn age(selector: &Selector) -> Option<usize> {
    let name = match selector.executable {
        Some(_) => selector.name.as_str(),
        None => selector.name.strip_prefix('@')?,
    };
    match name.split_once('~') {
        None if name == "newest" => Some(0),
        None if name == "previous" => Some(1),
        Some(("newest", before)) if before.bytes().all(|byte| byte.is_ascii_digit()) => {
            before.parse().ok()
        }
        _ => None,
    }
}

/// Returns the time of a build, by which all features order builds. This is the time of its first
/// run, as a build may be recorded again, or alternate with another. Averages do not count as runs.
pub fn first_recorded(build: &StoredBuild) -> Option<UnixSeconds> {
    let runs = build.profiles.iter();
    runs.filter(|stored| !stored.profile.is_average())
        .filter_map(|stored| stored.profile.origin.recorded)
        .min()
}

/// Sorts builds by their time, oldest first. Builds of the same time are sorted by name; builds
/// without a time come last.
pub(crate) fn oldest_first(builds: &mut [StoredBuild]) {
    builds.sort_by_cached_key(|build| {
        let first = first_recorded(build);
        let Build {
            executable,
            version,
            ..
        } = &build.build;
        (first.is_none(), first, executable.clone(), version.clone())
    });
}

/// Returns the build of this age, of the program that the selector names or the only one in the
/// store.
pub(super) fn select(
    builds: &[&StoredBuild],
    selector: &Selector,
    age: usize,
) -> Result<Selection, SelectError> {
    let is_meant = |build: &&&StoredBuild| {
        let executable = selector.executable.as_ref();
        executable.is_none_or(|executable| *executable == build.build.executable)
    };
    let mut matching: Vec<&StoredBuild> = builds.iter().filter(is_meant).copied().collect();
    let programs: BTreeSet<&str> = matching
        .iter()
        .map(|build| build.build.executable.as_str())
        .collect();
    if programs.len() > 1 {
        let with_age = |program| format!("{program}{selector}");
        return Err(SelectError::SeveralPrograms {
            selector: selector.to_string(),
            candidates: programs.into_iter().map(with_age).collect(),
        });
    }
    matching.retain(|build| first_recorded(build).is_some());
    matching.sort_by_key(|build| Reverse((first_recorded(build), &build.build.version)));
    match matching.get(age) {
        Some(build) => Ok(select_whole_build(build)),
        None => Err(SelectError::TooFewBuilds {
            selector: selector.to_string(),
            known: matching
                .iter()
                .map(|build| full_name(&build.build))
                .collect(),
        }),
    }
}
