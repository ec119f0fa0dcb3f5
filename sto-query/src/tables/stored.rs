//! The state of a store from which tables are read, with caches.

use super::build_tree::BuildTree;
use super::text_index::TextIndex;
use crate::QueryError;
use crate::functions::Functions;
use crate::questions::{Question, ask};
use crate::select::select_whole_build;
use crate::sources::{BuildRef, Context, EVENT, Sources};
use crate::tree::View;
use hashbrown::HashMap;
use rusqlite::Error;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use sto_core::CancelToken;
use sto_core::id::{BuildId, FrameId, NodeId, ProfileId};
use sto_core::model::{FrameIx, FrameTable};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::tree::NodeIx;
use sto_core::units::SampleType;

/// Number of builds whose stacks are cached: both sides of a comparison, and a few more.
const KEPT_BUILDS: usize = 4;

/// A state of a store.
pub(super) struct Stored {
    /// Sources for analyses.
    pub(super) sources: Sources,
    builds: OnceLock<Builds>,
    frames: OnceLock<Arc<AllFrames>>,
    text_index: OnceLock<TextIndex>,
    /// Number of samples and event of builds.
    measured: Mutex<HashMap<BuildId, (u64, Option<SampleType>)>>,
    /// Most recently used last.
    trees: Mutex<Vec<Arc<BuildTree>>>,
    /// Cancels the questions of the current query.
    cancel: Mutex<CancelToken>,
    /// The complete error of the last query, because SQLite only passes on its message.
    failure: Mutex<Option<QueryError>>,
}

/// Reason why there are no rows.
pub(super) enum QueryFailure {
    /// The analysis failed.
    Question(QueryError),
    /// A query to SQLite itself failed.
    Sqlite(Error),
}

impl From<QueryError> for QueryFailure {
    fn from(error: QueryError) -> QueryFailure {
        QueryFailure::Question(error)
    }
}

impl From<Error> for QueryFailure {
    fn from(error: Error) -> QueryFailure {
        QueryFailure::Sqlite(error)
    }
}

/// Every build of a store, with indices by id and run.
struct Builds {
    all: Vec<StoredBuild>,
    by_id: HashMap<BuildId, usize>,
    by_run: HashMap<ProfileId, (usize, usize)>,
}

impl Builds {
    fn new(all: Vec<StoredBuild>) -> Builds {
        let runs = all.iter().enumerate().flat_map(|(ix, build)| {
            let runs = build.profiles.iter().enumerate();
            runs.map(move |(run, stored)| (stored.id, (ix, run)))
        });
        Builds {
            by_id: all
                .iter()
                .enumerate()
                .map(|(ix, build)| (build.id, ix))
                .collect(),
            by_run: runs.collect(),
            all,
        }
    }
}

/// Every frame of a store.
pub(super) struct AllFrames {
    /// The frames.
    pub(super) table: FrameTable,
    functions: OnceLock<Functions>,
    ids: OnceLock<Vec<FrameId>>,
    by_id: OnceLock<HashMap<FrameId, FrameIx>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stored {
    /// Creates the state of these sources' store.
    pub(super) fn new(sources: Sources) -> Stored {
        Stored {
            sources,
            builds: OnceLock::new(),
            frames: OnceLock::new(),
            text_index: OnceLock::new(),
            measured: Mutex::default(),
            trees: Mutex::default(),
            cancel: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// Begins a query that this token cancels.
    pub(super) fn begin_query(&self, cancel: &CancelToken) {
        *lock(&self.cancel) = cancel.clone();
        self.take_failure();
    }

    /// Answers a question as a part of the current query.
    pub(super) fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, QueryError> {
        let context = Context {
            cancel: lock(&self.cancel).clone(),
            ..Context::default()
        };
        ask(&self.sources, question, &context)
    }

    /// The snapshot of the store.
    pub(super) fn snapshot(&self) -> Result<&Snapshot, QueryError> {
        Ok(self.sources.store()?)
    }

    fn all_builds(&self) -> Result<&Builds, QueryError> {
        if let Some(builds) = self.builds.get() {
            return Ok(builds);
        }
        let builds = Builds::new(self.snapshot()?.builds()?);
        Ok(self.builds.get_or_init(|| builds))
    }

    /// Returns the build with this id, or every build if no id is given.
    pub(super) fn builds(&self, id: Option<&str>) -> Result<&[StoredBuild], QueryError> {
        let builds = self.all_builds()?;
        let Some(id) = id else {
            return Ok(&builds.all);
        };
        let found = id
            .parse()
            .ok()
            .and_then(|id: BuildId| builds.by_id.get(&id));
        Ok(found.map_or(&[], |&ix| &builds.all[ix..=ix]))
    }

    /// Returns the run with this id, or every run if no id is given, restricted to the given build.
    pub(super) fn runs(
        &self,
        id: Option<&str>,
        build: Option<&str>,
    ) -> Result<Vec<(&StoredBuild, &StoredProfile)>, QueryError> {
        let builds = self.builds(build)?;
        let Some(id) = id else {
            let runs = builds
                .iter()
                .flat_map(|build| build.profiles.iter().map(move |run| (build, run)));
            return Ok(runs.collect());
        };
        let all = self.all_builds()?;
        let found = id
            .parse()
            .ok()
            .and_then(|id: ProfileId| all.by_run.get(&id));
        let found = found.map(|&(build, run)| (&all.all[build], &all.all[build].profiles[run]));
        let meant = found.filter(|(of, _)| builds.iter().any(|build| build.id == of.id));
        Ok(meant.into_iter().collect())
    }

    /// Returns the number of builds and runs for estimates, at least 1 each.
    pub(super) fn counts(&self) -> (f64, f64) {
        let counts = self
            .all_builds()
            .map(|builds| (builds.all.len(), builds.by_run.len()));
        let (builds, runs) = counts.unwrap_or_default();
        (builds.max(1) as f64, runs.max(1) as f64)
    }

    /// Returns every frame.
    pub(super) fn frames(&self) -> Result<Arc<AllFrames>, QueryError> {
        if let Some(frames) = self.frames.get() {
            return Ok(frames.clone());
        }
        let frames = AllFrames {
            table: self.snapshot()?.load_frames()?,
            functions: OnceLock::new(),
            ids: OnceLock::new(),
            by_id: OnceLock::new(),
        };
        Ok(self.frames.get_or_init(|| Arc::new(frames)).clone())
    }

    /// Returns the full-text index of all frames.
    pub(super) fn text_index(&self, frames: &AllFrames) -> rusqlite::Result<&TextIndex> {
        if let Some(index) = self.text_index.get() {
            return Ok(index);
        }
        let index = TextIndex::new(&frames.table)?;
        Ok(self.text_index.get_or_init(|| index))
    }

    /// Resolves an argument: the id of a build as in the tables, or otherwise a name as in commands.
    pub(super) fn resolve_build(&self, text: &str) -> Result<BuildRef, QueryError> {
        Ok(match self.builds(Some(text))? {
            [build] => BuildRef::Runs(build.profiles.iter().map(|run| run.id).collect()),
            _ => text.into(),
        })
    }

    /// Returns the stacks of a build.
    pub(super) fn tree(&self, stored: &StoredBuild) -> Result<Arc<BuildTree>, QueryError> {
        let mut trees = lock(&self.trees);
        let kept = trees.iter().position(|tree| tree.build == stored.id);
        let tree = match kept {
            Some(at) => trees.remove(at),
            None => {
                let view = View::load_sum(self.snapshot()?, select_whole_build(stored))?;
                Arc::new(BuildTree::new(stored.id, view))
            }
        };
        if trees.len() == KEPT_BUILDS {
            trees.remove(0);
        }
        trees.push(tree.clone());
        Ok(tree)
    }

    /// Returns the number of samples of a build's event, and the event.
    pub(super) fn event_samples(
        &self,
        stored: &StoredBuild,
    ) -> Result<(u64, Option<SampleType>), QueryError> {
        if let Some(known) = lock(&self.measured).get(&stored.id) {
            return Ok(known.clone());
        }
        let View {
            runs, sample_types, ..
        } = &self.tree(stored)?.view;
        let costs = runs.iter().filter_map(|run| run.get(EVENT)).flatten();
        let samples = costs.map(|(_, cost)| cost.samples).sum();
        let measured = (samples, sample_types.get(EVENT).cloned());
        lock(&self.measured).insert(stored.id, measured.clone());
        Ok(measured)
    }

    /// Returns the stacks of the build with this id; `None` if there is no such build.
    pub(super) fn tree_of(&self, build: BuildId) -> Result<Option<Arc<BuildTree>>, QueryError> {
        let builds = self.all_builds()?;
        let stored = builds.by_id.get(&build).map(|&ix| &builds.all[ix]);
        stored.map(|stored| self.tree(stored)).transpose()
    }

    /// Returns the node with an id that includes its build's; `None` if it does not exist.
    pub(super) fn node(&self, id: &str) -> Result<Option<(Arc<BuildTree>, NodeIx)>, QueryError> {
        let Some((build, node)) = parts(id) else {
            return Ok(None);
        };
        let Some(tree) = self.tree_of(build)? else {
            return Ok(None);
        };
        let found = tree.find(node);
        Ok(found.map(|node| (tree, node)))
    }

    /// Converts an error for SQLite, which only takes a message, and keeps the complete error.
    pub(super) fn keep_failure<T, E: Into<QueryFailure>>(
        &self,
        result: Result<T, E>,
    ) -> rusqlite::Result<T> {
        result.map_err(|error| match error.into() {
            QueryFailure::Sqlite(error) => error,
            QueryFailure::Question(error) => {
                let sentence = error.to_string();
                *lock(&self.failure) = Some(error);
                Error::ModuleError(sentence)
            }
        })
    }

    /// Takes the complete error of the last query, unless it came from SQLite.
    pub(super) fn take_failure(&self) -> Option<QueryError> {
        lock(&self.failure).take()
    }
}

/// Splits an id into the ids of the build and the node.
fn parts(id: &str) -> Option<(BuildId, NodeId)> {
    let (build, node) = id.split_at_checked(32)?;
    Some((build.parse().ok()?, node.parse().ok()?))
}

impl AllFrames {
    /// Functions of the frames.
    pub(super) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::new(&self.table))
    }

    /// Returns the key of a frame's function.
    pub(super) fn function(&self, frame: FrameIx) -> &str {
        let functions = self.functions();
        functions.name(functions.numbers()[frame.get()] as usize).0
    }

    /// Returns the frames of functions with this key.
    pub(super) fn frames_of_function(&self, key: &str) -> Vec<FrameIx> {
        let numbers = self.functions().find_by_key(Some(key));
        let is_meant = |number: u32| numbers.contains(&(number as usize));
        let frames = (0..).zip(self.functions().numbers());
        let meant = frames.filter(|&(_, &number)| is_meant(number));
        meant.map(|(ix, _)| FrameIx(ix)).collect()
    }

    fn ids(&self) -> &[FrameId] {
        self.ids.get_or_init(|| {
            let frames = self.table.iter();
            let ids = frames.map(|(_, frame)| FrameId::from_frame(frame));
            ids.collect()
        })
    }

    /// Returns the id of a frame.
    pub(super) fn id(&self, frame: FrameIx) -> FrameId {
        self.ids()[frame.get()]
    }

    /// Returns the frame with this id.
    pub(super) fn find(&self, id: &str) -> Option<FrameIx> {
        let by_id = self.by_id.get_or_init(|| {
            let ids = self.ids().iter().copied();
            ids.zip((0..).map(FrameIx)).collect()
        });
        let id: FrameId = id.parse().ok()?;
        by_id.get(&id).copied()
    }
}
