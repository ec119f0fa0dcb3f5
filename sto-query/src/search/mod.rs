//! Search of names: programs, builds, benchmarks, labels, functions, files and modules.

use crate::QueryError;
use crate::answer::Answer;
use crate::functions::{KeyOptions, key_of};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use sto_core::CancelToken;
use sto_core::id::ExecutableId;
use sto_core::model::Frame;
use sto_core::store::{Snapshot, StoreError, StoredBuild};

/// A kind of names that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FoundKind {
    /// A program.
    Program,
    /// The version or a tag of a build.
    Build,
    /// A benchmark.
    Benchmark,
    /// A label of runs with its value, as `KEY=VALUE`.
    Label,
    /// A function, without the parts of its symbol that differ between builds.
    Function,
    /// A file that code was loaded from.
    Module,
    /// A source file.
    File,
}

/// The names that match a search.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SearchResults {
    /// The names: those that equal the text, that begin with it, in which a part begins with it, and that contain it,
    /// each of these by kind, length and name.
    pub found: Vec<Found>,
    /// Number of matching names that the limit left out.
    pub more: usize,
}

impl Answer for SearchResults {
    const SCHEMA: &'static str = "sto.search/1";
}

/// A name that matches a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Found {
    /// The kind of the name.
    pub kind: FoundKind,
    /// The name.
    pub name: String,
    /// The module of a function; otherwise, and if it is unknown, empty.
    pub module: String,
    /// The version of the build with this version or tag; otherwise empty.
    pub build: String,
    /// The programs that have it, in alphabetical order.
    pub executables: Vec<String>,
}

/// A name apart from the programs that have it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    kind: FoundKind,
    name: String,
    module: String,
    build: String,
}

/// The searched words, and the names found so far with the programs that have them.
struct Search<'a> {
    words: Vec<String>,
    kinds: &'a [FoundKind],
    found: BTreeMap<Named, BTreeSet<String>>,
}

/// Text and limits of a search.
pub(crate) struct SearchOptions<'a> {
    pub(crate) text: &'a str,
    /// All kinds if empty.
    pub(crate) kinds: &'a [FoundKind],
    pub(crate) limit: usize,
}

/// Searches names in a store. Every word of the text must be in a name, regardless of case.
pub(crate) fn search(
    store: &Snapshot,
    builds: &[StoredBuild],
    options: &SearchOptions,
    cancel: &CancelToken,
) -> Result<SearchResults, QueryError> {
    let words = options.text.split_whitespace().map(str::to_lowercase);
    let mut all = Search {
        words: words.collect(),
        kinds: options.kinds,
        found: BTreeMap::new(),
    };
    if all.words.is_empty() {
        return Ok(SearchResults {
            found: Vec::new(),
            more: 0,
        });
    }
    for build in builds {
        all.add_names_of_build(build);
    }
    let frame_kinds = [FoundKind::Function, FoundKind::Module, FoundKind::File];
    if frame_kinds.into_iter().any(|kind| all.has_kind(kind)) {
        cancel.check()?;
        all.add_names_of_frames(store, builds)?;
    }
    Ok(all.ranked(options.limit))
}

impl Search<'_> {
    fn has_kind(&self, kind: FoundKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.words.iter().all(|word| name.contains(word))
    }

    fn add(&mut self, named: Named, executable: &str) {
        let executables = self.found.entry(named).or_default();
        executables.insert(executable.to_owned());
    }

    /// Adds a name without module and build if it matches.
    fn add_if_matching(&mut self, kind: FoundKind, name: &str, executable: &str) {
        if self.has_kind(kind) && self.matches(name) {
            let named = Named {
                kind,
                name: name.to_owned(),
                module: String::new(),
                build: String::new(),
            };
            self.add(named, executable);
        }
    }

    fn add_names_of_build(&mut self, stored: &StoredBuild) {
        let executable = &stored.build.executable;
        let version = &stored.build.version;
        self.add_if_matching(FoundKind::Program, executable, executable);
        for name in std::iter::once(version).chain(&stored.tags) {
            if self.has_kind(FoundKind::Build) && self.matches(&format!("{executable}@{name}")) {
                let named = Named {
                    kind: FoundKind::Build,
                    name: name.clone(),
                    module: String::new(),
                    build: version.clone(),
                };
                self.add(named, executable);
            }
        }
        let mut labels = BTreeSet::new();
        let mut benchmarks = BTreeSet::new();
        for profile in stored.profiles.iter().map(|stored| &stored.profile) {
            benchmarks.extend(&profile.benchmark);
            labels.extend(&profile.labels);
        }
        for benchmark in benchmarks {
            self.add_if_matching(FoundKind::Benchmark, benchmark, executable);
        }
        for (key, value) in labels {
            self.add_if_matching(FoundKind::Label, &format!("{key}={value}"), executable);
        }
    }

    /// Adds matching names of frames, with the programs whose stacks have these frames.
    fn add_names_of_frames(
        &mut self,
        store: &Snapshot,
        builds: &[StoredBuild],
    ) -> Result<(), StoreError> {
        let executables: BTreeSet<&str> = builds
            .iter()
            .map(|build| &*build.build.executable)
            .collect();
        let ids = executables.iter().copied().map(ExecutableId::from_name);
        let (frames, used) = store.load_frames_of(&ids.collect::<Vec<_>>())?;
        let names = frames.iter().map(|(_, frame)| self.names_of_frame(frame));
        let names: Vec<Vec<Named>> = names.collect();
        for (executable, used) in executables.into_iter().zip(used) {
            for named in used.into_iter().flat_map(|frame| &names[frame.get()]) {
                self.add(named.clone(), executable);
            }
        }
        Ok(())
    }

    /// Returns the matching names of a frame.
    fn names_of_frame(&self, frame: Frame<'_>) -> Vec<Named> {
        let named = |kind, name: &str, module: &str| Named {
            kind,
            name: name.to_owned(),
            module: module.to_owned(),
            build: String::new(),
        };
        let mut names = Vec::new();
        if self.has_kind(FoundKind::Function) && self.matches(frame.symbol) {
            let key = key_of(frame, KeyOptions::default());
            names.push(named(FoundKind::Function, &key, frame.module));
        }
        for (kind, name) in [
            (FoundKind::Module, frame.module),
            (FoundKind::File, frame.file),
        ] {
            if self.has_kind(kind) && self.matches(name) {
                names.push(named(kind, name, ""));
            }
        }
        names
    }

    /// Returns the best matches first.
    fn ranked(self, limit: usize) -> SearchResults {
        let words = self.words;
        let mut found: Vec<(Named, BTreeSet<String>)> = self.found.into_iter().collect();
        // The sort is stable, so that equal ones stay in the order of kind and name.
        found.sort_by_cached_key(|(named, _)| {
            let place = words.iter().map(|word| place_of(word, &named.name)).max();
            (place, named.kind, named.name.len())
        });
        let more = found.len().saturating_sub(limit);
        let found = found.into_iter().take(limit);
        let found = found.map(|(named, executables)| Found {
            kind: named.kind,
            name: named.name,
            module: named.module,
            build: named.build,
            executables: executables.into_iter().collect(),
        });
        SearchResults {
            found: found.collect(),
            more,
        }
    }
}

/// Place of a word in a name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Whole,
    Beginning,
    BeginningOfPart,
    Inside,
}

/// Returns the best place of a lower-case word in a name.
fn place_of(word: &str, name: &str) -> Place {
    let name = name.to_lowercase();
    if name == word {
        return Place::Whole;
    }
    if name.starts_with(word) {
        return Place::Beginning;
    }
    let begins_part = |(at, _): (usize, &str)| {
        let before = name[..at].chars().next_back();
        before.is_some_and(|before| !before.is_alphanumeric())
    };
    if name.match_indices(word).any(begins_part) {
        Place::BeginningOfPart
    } else {
        Place::Inside
    }
}
