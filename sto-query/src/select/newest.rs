//! Builds by their age: `@newest`, `@previous`, `@newest~2`.

use super::{SelectError, Selection, Selector, full_name, whole};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use sto_core::model::Build;
use sto_core::store::StoredBuild;
use sto_core::units::UnixSeconds;

/// How many builds before the newest one a selector means; `None` where it means none by its age.
///
/// The name of a program stands before the `@`; without one the selector begins with it.
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

/// The time of a build, by which builds are newer or older wherever that matters: that of its first run, as
/// a build may be recorded again, or in turns with another. Averages are no runs.
pub fn first_recorded(build: &StoredBuild) -> Option<UnixSeconds> {
    let runs = build.profiles.iter();
    runs.filter(|stored| !stored.profile.is_average())
        .filter_map(|stored| stored.profile.origin.recorded)
        .min()
}

/// Brings builds into the order of their time, oldest first; those that have none, and those of one time, by
/// their names, those without a time last.
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

/// The build of this age, of the program that the selector names or the only one that there is.
pub(super) fn select(
    builds: &[&StoredBuild],
    selector: &Selector,
    age: usize,
) -> Result<Selection, SelectError> {
    let is_meant = |build: &&&StoredBuild| {
        let executable = selector.executable.as_ref();
        executable.is_none_or(|executable| *executable == build.build.executable)
    };
    let mut of_program: Vec<&StoredBuild> = builds.iter().filter(is_meant).copied().collect();
    let programs: BTreeSet<&str> = of_program
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
    of_program.retain(|build| first_recorded(build).is_some());
    of_program.sort_by_key(|build| Reverse((first_recorded(build), &build.build.version)));
    match of_program.get(age) {
        Some(build) => Ok(whole(build)),
        None => Err(SelectError::TooFewBuilds {
            selector: selector.to_string(),
            known: of_program
                .iter()
                .map(|build| full_name(&build.build))
                .collect(),
        }),
    }
}
