//! The content of stores, and operations on whole stores.
//!
//! Operations that change a store take the store, and the environment that resolve revisions.

use crate::QueryError;
use crate::annotate::{AnnotatedRuns, read_metrics};
use crate::average::{self, StoredAverage};
use crate::functions::KeyOptions;
use crate::listing::{BuildList, LabelList, Listing, RunList};
use crate::maintain::{
    ExportedStore, MergeError, MergedStore, Merges, SymbolizedProfiles, TagError, TagList,
};
use crate::prune::{self, PruneOptions, Pruned};
use crate::select::{Selection, Selector, full_name, select_all_from, select_from};
use crate::sources::{Environment, Sources, resolve_revision};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use sto_core::id::ProfileId;
use sto_core::ingest::{SymbolOptions, symbolize_again};
use sto_core::store::{Merged, Store, StoreOptions, StoredBuild, Tag, Tagged};
use sto_core::{CancelToken, Notice};

/// Request for the builds in a store, with their runs. It is an error if no run matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct BuildsRequest(pub Listing);

pub(super) fn builds(sources: &Sources, request: &BuildsRequest) -> Result<BuildList, QueryError> {
    let store = sources.store()?;
    Ok(request.0.builds(store.builds()?, Some(store.file_size()))?)
}

/// Request for the runs in a store. It is an error if no run matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RunsRequest(pub Listing);

pub(super) fn runs(sources: &Sources, request: &RunsRequest) -> Result<RunList, QueryError> {
    Ok(request.0.runs(sources.store()?.builds()?)?)
}

/// Request for the labels and metrics of the runs in a store, and their values. It is an error if no run matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LabelsRequest(pub Listing);

pub(super) fn labels(sources: &Sources, request: &LabelsRequest) -> Result<LabelList, QueryError> {
    Ok(request.0.labels(sources.store()?.builds()?)?)
}

/// Request to export profiles to another store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ExportStoreRequest {
    /// Selectors of the profiles; all profiles if empty.
    pub selectors: Vec<String>,
    /// The file, which must not exist.
    pub file: PathBuf,
}

/// Writes profiles into a new store file.
///
/// # Errors
///
/// Returns an error if a selector names nothing, the store cannot be read, or the file exists or
/// cannot be written.
pub fn export_store(
    sources: &Sources,
    request: &ExportStoreRequest,
) -> Result<ExportedStore, QueryError> {
    let store = sources.store()?;
    let builds = store.builds()?;
    let profiles = match &request.selectors[..] {
        [] => builds.iter().flat_map(ids_of).collect(),
        selectors => selected(sources.environment(), &builds, selectors)?,
    };
    Ok(ExportedStore {
        bytes: store.export(&profiles, &request.file)?,
        path: request.file.display().to_string(),
        profiles: profiles.len(),
    })
}

/// Request to remove profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PruneRequest {
    /// Selectors of the profiles that may be removed, added to the selectors in the options; without
    /// any, all profiles may be removed.
    pub only: Vec<String>,
    /// Selectors of profiles to keep, added to the selectors in the options.
    pub keep: Vec<String>,
    /// Further conditions.
    pub options: PruneOptions,
}

/// Removes profiles.
///
/// # Errors
///
/// Returns an error if a selector names nothing, or the store cannot be read or written. The store
/// is then unchanged.
pub fn prune(
    store: &Store,
    environment: &dyn Environment,
    request: &PruneRequest,
) -> Result<Pruned, QueryError> {
    let builds = store.snapshot()?.builds()?;
    let mut options = request.options.clone();
    options
        .only
        .extend(selected(environment, &builds, &request.only)?);
    options
        .keep
        .extend(selected(environment, &builds, &request.keep)?);
    Ok(prune::prune(store, &options)?)
}

/// Request to find symbols that were missing when profiles were stored.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SymbolizeRequest {
    /// Selectors of the profiles; all profiles if empty.
    pub selectors: Vec<String>,
    /// Sources of symbols.
    pub symbols: SymbolOptions,
    /// Cancels the request before the next profile.
    pub cancel: CancelToken,
}

/// Looks for symbols of stored addresses, and replaces profiles for which some are found. `say`
/// adds the remedy to a notice.
///
/// # Errors
///
/// Returns an error if a selector names nothing, or the store cannot be read or written. Profiles
/// that were already replaced stay.
pub fn symbolize(
    store: &Store,
    environment: &dyn Environment,
    request: &SymbolizeRequest,
    say: &dyn Fn(&Notice) -> String,
) -> Result<SymbolizedProfiles, QueryError> {
    let builds = store.snapshot()?.builds()?;
    let selected = match &request.selectors[..] {
        [] => builds.iter().flat_map(ids_of).collect(),
        selectors => selected(environment, &builds, selectors)?,
    };
    let mut report = SymbolizedProfiles::default();
    let mut writer = store.writer();
    for build in &builds {
        for stored in build
            .profiles
            .iter()
            .filter(|stored| selected.contains(&stored.id))
        {
            if !writer.snapshot()?.has_addresses(stored.id)? {
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

/// Request to store the mean of profiles as a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AverageRequest {
    /// Selectors of the profiles, which must be of one program.
    pub selectors: Vec<String>,
    /// The benchmark of the runs, see [`Filter`](crate::sources::Filter::benchmarks); all runs must have the same.
    pub benchmarks: Vec<String>,
    /// Version of the new build.
    pub build: String,
    /// How functions of several builds are matched.
    pub matching: KeyOptions,
}

/// Stores the mean of profiles as a new build.
///
/// # Errors
///
/// Returns an error if there is no selector, a selector names nothing, the profiles are of several
/// programs or benchmarks, or the store cannot be read or written. The store is then unchanged.
pub fn average(
    store: &Store,
    environment: &dyn Environment,
    request: &AverageRequest,
) -> Result<StoredAverage, QueryError> {
    let snapshot = store.snapshot()?;
    let builds = snapshot.builds()?;
    let mut selected = Vec::new();
    for text in &request.selectors {
        selected.extend(selections(environment, &builds, text)?);
    }
    let of_benchmark = selected
        .into_iter()
        .map(|selection| Ok(selection.with_benchmarks(&request.benchmarks)?));
    let selections: Vec<_> = of_benchmark.collect::<Result<_, QueryError>>()?;
    let average = average::average(&snapshot, &selections, &request.build, request.matching)?;
    // While it is kept, the file is not compacted.
    drop(snapshot);
    let added = store
        .writer()
        .add(&average.build, &average.profile, &average.interned)?;
    Ok(StoredAverage::new(&average, &added))
}

/// Request to attach metrics to stored runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AnnotateRequest {
    /// The table: JSON lines if it begins with `{`, otherwise CSV with column names in the first line.
    pub table: String,
    /// Whether existing values may be replaced.
    pub may_replace: bool,
}

/// Attaches metrics to runs: either all of the table, or nothing.
///
/// # Errors
///
/// Returns an error if a row cannot be read or does not name exactly one run, a run has another
/// value that may not be replaced, or the store cannot be read or written. The store is then
/// unchanged.
pub fn annotate(
    store: &Store,
    environment: &dyn Environment,
    request: &AnnotateRequest,
) -> Result<AnnotatedRuns, QueryError> {
    // The error for an unknown revision names its row.
    let resolve =
        |selector: Selector| resolve_revision(environment, selector.clone()).unwrap_or(selector);
    let choose = |builds: &[StoredBuild]| read_metrics(&request.table, builds, &resolve);
    let (given, annotated) = store.annotate_chosen(choose, request.may_replace)??;
    match annotated.different.first() {
        Some(first) if !request.may_replace => Err(QueryError::OtherMetric {
            first: first.clone(),
            more: annotated.different.len() - 1,
        }),
        _ => Ok(AnnotatedRuns::new(&given, &annotated)),
    }
}

/// Request to merge stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MergeRequest {
    /// The stores in the order of merging: folders or files.
    pub others: Vec<PathBuf>,
    /// Cancels the request before the next profile.
    #[serde(skip)]
    pub cancel: CancelToken,
}

/// Merges the profiles of other stores, one store after another. Calls `progress` at the beginning
/// of each store, and with its result so far.
///
/// # Errors
///
/// Returns an error if a store cannot be opened, before anything is written; or a store cannot be
/// read, or this one cannot be written. Profiles that were already merged stay.
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

/// An operation on the tags of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TagRequest {
    /// Lists the tags.
    #[default]
    List,
    /// Sets a tag of a build.
    Set {
        /// Selector of the build.
        build: String,
        /// The tag.
        name: String,
        /// Whether to move the tag if another build of the executable has it.
        may_move: bool,
    },
    /// Deletes a tag.
    Delete {
        /// The tag: `TAG`, or `EXE@TAG`.
        name: String,
    },
}

/// Lists the tags of a store, sets one, or deletes one.
///
/// # Errors
///
/// Returns an error if the selector or the tag is unknown or ambiguous, the name is not allowed for
/// this build, or the store cannot be read or written. The store is then unchanged.
pub fn tag(
    store: &Store,
    environment: &dyn Environment,
    request: &TagRequest,
) -> Result<TagList, QueryError> {
    match request {
        TagRequest::List => Ok(TagList::from_builds(&store.snapshot()?.builds()?)),
        TagRequest::Set {
            build,
            name,
            may_move,
        } => {
            let selector = resolve_revision(environment, build.parse()?)?;
            let choose = |builds: &[StoredBuild]| tag_of(builds, (build, &selector), name);
            match store.tag_chosen(choose, *may_move)?? {
                (tag, Tagged::Taken(version)) => Err(QueryError::Tag(TagError::Taken {
                    build: format!("{}@{version}", tag.executable),
                    name: tag.name,
                })),
                (tag, tagged) => Ok(TagList::from_set(tag, &tagged)),
            }
        }
        TagRequest::Delete { name } => {
            let tag = store.untag_chosen(|builds| tag_called(builds, name))??;
            Ok(TagList::from_deleted(tag))
        }
    }
}

/// Returns the tag of this name for the selected build.
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

/// Returns the existing tag with this name.
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

/// Returns the profiles that match any selector.
pub(super) fn selected(
    environment: &dyn Environment,
    builds: &[StoredBuild],
    selectors: &[String],
) -> Result<BTreeSet<ProfileId>, QueryError> {
    let mut ids = BTreeSet::new();
    for text in selectors {
        let chosen = selections(environment, builds, text)?;
        let profiles = chosen.iter().flat_map(|selection| &selection.profiles);
        ids.extend(profiles.map(|stored| stored.id));
    }
    Ok(ids)
}

/// Returns the profiles of each build that match a selector.
fn selections(
    environment: &dyn Environment,
    builds: &[StoredBuild],
    text: &str,
) -> Result<Vec<Selection>, QueryError> {
    let selector = resolve_revision(environment, text.parse()?)?;
    Ok(select_all_from(builds, &selector)?)
}

fn ids_of(build: &StoredBuild) -> impl Iterator<Item = ProfileId> {
    build.profiles.iter().map(|stored| stored.id)
}
