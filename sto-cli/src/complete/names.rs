//! Names in the store, for completion.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use sto_core::store::{Snapshot, StoreError, StoreOptions, StoredBuild};
use sto_query::results::View;
use sto_query::select::{Selection, first_recorded};

/// Kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Build,
    Tag,
    Benchmark,
    Executable,
    Metric,
    Function,
}

/// A name and its description.
type Found = (String, Option<String>);

/// The names of these kinds that begin with `typed`, newest builds first.
pub(super) fn matching(
    names: &[Name],
    store: &Path,
    typed: &str,
) -> Result<Vec<Found>, StoreError> {
    let store = Snapshot::open(store, StoreOptions::default())?;
    let mut builds = store.builds()?;
    builds.sort_by_key(|build| Reverse(first_recorded(build)));
    let mut found = Vec::new();
    for name in names {
        match name {
            Name::Build => found.extend(build_names(&builds, typed)),
            Name::Tag => found.extend(tags(&builds, typed)),
            Name::Benchmark => found.extend(run_names(&builds, |profile| {
                profile.benchmark.iter().cloned().collect()
            })),
            Name::Metric => found.extend(run_names(&builds, |profile| {
                profile.metrics.keys().cloned().collect()
            })),
            Name::Executable => {
                let names = builds.iter().map(|build| build.build.executable.clone());
                let names: BTreeSet<String> = names.collect();
                found.extend(names.into_iter().map(|name| (name, None)));
            }
            Name::Function => found.extend(functions(&store, &builds)),
        }
    }
    // The shell or the terminal would interpret a control character in a name.
    found.retain(|(name, _)| name.starts_with(typed) && !name.chars().any(char::is_control));
    for (_, what) in &mut found {
        *what = what
            .take()
            .map(|what| sto_query::text::printable(&what).into_owned());
    }
    Ok(found)
}

/// `BUILD`, and also `PROGRAM@BUILD` if `@` was typed or several programs have the build.
fn build_names(builds: &[StoredBuild], typed: &str) -> Vec<Found> {
    let programs: BTreeSet<&str> = builds.iter().map(|b| b.build.executable.as_str()).collect();
    let mut found = Vec::new();
    for stored in builds {
        let build = &stored.build;
        let same = |other: &&StoredBuild| other.build.version == build.version;
        let full = format!("{}@{}", build.executable, build.version);
        let what = match stored.profiles.len() {
            1 => format!("build of {}, 1 run", build.executable),
            runs => format!("build of {}, {runs} runs", build.executable),
        };
        if builds.iter().filter(same).count() == 1 {
            found.push((build.version.clone(), Some(what.clone())));
        }
        let is_typed = typed.contains('@') || build.version.contains('@');
        if is_typed || builds.iter().filter(same).count() > 1 {
            found.push((full, Some(what)));
        }
    }
    let ages = [
        ("newest", "the newest build"),
        ("previous", "the build before it"),
    ];
    for (age, what) in ages {
        if programs.len() == 1 {
            found.push((format!("@{age}"), Some(what.to_owned())));
        }
        if typed.contains('@') {
            let of_program = |program| (format!("{program}@{age}"), Some(what.to_owned()));
            found.extend(programs.iter().map(of_program));
        }
    }
    found
}

fn tags(builds: &[StoredBuild], typed: &str) -> Vec<Found> {
    let tags = builds.iter().flat_map(StoredBuild::tags);
    tags.flat_map(|tag| {
        let what = format!("tag of {}@{}", tag.executable, tag.version);
        let full = format!("{}@{}", tag.executable, tag.name);
        let with_program = typed.contains('@').then(|| (full, Some(what.clone())));
        [Some((tag.name, Some(what))), with_program]
    })
    .flatten()
    .collect()
}

/// The names that `names` returns for the runs, without duplicates.
fn run_names(
    builds: &[StoredBuild],
    names: impl Fn(&sto_core::model::Profile) -> Vec<String>,
) -> Vec<Found> {
    let runs = builds.iter().flat_map(|build| &build.profiles);
    let names: BTreeSet<String> = runs.flat_map(|stored| names(&stored.profile)).collect();
    names.into_iter().map(|name| (name, None)).collect()
}

/// The functions in the newest build of each program.
fn functions(store: &Snapshot, builds: &[StoredBuild]) -> Vec<Found> {
    let mut programs = BTreeSet::new();
    let mut functions: BTreeSet<(String, String)> = BTreeSet::new();
    for stored in builds {
        if !programs.insert(&stored.build.executable) {
            continue;
        }
        let selection = Selection::new(stored.build.clone(), stored.profiles.clone());
        let Ok(view) = View::load_sum(store, selection) else {
            continue;
        };
        let frames = view.frames.iter();
        functions
            .extend(frames.map(|(_, frame)| (frame.symbol.to_owned(), frame.module.to_owned())));
    }
    functions
        .into_iter()
        .map(|(symbol, module)| {
            let what = (!module.is_empty()).then(|| format!("in {module}"));
            (symbol, what)
        })
        .collect()
}
