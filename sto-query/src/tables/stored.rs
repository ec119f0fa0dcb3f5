//! What tables are read from: a state of a store, of which what was read is kept for a while.

use super::search::TextIndex;
use crate::QueryError;
use crate::functions::{KeyOptions, key_of};
use crate::select::whole;
use crate::sources::{EVENT, Named, Sources};
use crate::tree::{View, costs_by, outermost, totals};
use hashbrown::HashMap;
use rusqlite::Error;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use sto_core::id::{BuildId, ExecutableId, FrameId, NodeId, ProfileId};
use sto_core::intern::{NodeIx, StackTree};
use sto_core::model::{FrameIx, FrameTable};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::units::{Cost, SampleType};

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

/// The stacks of a build, and what they cost over all its runs.
pub(super) struct BuildTree {
    /// The build.
    pub(super) build: BuildId,
    /// The stacks; of its sample types the first is the build's event.
    pub(super) view: View,
    self_costs: OnceLock<Vec<Cost>>,
    totals: OnceLock<Vec<Cost>>,
    subtree_ends: OnceLock<Vec<u32>>,
    functions: OnceLock<Functions>,
    /// By sample type, what each function cost by itself and in total.
    function_costs: OnceLock<Vec<Vec<(Cost, Cost)>>>,
    outermost: OnceLock<Vec<bool>>,
    ids: Ids,
    by_id: OnceLock<HashMap<NodeId, NodeIx>>,
}

/// The ids of a tree's nodes and frames, made as they are first asked for.
pub(super) struct Ids {
    executable: ExecutableId,
    nodes: OnceLock<Vec<NodeId>>,
    frames: OnceLock<Vec<Hex>>,
}

impl Ids {
    /// Of a tree of this executable.
    pub(super) fn of(executable: ExecutableId) -> Ids {
        Ids {
            executable,
            nodes: OnceLock::new(),
            frames: OnceLock::new(),
        }
    }

    fn nodes(&self, tree: &StackTree, frames: &FrameTable) -> &[NodeId] {
        let ids = || tree.node_ids(self.executable, frames);
        self.nodes.get_or_init(ids)
    }

    /// The id of a node.
    pub(super) fn node(&self, tree: &StackTree, frames: &FrameTable, node: NodeIx) -> Hex {
        Hex::of(self.nodes(tree, frames)[node.get()].0)
    }

    /// The id of a node's frame.
    pub(super) fn frame(&self, tree: &StackTree, frames: &FrameTable, node: NodeIx) -> &str {
        let ids = self.frames.get_or_init(|| {
            let frames = frames.iter();
            frames
                .map(|(_, frame)| Hex::of(FrameId::of(frame).0))
                .collect()
        });
        ids[tree.frame(node).get()].as_str()
    }
}

/// An id in hexadecimal.
#[derive(Clone, Copy)]
pub(super) struct Hex([u8; 32]);

impl Hex {
    /// Of the bytes of an id.
    pub(super) fn of(id: [u8; 16]) -> Hex {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 32];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(id) {
            pair.copy_from_slice(&[
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]);
        }
        Hex(hex)
    }

    /// The digits.
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
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
        let index = TextIndex::of(frames)?;
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

impl BuildTree {
    fn of(build: BuildId, view: View) -> BuildTree {
        let executable = ExecutableId::of(&view.selection.build.executable);
        BuildTree {
            build,
            view,
            self_costs: OnceLock::new(),
            totals: OnceLock::new(),
            subtree_ends: OnceLock::new(),
            functions: OnceLock::new(),
            function_costs: OnceLock::new(),
            outermost: OnceLock::new(),
            ids: Ids::of(executable),
            by_id: OnceLock::new(),
        }
    }

    /// What each node cost by itself, in the build's event.
    pub(super) fn self_costs(&self) -> &[Cost] {
        let costs = || self.view.self_costs(EVENT);
        self.self_costs.get_or_init(costs)
    }

    /// What each node cost with all below it.
    pub(super) fn totals(&self) -> &[Cost] {
        self.totals
            .get_or_init(|| totals(&self.view.tree, self.self_costs()))
    }

    /// By node, the first that is not below it.
    pub(super) fn subtree_ends(&self) -> &[u32] {
        self.subtree_ends
            .get_or_init(|| self.view.tree.subtree_ends())
    }

    /// Its functions.
    pub(super) fn functions(&self) -> &Functions {
        self.functions
            .get_or_init(|| Functions::of(&self.view.frames))
    }

    /// By sample type, what each function cost by itself and in total, with recursion counted once.
    pub(super) fn function_costs(&self) -> &[Vec<(Cost, Cost)>] {
        self.function_costs.get_or_init(|| {
            let types = 0..self.view.sample_types.len();
            let costs = types.map(|ix| {
                let own = self.view.self_costs(ix);
                costs_by(&self.view, &own, self.functions().numbers())
            });
            costs.collect()
        })
    }

    /// By node, whether its function is not among its callers.
    pub(super) fn outermost(&self) -> &[bool] {
        let numbers = self.functions().numbers();
        self.outermost
            .get_or_init(|| outermost(&self.view.tree, numbers).collect())
    }

    /// The node with this id.
    pub(super) fn find(&self, node: NodeId) -> Option<NodeIx> {
        let by_id = self.by_id.get_or_init(|| {
            let nodes = self.view.tree.nodes();
            let ids = self.ids.nodes(&self.view.tree, &self.view.frames);
            ids.iter().copied().zip(nodes).collect()
        });
        by_id.get(&node).copied()
    }

    /// The id of a node's frame.
    pub(super) fn frame_id(&self, node: NodeIx) -> &str {
        let View { tree, frames, .. } = &self.view;
        self.ids.frame(tree, frames, node)
    }

    /// The id of a node, whatever its build.
    pub(super) fn node_id(&self, node: NodeIx) -> Hex {
        let View { tree, frames, .. } = &self.view;
        self.ids.node(tree, frames, node)
    }

    /// The id of a node within its build.
    pub(super) fn id(&self, node: NodeIx) -> String {
        [Hex::of(self.build.0).as_str(), self.node_id(node).as_str()].concat()
    }
}

/// What a frame's function is called wherever builds are compared.
pub(super) fn function_of(frames: &FrameTable, frame: FrameIx) -> Cow<'_, str> {
    key_of(frames.frame(frame), KeyOptions::default())
}

/// The functions of frames: what has one key and one module is one.
pub(super) struct Functions {
    /// By frame, the number of its function; they count up in the order of the frames.
    number_of: Vec<u32>,
    /// The key and the module of each.
    names: Vec<(String, String)>,
    /// The numbers of those with a key.
    by_key: HashMap<String, Vec<u32>>,
}

impl Functions {
    /// Of these frames.
    pub(super) fn of(frames: &FrameTable) -> Functions {
        let mut numbers: HashMap<(Cow<'_, str>, &str), u32> = HashMap::new();
        let mut names = Vec::new();
        let mut by_key: HashMap<String, Vec<u32>> = HashMap::new();
        let keys = frames.iter().map(|(ix, frame)| {
            let key = (function_of(frames, ix), frame.module);
            *numbers.entry(key).or_insert_with_key(|(key, module)| {
                let number = names.len() as u32;
                names.push((key.to_string(), (*module).to_owned()));
                by_key.entry(key.to_string()).or_default().push(number);
                number
            })
        });
        Functions {
            number_of: keys.collect(),
            names,
            by_key,
        }
    }

    /// By frame, the number of its function.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.number_of
    }

    /// The numbers of functions with this key, or of all.
    pub(super) fn with_key(&self, key: Option<&str>) -> Vec<usize> {
        match key {
            Some(key) => {
                let numbers = self.by_key.get(key).into_iter().flatten();
                numbers.map(|&number| number as usize).collect()
            }
            None => (0..self.names.len()).collect(),
        }
    }

    /// The key and the module of a function.
    pub(super) fn name(&self, number: usize) -> (&str, &str) {
        let (key, module) = &self.names[number];
        (key, module)
    }
}
