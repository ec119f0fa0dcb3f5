//! Selects profiles by the names that users type.
//!
//! See [the manual](crate::manual::select).

mod ancestry;
mod benchmark;
mod benchmark_runs;
mod by_commit;
mod error;
mod labelled;
mod matchers;
mod newest;
mod range;
mod revision;

pub use ancestry::Ancestry;
pub(crate) use benchmark::{check_one_benchmark, is_of_benchmark, matches_name};
pub use benchmark_runs::BenchmarkRuns;
pub(crate) use by_commit::group_by_commit;
pub use error::{NoBuildInRange, NoBuildOfCommit, SelectError};
pub use labelled::LabelledRuns;
pub(crate) use labelled::select_together;
pub(crate) use matchers::run_label;
pub use matchers::{LabelMatchers, SERVICE_NAME, VERSION};
pub use newest::first_recorded;
pub(crate) use newest::oldest_first;
pub use revision::{Described, TaggedCommit};
pub(crate) use revision::{select_runs, shortened as shortened_revision};

use crate::text::printable;
use std::collections::BTreeSet;
use sto_core::model::Build;
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};

/// A selector of profiles as the user typed it: `[EXE@]BUILD`, `[EXE@]TAG`, `[EXE]@newest`,
/// `[EXE@]git:REVISION`, `[EXE@]git:FROM..TO`, or a GNU build id, a profile's id, or a prefix of
/// either.
///
/// The text is split at its first `@`, since versions may contain one (`parser@2.1`) and names of
/// executables hardly do. If that guess is wrong, [`select`] still finds the build, because it
/// compares whole names first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selector {
    /// The executable, if it was named.
    pub executable: Option<String>,
    /// The build, tag, revision, or id of a build or profile.
    pub name: String,
    /// The commit that the git revision was resolved to.
    pub(crate) commit: Option<TaggedCommit>,
    /// The commits that the range of git revisions was resolved to.
    pub(crate) range: Option<Vec<TaggedCommit>>,
}

/// Profiles of one build.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Selection {
    /// The build.
    pub build: Build,
    /// The selected profiles: all or some of the build's. Empty only if none has the requested
    /// benchmark.
    pub profiles: Vec<StoredProfile>,
}

impl Selection {
    /// Creates a selection of profiles of a build.
    pub fn new(build: Build, profiles: Vec<StoredProfile>) -> Selection {
        Selection { build, profiles }
    }
}

/// Returns the names of a build's main program: the executable's name, and files with the build's
/// build id (as the user may have named the executable differently).
pub(crate) fn main_modules<'a>(
    build: &'a Build,
    profiles: &'a [StoredProfile],
) -> BTreeSet<&'a str> {
    let modules = profiles
        .iter()
        .flat_map(|stored| stored.profile.modules.iter());
    let same_id =
        modules.filter(|module| module.build_id.is_some() && module.build_id == build.gnu_build_id);
    let mut names: BTreeSet<&str> = same_id.map(|module| module.name.as_str()).collect();
    names.insert(&build.executable);
    names
}

/// Maximum number of builds that an error message names; a store may have thousands.
const MAX_NAMED: usize = 10;

/// Minimum length of the prefix of an id, as in git.
pub(crate) const MIN_PREFIX: usize = 4;

impl std::str::FromStr for Selector {
    type Err = SelectError;

    fn from_str(text: &str) -> Result<Self, SelectError> {
        let (executable, name) = match text.split_once('@') {
            // Revisions may contain an `@`: `git:main@{1}`.
            _ if text.starts_with(revision::PREFIX) => (None, text),
            Some((executable, name)) if !executable.is_empty() => (Some(executable), name),
            _ => (None, text),
        };
        if name.is_empty() {
            let text = text.to_owned();
            return Err(SelectError::Malformed { text });
        }
        Ok(Selector {
            executable: executable.map(str::to_owned),
            name: name.to_owned(),
            commit: None,
            range: None,
        })
    }
}

impl Selector {
    /// Returns the git revision that the selector names, such as `HEAD~1`. [`Selector::with_commit`] sets
    /// the commit that it resolves to.
    pub(crate) fn revision(&self) -> Option<&str> {
        self.name.strip_prefix(revision::PREFIX)
    }

    /// Sets the commit that the revision was resolved to.
    #[must_use]
    pub fn with_commit(self, commit: TaggedCommit) -> Self {
        Selector {
            commit: Some(commit),
            ..self
        }
    }
}

impl std::fmt::Display for Selector {
    /// Writes the text that the selector was parsed from.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(executable) = &self.executable {
            write!(f, "{executable}@")?;
        }
        f.write_str(&self.name)
    }
}

/// Finds the profiles that a selector names; see [`select_from`].
///
/// # Errors
/// Returns the same errors as [`select_from`], and an error if the store cannot be read.
pub fn select(store: &Snapshot, selector: &Selector) -> Result<Selection, SelectError> {
    select_from(&store.builds()?, selector)
}

/// Finds the profiles that a selector names among these builds.
///
/// The first of these that matches is returned: `EXE@BUILD` exactly; a build's version exactly; a
/// tag or `EXE@TAG` exactly; a build by its age (`[EXE]@newest`, `@previous`, `@newest~N`); `git:`
/// with a commit, or with a range of commits that has one build; GNU build ids and profile ids that
/// begin with the name, which then must have at least four hexadecimal digits.
///
/// # Errors
/// Returns an error if there is no such build or profile (with the existing ones, and the closest),
/// or if there are several.
pub fn select_from(builds: &[StoredBuild], selector: &Selector) -> Result<Selection, SelectError> {
    let builds: Vec<&StoredBuild> = builds.iter().filter(|b| !b.profiles.is_empty()).collect();
    if builds.is_empty() {
        return Err(SelectError::EmptyStore);
    }
    let text = selector.to_string();
    if let Some(build) = builds.iter().find(|b| full_name(&b.build) == text) {
        return Ok(select_whole_build(build));
    }
    let is_tagged = |b: &StoredBuild| {
        let mut tags = b.tags.iter();
        tags.any(|tag| *tag == text || format!("{}@{tag}", b.build.executable) == text)
    };
    let is_version = |b: &StoredBuild| b.build.version == text;
    for is_meant in [&is_version as &dyn Fn(&StoredBuild) -> bool, &is_tagged] {
        match builds.iter().filter(|b| is_meant(b)).collect::<Vec<_>>()[..] {
            [] => {}
            [build] => return Ok(select_whole_build(build)),
            ref several => {
                return Err(SelectError::SeveralExecutables {
                    candidates: several.iter().map(|b| full_name(&b.build)).collect(),
                    version: text.clone(),
                });
            }
        }
    }
    if let Some(executable) = &selector.executable
        && !builds.iter().any(|b| b.build.executable == *executable)
    {
        return Err(not_found(&builds, selector));
    }
    if let Some(age) = newest::age(selector) {
        return newest::select(&builds, selector, age);
    }
    if let Some(range) = selector.range() {
        return range::select_one(&builds, selector, range);
    }
    if let Some(revision) = selector.revision() {
        return revision::select(&builds, selector, revision);
    }
    select_by_id(&builds, selector)
}

/// Finds the profiles that a selector names, of any number of builds: all builds of a range of
/// commits, or otherwise one as in [`select_from`]. Returns at least one selection.
///
/// # Errors
/// Returns the same errors as [`select_from`].
pub fn select_all_from(
    builds: &[StoredBuild],
    selector: &Selector,
) -> Result<Vec<Selection>, SelectError> {
    let Some(range) = selector.range() else {
        return Ok(vec![select_from(builds, selector)?]);
    };
    // A build or tag may have this name.
    match select_from(builds, selector) {
        Err(SelectError::SeveralInRange { .. }) => {
            let builds: Vec<&StoredBuild> =
                builds.iter().filter(|b| !b.profiles.is_empty()).collect();
            range::select(&builds, selector, range)
        }
        one => Ok(vec![one?]),
    }
}

fn select_by_id(builds: &[&StoredBuild], selector: &Selector) -> Result<Selection, SelectError> {
    let prefix = selector.name.to_ascii_lowercase();
    if !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(not_found(builds, selector));
    }
    let mut found = Vec::new();
    for build in builds {
        let executable = selector.executable.as_ref();
        if executable.is_some_and(|executable| *executable != build.build.executable) {
            continue;
        }
        let name = full_name(&build.build);
        if let Some(id) = build.build.gnu_build_id.as_ref().map(|id| id.to_string())
            && id.starts_with(&prefix)
        {
            found.push((
                format!("build id {id} of {name}"),
                select_whole_build(build),
            ));
        }
        for profile in &build.profiles {
            let id = profile.id.to_string();
            if id.starts_with(&prefix) {
                let selection = Selection {
                    build: build.build.clone(),
                    profiles: vec![profile.clone()],
                };
                found.push((format!("profile {id} of {name}"), selection));
            }
        }
    }
    match found.len() {
        0 => Err(not_found(builds, selector)),
        _ if prefix.len() < MIN_PREFIX => Err(SelectError::ShortPrefix {
            prefix,
            candidates: found
                .into_iter()
                .map(|(name, _)| name)
                .take(MAX_NAMED)
                .collect(),
        }),
        1 => Ok(found.remove(0).1),
        _ => Err(SelectError::AmbiguousPrefix {
            prefix,
            candidates: found.into_iter().map(|(name, _)| name).collect(),
        }),
    }
}

/// Returns the runs of a build, or its averages if it has no runs.
pub(crate) fn select_whole_build(build: &StoredBuild) -> Selection {
    let all = &build.profiles;
    let runs = all.iter().filter(|stored| !stored.profile.is_average());
    let runs: Vec<StoredProfile> = runs.cloned().collect();
    Selection {
        build: build.build.clone(),
        profiles: if runs.is_empty() { all.clone() } else { runs },
    }
}

/// Returns `EXE@BUILD`, which names a build unambiguously.
pub(crate) fn full_name(build: &Build) -> String {
    format!("{}@{}", build.executable, build.version)
}

fn not_found(builds: &[&StoredBuild], selector: &Selector) -> SelectError {
    let text = selector.to_string();
    let len = text.chars().count();
    // A name that differs in more than half of its characters was hardly meant.
    let distance = |name: &str| {
        let is_close = name.chars().count().abs_diff(len) <= len / 2;
        let distance = is_close.then(|| strsim::damerau_levenshtein(name, &text));
        distance.filter(|&distance| distance <= len / 2)
    };
    let closest = builds
        .iter()
        .flat_map(|b| {
            let names = [&b.build.version].into_iter().chain(&b.tags);
            names.filter_map(|name| {
                let full = format!("{}@{name}", b.build.executable);
                let distances = [distance(&full), distance(name)];
                Some((distances.into_iter().flatten().min()?, full))
            })
        })
        .min_by_key(|(distance, _)| *distance);
    SelectError::NotFound {
        known: builds
            .iter()
            .take(MAX_NAMED)
            .map(|b| full_name(&b.build))
            .collect(),
        more: builds.len().saturating_sub(MAX_NAMED),
        closest: closest.map(|(_, name)| name),
        selector: text,
    }
}

fn there_are(known: &[String], more: usize) -> String {
    let verb = if known.len() + more == 1 {
        "there is"
    } else {
        "there are"
    };
    match more {
        0 => format!("{verb} {}", listed(known)),
        _ => format!("{verb} {} and {more} more", listed(known)),
    }
}

fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
    names.join(", ")
}
