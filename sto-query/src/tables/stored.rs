//! What tables are read from: a state of a store, of which what was read is kept for a while.

use super::build_tree::BuildTree;
use super::text_index::TextIndex;
use crate::QueryError;
use crate::functions::Functions;
use crate::select::whole;
use crate::sources::{EVENT, Named, Sources};
use crate::tree::View;
use hashbrown::HashMap;
use rusqlite::Error;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use sto_core::id::{BuildId, FrameId, NodeId, ProfileId};
use sto_core::model::{FrameIx, FrameTable};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::tree::NodeIx;
use sto_core::units::SampleType;

/// Builds whose stacks are kept, to be read again: both sides of a comparison, and some others.
const KEPT_BUILDS: usize = 4;

/// A state of a store.
pub(super) struct Stored {
    /// Where analyses find what they are asked about.
    pub(super) sources: Sources,
    builds: OnceLock<Builds>,
    frames: OnceLock<Arc<AllFrames>>,
    text_index: OnceLock<TextIndex>,
    /// The samples of builds, and what was measured by them.
    measured: Mutex<HashMap<BuildId, (u64, Option<SampleType>)>>,
    /// The last that was read stands last.
    trees: Mutex<Vec<Arc<BuildTree>>>,
    /// Why the last query failed, where SQLite has no more than the sentence.
    failure: Mutex<Option<QueryError>>,
}

/// Why there are no rows.
pub(super) enum Unanswered {
    /// What is asked for cannot be answered.
    Question(QueryError),
    /// SQLite, which was asked itself, did not answer.
    Sqlite(Error),
}

impl From<QueryError> for Unanswered {
    fn from(error: QueryError) -> Unanswered {
        Unanswered::Question(error)
    }
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Unanswered {
        Unanswered::Sqlite(error)
    }
}

/// Every build of a store, and where builds and runs stand among them.
struct Builds {
    all: Vec<StoredBuild>,
    by_id: HashMap<BuildId, usize>,
    by_run: HashMap<ProfileId, (usize, usize)>,
}

impl Builds {
    fn of(all: Vec<StoredBuild>) -> Builds {
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
    by_id: OnceLock<HashMap<FrameId, FrameIx>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stored {
    /// The store of these sources.
    pub(super) fn new(sources: Sources) -> Stored {
        Stored {
            sources,
            builds: OnceLock::new(),
            frames: OnceLock::new(),
            text_index: OnceLock::new(),
            measured: Mutex::default(),
            trees: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// The state of the store.
    pub(super) fn snapshot(&self) -> Result<&Snapshot, QueryError> {
        Ok(self.sources.store()?)
    }

    fn all_builds(&self) -> Result<&Builds, QueryError> {
        if let Some(builds) = self.builds.get() {
            return Ok(builds);
        }
        let builds = Builds::of(self.snapshot()?.builds()?);
        Ok(self.builds.get_or_init(|| builds))
    }

    /// The build with this id, or every build where none is asked for.
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

    /// The run with this id, or every run where none is asked for, if its build may be any or has that id.
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

    /// How many builds and runs there are, for estimates: none is one.
    pub(super) fn counts(&self) -> (f64, f64) {
        let counts = self
            .all_builds()
            .map(|builds| (builds.all.len(), builds.by_run.len()));
        let (builds, runs) = counts.unwrap_or_default();
        (builds.max(1) as f64, runs.max(1) as f64)
    }

    /// Every frame.
    pub(super) fn frames(&self) -> Result<Arc<AllFrames>, QueryError> {
        if let Some(frames) = self.frames.get() {
            return Ok(frames.clone());
        }
        let frames = AllFrames {
            table: self.snapshot()?.load_frames()?,
            functions: OnceLock::new(),
            by_id: OnceLock::new(),
        };
        Ok(self.frames.get_or_init(|| Arc::new(frames)).clone())
    }

    /// The words of all frames.
    pub(super) fn text_index(&self, frames: &AllFrames) -> rusqlite::Result<&TextIndex> {
        if let Some(index) = self.text_index.get() {
            return Ok(index);
        }
        let index = TextIndex::of(&frames.table)?;
        Ok(self.text_index.get_or_init(|| index))
    }

    /// What a text names in an argument: the id of a build as the tables have it, else what commands take.
    pub(super) fn named(&self, text: &str) -> Result<Named, QueryError> {
        Ok(match self.builds(Some(text))? {
            [build] => Named::Runs(build.profiles.iter().map(|run| run.id).collect()),
            _ => text.into(),
        })
    }

    /// The stacks of a build.
    pub(super) fn tree(&self, stored: &StoredBuild) -> Result<Arc<BuildTree>, QueryError> {
        let mut trees = lock(&self.trees);
        let kept = trees.iter().position(|tree| tree.build == stored.id);
        let tree = match kept {
            Some(at) => trees.remove(at),
            None => {
                let view = View::load_sum(self.snapshot()?, whole(stored))?;
                Arc::new(BuildTree::of(stored.id, view))
            }
        };
        if trees.len() == KEPT_BUILDS {
            trees.remove(0);
        }
        trees.push(tree.clone());
        Ok(tree)
    }

    /// How many samples a build has of its event, and what that is.
    pub(super) fn measured(
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

    /// The stacks of a build by its id; `None` where there is no such build.
    pub(super) fn tree_of(&self, build: BuildId) -> Result<Option<Arc<BuildTree>>, QueryError> {
        let builds = self.all_builds()?;
        let stored = builds.by_id.get(&build).map(|&ix| &builds.all[ix]);
        stored.map(|stored| self.tree(stored)).transpose()
    }

    /// The node of a build with this id of both; `None` where there is none.
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

    /// The same for SQLite, which takes no more than a sentence; the rest is kept for who asks.
    pub(super) fn explained<T, E: Into<Unanswered>>(
        &self,
        result: Result<T, E>,
    ) -> rusqlite::Result<T> {
        result.map_err(|error| match error.into() {
            Unanswered::Sqlite(error) => error,
            Unanswered::Question(error) => {
                let sentence = error.to_string();
                *lock(&self.failure) = Some(error);
                Error::ModuleError(sentence)
            }
        })
    }

    /// Why the last query failed, where that was not SQL.
    pub(super) fn take_failure(&self) -> Option<QueryError> {
        lock(&self.failure).take()
    }
}

/// A build and a node, by the id of both.
fn parts(id: &str) -> Option<(BuildId, NodeId)> {
    let (build, node) = id.split_at_checked(32)?;
    Some((build.parse().ok()?, node.parse().ok()?))
}

impl AllFrames {
    /// Their functions.
    pub(super) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::of(&self.table))
    }

    /// The frames of functions with this key.
    pub(super) fn of_function(&self, key: &str) -> Vec<FrameIx> {
        let numbers = self.functions().with_key(Some(key));
        let is_meant = |number: u32| numbers.contains(&(number as usize));
        let frames = (0..).zip(self.functions().numbers());
        let meant = frames.filter(|&(_, &number)| is_meant(number));
        meant.map(|(ix, _)| FrameIx(ix)).collect()
    }

    /// The frame with this id.
    pub(super) fn find(&self, id: &str) -> Option<FrameIx> {
        let by_id = self.by_id.get_or_init(|| {
            let frames = self.table.iter();
            frames.map(|(ix, frame)| (FrameId::of(frame), ix)).collect()
        });
        let id: FrameId = id.parse().ok()?;
        by_id.get(&id).copied()
    }
}
