//! Sources of profiles: a store, or files, which are read into a store in memory.
//!
//! Every query is made on [`Sources`]. They share no state with each other, so a process can query any number of
//! stores at the same time, from any thread.

mod build_ref;
mod cache;
mod context;
mod environment;
mod file_changes;
mod labelled;
mod surroundings;
mod views;
mod work_tree;

pub use build_ref::{Baseline, BuildRef, distinct_names};
pub use context::{Context, OnStep};
pub(crate) use environment::resolve_revision;
pub use environment::{Environment, FileAges};
#[cfg(feature = "lake")]
pub(crate) use labelled::select_labelled;
pub use surroundings::Surroundings;
pub use views::{EVENT, Filter};
pub(crate) use views::{restrict_pair, select_event_to_compare, slice_count_for};
pub use work_tree::{DescribedRevision, WorkTree};

use crate::QueryError;
use crate::select::{
    SelectError, Selection, Selector, check_one_benchmark, full_name, oldest_first, select,
    select_all_from, select_whole_build,
};
use crate::tree::{View, WindowError};
use build_ref::last_components;
use cache::ViewCache;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;
use sto_core::id::ProfileId;
use sto_core::ingest::InternError;
use sto_core::ingest::{IngestError, IngestOptions};
use sto_core::store::{Snapshot, Store, StoreError, StoreOptions, StoredBuild};
use sto_core::trace::CallThresholds;
use sto_core::tree::SliceCount;
use sto_core::units::Bytes;

/// Sources of profiles for queries: a store, and files. Clones share the files that were read.
#[derive(Clone)]
pub struct Sources {
    environment: Arc<dyn Environment>,
    /// Whether questions may read files.
    reads_files: bool,
    open: Arc<dyn Fn() -> Result<Snapshot, StoreError> + Send + Sync>,
    /// The store's state at first use, so that a query sees a single state.
    stored: Arc<OnceLock<Snapshot>>,
    /// Files that were read, each in its own store, so that no file is read twice.
    read: Arc<Mutex<Vec<(Reading, LocatedProfiles)>>>,
    /// Views that are kept for further questions, if there is a limit of memory for them.
    views: Option<Arc<ViewCache>>,
    context: Context,
}

/// A file and the way of reading it.
#[derive(Clone, PartialEq)]
struct Reading {
    file: ProfileFile,
    /// Length and time of the last change of the file, by which a file that was replaced is recognised.
    stamp: Option<(u64, SystemTime)>,
    slices: Option<SliceCount>,
    calls: CallReading,
}

/// Way of reading the calls in a file.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct CallReading {
    thresholds: CallThresholds,
    keep: bool,
    /// Whether they are not divided into slices.
    whole: bool,
}

/// Profiles of one build and their location.
#[derive(Clone)]
pub(crate) struct LocatedProfiles {
    pub(crate) store: Snapshot,
    pub(crate) selection: Selection,
    /// Whether they come from the store rather than a file, which has no benchmark.
    pub(crate) is_stored: bool,
}

/// Result of resolving a name.
enum Target {
    Stored(LocatedProfiles),
    File(ProfileFile),
}

/// A file to read, and the name of its build.
#[derive(Clone, PartialEq)]
struct ProfileFile {
    path: PathBuf,
    name: String,
}

/// Number of slices for reading a file when threads and labels of samples are needed, because these are only stored
/// with slices.
const CONTEXTS: Option<SliceCount> = SliceCount::new(1);

/// Number of slices for reading a file when its course over time, or a part of it, is needed.
pub(crate) const SLICES_OVER_TIME: Option<SliceCount> = SliceCount::new(1000);

impl LocatedProfiles {
    /// Loads the stacks, with each run separately.
    pub(crate) fn load(self) -> Result<View, SelectError> {
        View::load(&self.store, self.selection)
    }
}

impl Sources {
    /// Uses the store in this folder or file, which is opened on first use. Without a store, files can still be
    /// queried.
    pub fn from_folder(path: &Path) -> Sources {
        let path = path.to_owned();
        Sources::with_opener(move || Snapshot::open(&path, StoreOptions::default()))
    }

    /// Uses a snapshot of a store, which a process keeps for many queries.
    pub fn from_snapshot(snapshot: Snapshot) -> Sources {
        Sources::with_opener(move || Ok(snapshot.clone()))
    }

    /// Uses the store that `open` returns on first use, for callers that open stores with options.
    pub fn with_opener(
        open: impl Fn() -> Result<Snapshot, StoreError> + Send + Sync + 'static,
    ) -> Sources {
        Sources {
            environment: Arc::new(()),
            reads_files: true,
            open: Arc::new(open),
            stored: Arc::default(),
            read: Arc::default(),
            views: None,
            context: Context::default(),
        }
    }

    /// Sets the environment.
    #[must_use]
    pub fn with_environment(self, environment: Arc<dyn Environment>) -> Sources {
        Sources {
            environment,
            ..self
        }
    }

    /// Refuses questions that name files, and asks no environment: a server answers questions about its store to
    /// clients that may not read its files, nor learn which files exist.
    #[must_use]
    pub fn without_files(self) -> Sources {
        Sources {
            environment: Arc::new(()),
            reads_files: false,
            ..self
        }
    }

    /// Checks that questions may read files.
    ///
    /// # Errors
    ///
    /// Returns an error with the path if they may not.
    pub(crate) fn check_reads_files(&self, path: &Path) -> Result<(), QueryError> {
        if self.reads_files {
            return Ok(());
        }
        Err(QueryError::FilesForbidden {
            path: path.to_owned(),
        })
    }

    /// Keeps the stacks and costs that questions load from the store, for questions about the same runs: the most
    /// recently used ones, up to this size. Programs that answer many questions about one snapshot are faster with it.
    /// Sources of another snapshot have their own.
    #[must_use]
    pub fn with_cache(self, limit: Bytes) -> Sources {
        Sources {
            views: Some(Arc::new(ViewCache::new(limit))),
            ..self
        }
    }

    /// Returns these sources for a question with this context.
    pub(crate) fn with_context(&self, context: &Context) -> Sources {
        Sources {
            context: context.clone(),
            ..self.clone()
        }
    }

    pub(crate) fn environment(&self) -> &dyn Environment {
        &*self.environment
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The store, in its state at first use.
    pub(crate) fn store(&self) -> Result<&Snapshot, StoreError> {
        self.context.cancel.check()?;
        get_or_try_init(&self.stored, &*self.open)
    }

    /// Returns the profiles of both sides of a check; files are read with this number of slices.
    pub(crate) fn sides(
        &self,
        baseline: &Baseline,
        candidate: &BuildRef,
        slices: Option<SliceCount>,
    ) -> Result<[LocatedProfiles; 2], QueryError> {
        if matches!(baseline, Baseline::Any(baseline) if baseline == candidate) {
            let both = self.located(self.locate(candidate)?, slices)?;
            return Ok([both.clone(), both]);
        }
        let candidate = self.locate(candidate)?;
        let baseline = match (baseline, &candidate) {
            (Baseline::Any(named), _) => self.locate(named)?,
            (Baseline::OfCandidate(name), Target::Stored(candidate)) => {
                self.locate_of(name, &candidate.selection.build.executable)?
            }
            (Baseline::OfCandidate(name), Target::File(_)) => self.locate(&name.as_str().into())?,
        };
        let (baseline, candidate) = with_distinct_names(baseline, candidate);
        Ok([
            self.located(baseline, slices)?,
            self.located(candidate, slices)?,
        ])
    }

    /// Returns the newest build of a program that has several such runs in the store.
    pub(crate) fn newest_with_several_runs(
        &self,
        executable: &str,
        chosen: impl Fn(Selection) -> Selection,
    ) -> Result<Option<View>, QueryError> {
        // Two files can be compared without a store.
        let Ok(store) = self.store() else {
            return Ok(None);
        };
        let mut builds = store.builds()?;
        builds.retain(|stored| stored.build.executable == executable);
        oldest_first(&mut builds);
        let selections = builds
            .iter()
            .rev()
            .map(|stored| chosen(select_whole_build(stored)));
        let mut with_several = selections.filter(|selection| {
            selection.profiles.len() > 1 && check_one_benchmark([selection]).is_ok()
        });
        let view = with_several
            .next()
            .map(|selection| View::load(store, selection));
        Ok(view.transpose()?)
    }

    /// Resolves a name; a build in the store takes precedence over a file with the same name.
    fn locate(&self, named: &BuildRef) -> Result<Target, QueryError> {
        let text = match named {
            BuildRef::Selector(text) => text,
            BuildRef::File(path) => return self.file(path),
            BuildRef::Labelled(runs) => return Ok(Target::Stored(self.runs_of_program(runs)?)),
            BuildRef::Runs(ids) => {
                let store = self.store()?;
                return Ok(Target::Stored(LocatedProfiles {
                    selection: runs_of(store.builds()?, ids)?,
                    store: store.clone(),
                    is_stored: true,
                }));
            }
        };
        let path = Path::new(text);
        let exists = self.reads_files && path.exists();
        let mut starts = ["/", "./", "../"].iter();
        let is_path = starts.any(|start| text.starts_with(start));
        if is_path || (exists && text.contains('/')) {
            return self.file(path);
        }
        match self.find_stored(&resolve_revision(self.environment(), text.parse()?)?) {
            Ok(located) => Ok(Target::Stored(located)),
            Err(error) if !is_absence(&error) => Err(error.into()),
            Err(_) if exists => self.file(path),
            Err(source) => Err(QueryError::NothingNamed {
                selector: text.clone(),
                source,
            }),
        }
    }

    fn file(&self, path: &Path) -> Result<Target, QueryError> {
        self.check_reads_files(path)?;
        Ok(Target::file(path))
    }

    /// Returns the profiles denoted by a name, of any benchmark; without a name, every profile of the store.
    #[cfg(feature = "lake")]
    pub(crate) fn select_all(
        &self,
        named: Option<&BuildRef>,
    ) -> Result<Vec<LocatedProfiles>, QueryError> {
        if let Some(named) = named {
            let each = self.each(named)?;
            let located = each.iter().map(|n| self.located(self.locate(n)?, None));
            return located.collect();
        }
        let store = self.store()?;
        let builds = store.builds()?;
        let located = builds.iter().map(|stored| LocatedProfiles {
            store: store.clone(),
            selection: select_whole_build(stored),
            is_stored: true,
        });
        Ok(located.collect())
    }

    /// Splits a name into one name per build; a range of commits may have several builds.
    fn each(&self, named: &BuildRef) -> Result<Vec<BuildRef>, QueryError> {
        let selector = match named {
            BuildRef::Selector(text) => text.parse::<Selector>().ok(),
            BuildRef::File(_) | BuildRef::Runs(_) | BuildRef::Labelled(_) => None,
        };
        let Some(selector) = selector.filter(|selector| selector.range().is_some()) else {
            return Ok(vec![named.clone()]);
        };
        let selector = resolve_revision(self.environment(), selector)?;
        let selections = select_all_from(&self.store()?.builds()?, &selector)?;
        let runs = selections.into_iter().map(|selection| {
            let runs = selection.profiles.iter().map(|stored| stored.id);
            BuildRef::Runs(runs.collect())
        });
        Ok(runs.collect())
    }

    /// Resolves a name as a build or tag of an executable, or else as any selector.
    fn locate_of(&self, name: &str, executable: &str) -> Result<Target, QueryError> {
        // `@previous` refers to the executable, like `demo@previous`.
        for name in [name, name.strip_prefix('@').unwrap_or(name)] {
            let selector =
                resolve_revision(self.environment(), format!("{executable}@{name}").parse()?);
            match selector.map(|selector| self.find_stored(&selector)) {
                Ok(Ok(located)) => return Ok(Target::Stored(located)),
                Ok(Err(error)) if is_of_program(&error) => return Err(error.into()),
                _ => {}
            }
        }
        self.locate(&name.into())
    }

    fn find_stored(&self, selector: &Selector) -> Result<LocatedProfiles, SelectError> {
        let store = self.store()?;
        Ok(LocatedProfiles {
            selection: select(store, selector)?,
            store: store.clone(),
            is_stored: true,
        })
    }

    fn located(
        &self,
        target: Target,
        slices: Option<SliceCount>,
    ) -> Result<LocatedProfiles, QueryError> {
        self.located_with_calls(target, slices, CallReading::default())
    }

    /// Like `located`, with a way of reading the calls in files.
    fn located_with_calls(
        &self,
        target: Target,
        slices: Option<SliceCount>,
        calls: CallReading,
    ) -> Result<LocatedProfiles, QueryError> {
        let file = match target {
            Target::Stored(located) => return Ok(located),
            Target::File(file) => file,
        };
        let stamp = fs::metadata(&file.path).and_then(|found| Ok((found.len(), found.modified()?)));
        let mut reading = Reading {
            file,
            stamp: stamp.ok(),
            slices,
            calls,
        };
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, located)) = read().iter().find(|(known, _)| *known == reading) {
            return Ok(located.clone());
        }
        let (located, has_calls) = self.read_file(&reading)?;
        // Files without calls need not be read again to be divided into slices.
        reading.calls.whole &= has_calls;
        let is_old = |known: &Reading| known.file == reading.file && known.stamp != reading.stamp;
        read().retain(|(known, _)| !is_old(known));
        read().push((reading, located.clone()));
        Ok(located)
    }

    /// Reads a file, and returns whether it is a trace of calls.
    fn read_file(&self, reading: &Reading) -> Result<(LocatedProfiles, bool), QueryError> {
        let path = &reading.file.path;
        let options = IngestOptions {
            version: Some(reading.file.name.clone()),
            slices: reading.slices,
            call_thresholds: reading.calls.thresholds,
            keep_calls: reading.calls.keep,
            whole_calls: reading.calls.whole,
            cancel: self.context.cancel.clone(),
            ..IngestOptions::default()
        };
        let memory = Store::in_memory()?;
        let report = self.environment.read(&memory, path, options);
        let over_time = reading.slices.is_some_and(|slices| slices.get() > 1);
        let report = report.map_err(|error| match error {
            IngestError::Intern {
                source: InternError::NoTime { .. },
                ..
            } if over_time => QueryError::Window(WindowError::NoTime {
                file: path.display().to_string(),
            }),
            error => error.into(),
        })?;
        let read: Vec<_> = report.profiles.iter().map(|profile| profile.id).collect();
        let has_calls = report
            .profiles
            .iter()
            .any(|profile| profile.calls.is_some());
        let store = memory.snapshot()?;
        let located = LocatedProfiles {
            selection: runs_of(store.builds()?, &read)?,
            store,
            is_stored: false,
        };
        Ok((located, has_calls))
    }
}

impl Target {
    fn file(path: &Path) -> Target {
        Target::File(ProfileFile {
            path: path.to_owned(),
            name: last_components(path, 1),
        })
    }
}

/// Replacement for `OnceLock::get_or_try_init`, which is unstable.
fn get_or_try_init<T>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, StoreError>,
) -> Result<&T, StoreError> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

/// Returns runs of one build by their profile ids.
pub(crate) fn runs_of(
    mut builds: Vec<StoredBuild>,
    ids: &[ProfileId],
) -> Result<Selection, QueryError> {
    if let Some(&run) = ids.iter().find(|id| !has(&builds, **id)) {
        return Err(QueryError::NoRun { run });
    }
    builds.retain_mut(|build| {
        build.profiles.retain(|profile| ids.contains(&profile.id));
        !build.profiles.is_empty()
    });
    match <[_; 1]>::try_from(builds) {
        Ok([build]) => Ok(Selection {
            build: build.build,
            profiles: build.profiles,
        }),
        Err(builds) => Err(QueryError::NotOneBuild {
            builds: builds.iter().map(|b| full_name(&b.build)).collect(),
        }),
    }
}

fn has(builds: &[StoredBuild], run: ProfileId) -> bool {
    let mut profiles = builds.iter().flat_map(|build| &build.profiles);
    profiles.any(|stored| stored.id == run)
}

/// Gives two files distinct names.
fn with_distinct_names(mut a: Target, mut b: Target) -> (Target, Target) {
    if let (Target::File(a), Target::File(b)) = (&mut a, &mut b) {
        (a.name, b.name) = distinct_names(&a.path, &b.path);
    }
    (a, b)
}

/// Returns `true` if the selector denotes nothing in the store, so it may be the name of a file.
fn is_absence(error: &SelectError) -> bool {
    matches!(
        error,
        SelectError::Store(StoreError::NotFound { .. })
            | SelectError::EmptyStore
            | SelectError::NotFound { .. }
            | SelectError::ShortPrefix { .. }
    )
}

/// Returns `true` if the selector refers to builds of a program by age or revision, and there is no such build.
fn is_of_program(error: &SelectError) -> bool {
    matches!(
        error,
        SelectError::TooFewBuilds { .. }
            | SelectError::NoBuildOfCommit(_)
            | SelectError::SeveralOfCommit { .. }
            | SelectError::NoBuildInRange(_)
            | SelectError::SeveralInRange { .. }
    )
}
