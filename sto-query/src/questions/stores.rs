//! What a store has, and what is done to it as a whole.
//!
//! What changes a store is given that store, and who can be asked what a revision is.

use crate::QueryError;
use crate::annotate::{AnnotatedRuns, metrics_of};
use crate::average::{self, StoredAverage};
use crate::functions::KeyOptions;
use crate::listing::{BuildList, Listing, RunList};
use crate::maintain::{
    ExportedStore, MergeError, MergedStore, Merges, SymbolizedProfiles, TagError, TagList,
};
use crate::prune::{self, PruneOptions, Pruned};
use crate::select::{Selection, Selector, full_name, select_all_from, select_from};
use crate::sources::{Sources, Surroundings, resolved};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use sto_core::id::ProfileId;
use sto_core::ingest::{SymbolOptions, symbolize_again};
use sto_core::store::{Merged, Store, StoreOptions, StoredBuild, Tag, Tagged};
use sto_core::{Cancel, Notice};

/// Lists the builds of a store with their runs.
///
/// # Errors
/// Where the store cannot be read, or none of its runs is to be listed.
pub fn ls(sources: &Sources, listing: &Listing) -> Result<BuildList, QueryError> {
    let store = sources.store()?;
    Ok(listing.builds(store.builds()?, Some(store.file_size()))?)
}

/// Lists the runs of a store one after another.
///
/// # Errors
/// As [`ls`].
pub fn runs(sources: &Sources, listing: &Listing) -> Result<RunList, QueryError> {
    Ok(listing.runs(sources.store()?.builds()?)?)
}

/// Profiles for another store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExportStoreRequest {
    /// Selectors of the profiles; without any, it is all of them.
    pub selectors: Vec<String>,
    /// The file, which must not exist.
    pub file: PathBuf,
}

/// Writes profiles into a file of their own, which is a store.
///
/// # Errors
/// Where a selector names nothing, the store cannot be read, or the file exists or cannot be written.
pub fn export_store(
    sources: &Sources,
    request: &ExportStoreRequest,
) -> Result<ExportedStore, QueryError> {
    let store = sources.store()?;
    let builds = store.builds()?;
    let profiles = match &request.selectors[..] {
        [] => builds.iter().flat_map(ids_of).collect(),
        selectors => selected(sources.surroundings(), &builds, selectors)?,
    };
    Ok(ExportedStore {
        bytes: store.export(&profiles, &request.file)?,
        path: request.file.display().to_string(),
        profiles: profiles.len(),
    })
}

/// Which profiles may go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PruneRequest {
    /// Selectors of the only ones that may go, beside those that the options name; where there are none,
    /// any may.
    pub only: Vec<String>,
    /// Selectors of those that stay, beside those that the options name.
    pub keep: Vec<String>,
    /// What else has to be so.
    pub options: PruneOptions,
}

/// Removes the profiles that may go.
///
/// # Errors
/// Where a selector names nothing, or the store cannot be read or written; it is then as it was.
pub fn prune(
    store: &Store,
    surroundings: &dyn Surroundings,
    request: &PruneRequest,
) -> Result<Pruned, QueryError> {
    let builds = store.snapshot()?.builds()?;
    let mut options = request.options.clone();
    options
        .only
        .extend(selected(surroundings, &builds, &request.only)?);
    options
        .keep
        .extend(selected(surroundings, &builds, &request.keep)?);
    Ok(prune::prune(store, &options)?)
}

/// Profiles whose functions are to get names that were not found before.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SymbolizeRequest {
    /// Selectors of the profiles; without any, it is all of them.
    pub selectors: Vec<String>,
    /// Where symbols are looked for.
    pub symbols: SymbolOptions,
    /// Ends it early: before the next profile.
    pub cancel: Cancel,
}

/// Looks for names of functions whose addresses were kept, and puts profiles with those that are found in the place of
/// the ones without. `say` adds to a notice what can be done about it.
///
/// # Errors
/// Where a selector names nothing, or the store cannot be read or written; what went in before then stays.
pub fn symbolize(
    store: &Store,
    surroundings: &dyn Surroundings,
    request: &SymbolizeRequest,
    say: &dyn Fn(&Notice) -> String,
) -> Result<SymbolizedProfiles, QueryError> {
    let builds = store.snapshot()?.builds()?;
    let selected = match &request.selectors[..] {
        [] => builds.iter().flat_map(ids_of).collect(),
        selectors => selected(surroundings, &builds, selectors)?,
    };
    let mut report = SymbolizedProfiles::default();
    let mut writer = store.writer();
    for build in &builds {
        for stored in build
            .profiles
            .iter()
            .filter(|stored| selected.contains(&stored.id))
        {
            if !writer.store().snapshot()?.has_addresses(stored.id)? {
                report.without_addresses += 1;
                continue;
            }
            let (symbols, cancel) = (&request.symbols, &request.cancel);
            let symbolized = symbolize_again(&mut writer, build, stored, symbols, cancel)?;
            report.add(build, stored, &symbolized, say);
        }
    }
    report.finish();
    Ok(report)
}

/// Profiles whose mean is to be a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AverageRequest {
    /// Selectors of the profiles, of one program.
    pub selectors: Vec<String>,
    /// The benchmark of the runs, where an empty name stands for runs that name none. Without it, all
    /// runs have to be of one.
    pub benchmark: Option<String>,
    /// The version of the build that the mean becomes.
    pub build: String,
    /// Which functions of several builds are one.
    pub matching: KeyOptions,
}

/// Stores the mean of profiles as a build of its own.
///
/// # Errors
/// Where there is no selector, or one names nothing, the profiles are of several programs or benchmarks, or
/// the store cannot be read or written; it is then as it was.
pub fn average(
    store: &Store,
    surroundings: &dyn Surroundings,
    request: &AverageRequest,
) -> Result<StoredAverage, QueryError> {
    let snapshot = store.snapshot()?;
    let builds = snapshot.builds()?;
    let mut selected = Vec::new();
    for text in &request.selectors {
        selected.extend(selections(surroundings, &builds, text)?);
    }
    let of_benchmark = selected
        .into_iter()
        .map(|selection| Ok(selection.of_one_benchmark(request.benchmark.as_deref())?));
    let selections: Vec<_> = of_benchmark.collect::<Result<_, QueryError>>()?;
    let average = average::average(&snapshot, &selections, &request.build, request.matching)?;
    // Whoever writes waits for those who read.
    drop(snapshot);
    let added = store
        .writer()
        .add(&average.build, &average.profile, &average.interned)?;
    Ok(StoredAverage::new(&average, &added))
}

/// Metrics for runs that are stored already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AnnotateRequest {
    /// The table: CSV or JSON lines, as [`metrics_of`] reads it.
    pub table: String,
    /// Whether other values that the runs have are replaced.
    pub may_replace: bool,
}

/// Gives metrics to runs: all of the table goes in, or nothing.
///
/// # Errors
/// Where a row cannot be read or is not of exactly one run, a run has another value that is not to be
/// replaced, or the store cannot be read or written; it is then as it was.
pub fn annotate(
    store: &Store,
    surroundings: &dyn Surroundings,
    request: &AnnotateRequest,
) -> Result<AnnotatedRuns, QueryError> {
    // A revision that nobody knows is said of its row.
    let resolve = |selector: Selector| resolved(surroundings, selector.clone()).unwrap_or(selector);
    let choose = |builds: &[StoredBuild]| metrics_of(&request.table, builds, &resolve);
    let (given, annotated) = store.annotate_chosen(choose, request.may_replace)??;
    match annotated.different.first() {
        Some(first) if !request.may_replace => Err(QueryError::OtherMetric {
            first: first.clone(),
            more: annotated.different.len() - 1,
        }),
        _ => Ok(AnnotatedRuns::of(&given, &annotated)),
    }
}

/// Stores whose profiles go into another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MergeRequest {
    /// The stores, in this order: folders, or files that are stores.
    pub others: Vec<PathBuf>,
    /// Ends it early: before the next profile.
    #[serde(skip)]
    pub cancel: Cancel,
}

/// Takes in the profiles of other stores, one store after another. `progress` is called as one begins, and then
/// with what has become of it so far.
///
/// # Errors
/// Where a store cannot be opened, before one is written to; or one cannot be read, or this one not written.
/// What went in before then stays.
pub fn merge(
    store: &Store,
    request: &MergeRequest,
    progress: &mut dyn FnMut(&Path, Option<&Merged>),
) -> Result<Merges, MergeError> {
    let failed = |sources, added, source| MergeError {
        before: Merges { sources },
        added,
        source,
    };
    let open = |path: &PathBuf| {
        let options = StoreOptions {
            on_wait: store.on_wait(),
            ..StoreOptions::default()
        };
        Store::open_with(path, options)
    };
    let others = request.others.iter().map(open);
    let others = others.collect::<Result<Vec<Store>, _>>();
    let others = others.map_err(|source| failed(Vec::new(), 0, source))?;
    let mut sources = Vec::new();
    for (path, other) in request.others.iter().zip(&others) {
        progress(path, None);
        let mut added = 0;
        let mut progress = |merged: &Merged| {
            added = merged.added.len();
            progress(path, Some(merged));
            request.cancel.check()
        };
        let merged = other
            .snapshot()
            .and_then(|other| store.merge(&other, &mut progress));
        match merged {
            Ok(merged) => sources.push(MergedStore {
                path: path.display().to_string(),
                merged,
            }),
            Err(source) => return Err(failed(sources, added, source)),
        }
    }
    Ok(Merges { sources })
}

/// What is done to the tags of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TagRequest {
    /// Nothing: they are listed.
    #[default]
    List,
    /// A build gets a tag.
    Set {
        /// Selector of the build.
        build: String,
        /// The tag.
        name: String,
        /// Whether it is moved if it stands for another build of the executable.
        may_move: bool,
    },
    /// A tag is taken away.
    Delete {
        /// The tag: `TAG`, or `EXE@TAG`.
        name: String,
    },
}

/// Lists the tags of a store, sets one, or takes one away.
///
/// # Errors
/// Where the selector or the tag names nothing, or too much, or the name cannot be this build's, or the store
/// cannot be read or written; it is then as it was.
pub fn tag(
    store: &Store,
    surroundings: &dyn Surroundings,
    request: &TagRequest,
) -> Result<TagList, QueryError> {
    match request {
        TagRequest::List => Ok(TagList::listed(&store.snapshot()?.builds()?)),
        TagRequest::Set {
            build,
            name,
            may_move,
        } => {
            let selector = resolved(surroundings, build.parse()?)?;
            let choose = |builds: &[StoredBuild]| tag_of(builds, (build, &selector), name);
            match store.tag_chosen(choose, *may_move)?? {
                (tag, Tagged::Taken(version)) => Err(QueryError::Tag(TagError::Taken {
                    build: format!("{}@{version}", tag.executable),
                    name: tag.name,
                })),
                (tag, tagged) => Ok(TagList::set(tag, &tagged)),
            }
        }
        TagRequest::Delete { name } => {
            let tag = store.untag_chosen(|builds| tag_called(builds, name))??;
            Ok(TagList::deleted(tag))
        }
    }
}

/// The tag of this name for the build that is selected.
fn tag_of(
    builds: &[StoredBuild],
    (text, selector): (&str, &Selector),
    name: &str,
) -> Result<Tag, QueryError> {
    let selection = select_from(builds, selector)?;
    let build = selection.build;
    let stored = builds.iter().find(|stored| stored.id == build.id());
    if stored.is_none_or(|stored| stored.profiles.len() > selection.profiles.len()) {
        return Err(QueryError::Tag(TagError::OneRun {
            selector: text.to_owned(),
            build: full_name(&build),
        }));
    }
    let is_hidden = |stored: &StoredBuild| {
        stored.build.executable == build.executable && stored.build.version == name
    };
    if builds.iter().any(is_hidden) {
        return Err(QueryError::Tag(TagError::NameOfBuild {
            build: format!("{}@{name}", build.executable),
        }));
    }
    Ok(Tag {
        executable: build.executable,
        name: name.to_owned(),
        version: build.version,
    })
}

/// The tag that is called so.
fn tag_called(builds: &[StoredBuild], text: &str) -> Result<Tag, TagError> {
    let is_meant = |tag: &Tag| tag.name == text || tag.to_string() == text;
    let tags = builds.iter().flat_map(StoredBuild::tags);
    let mut meant: Vec<Tag> = tags.filter(is_meant).collect();
    let name = text.to_owned();
    match &meant[..] {
        [] => Err(TagError::NotFound { name }),
        [_] => Ok(meant.remove(0)),
        _ => Err(TagError::Several {
            name,
            tags: meant.iter().map(Tag::to_string).collect(),
        }),
    }
}

/// The profiles that selectors name.
pub(super) fn selected(
    surroundings: &dyn Surroundings,
    builds: &[StoredBuild],
    selectors: &[String],
) -> Result<BTreeSet<ProfileId>, QueryError> {
    let mut ids = BTreeSet::new();
    for text in selectors {
        let chosen = selections(surroundings, builds, text)?;
        let profiles = chosen.iter().flat_map(|selection| &selection.profiles);
        ids.extend(profiles.map(|stored| stored.id));
    }
    Ok(ids)
}

/// What a selector names, of each build.
fn selections(
    surroundings: &dyn Surroundings,
    builds: &[StoredBuild],
    text: &str,
) -> Result<Vec<Selection>, QueryError> {
    let selector = resolved(surroundings, text.parse()?)?;
    Ok(select_all_from(builds, &selector)?)
}

fn ids_of(build: &StoredBuild) -> impl Iterator<Item = ProfileId> {
    build.profiles.iter().map(|stored| stored.id)
}
