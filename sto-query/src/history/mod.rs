//! The runs of a program over time, of all its builds.
//!
#![doc = include_str!("history.md")]

mod costs;
mod error;
mod find;
mod functions;
mod judged;
mod occurrences;
mod query;

pub use error::HistoryError;

pub use functions::FunctionIx;
pub(crate) use functions::HistoryFunction;
pub(crate) use judged::Judged;
pub use occurrences::{Occurrences, occurrences};
pub use query::HistoryQuery;

use crate::functions::KeyOptions;
use crate::select::main_modules;
use functions::{number_functions, outermost};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::model::{Build, FrameTable};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::tree::{NodeIx, SelfCosts, StackTree, total};
use sto_core::units::{Cost, SampleType};

/// A run of a history.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HistoryRun {
    /// The build that ran.
    pub build: Build,
    /// The profile.
    pub(crate) profile: StoredProfile,
    /// What the whole run cost.
    pub whole: Cost,
}

/// The runs of one program, and of one benchmark where that was asked for: oldest build first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct History {
    /// The program.
    pub(crate) executable: String,
    /// The benchmark, where all runs are of one.
    pub(crate) benchmark: Option<String>,
    /// What was measured.
    pub(crate) sample_type: SampleType,
    /// Which functions of the builds are one.
    pub(crate) matching: KeyOptions,
    /// The runs: by build, that first recorded first, and then in order of their recording; those that do
    /// not say when come last.
    pub runs: Vec<HistoryRun>,
    /// The functions, in the order of symbol and module.
    pub functions: Vec<HistoryFunction>,
    /// The stacks of all runs, in preorder.
    pub tree: StackTree,
    /// Their frames.
    pub(crate) frames: FrameTable,
    /// By run.
    costs: Vec<SelfCosts>,
    /// By run, the samples of its nodes before each one, once they were asked for.
    sums: Vec<OnceLock<Vec<u64>>>,
    /// By node, the number of its callers, once it was asked for.
    depths: OnceLock<Vec<u32>>,
    /// By node.
    function_of: Vec<FunctionIx>,
    /// By node: the first node after its subtree.
    ends: Vec<u32>,
    /// By node: whether no caller is of the same function.
    outermost: Vec<bool>,
}

impl History {
    /// Loads the runs that a query names.
    ///
    /// # Errors
    /// Where the store cannot be read, no run is meant, or several programs or benchmarks are.
    pub fn load(store: &Snapshot, query: &HistoryQuery) -> Result<History, HistoryError> {
        let builds = query.one(store.builds()?)?;
        History::of(store, builds, query)
    }

    /// Loads the runs that a query names, of every program that has some, in the order of their names.
    ///
    /// # Errors
    /// Where the store cannot be read, or no run is meant.
    pub fn load_all(store: &Snapshot, query: &HistoryQuery) -> Result<Vec<History>, HistoryError> {
        // Builds come in the order of their programs.
        let builds = query.matching(store.builds()?)?;
        let programs = builds.chunk_by(|a, b| a.build.executable == b.build.executable);
        let load = |builds: &[StoredBuild]| History::of(store, builds.to_vec(), query);
        programs.map(load).collect()
    }

    /// `builds` are of one program, and have profiles.
    pub(crate) fn of(
        store: &Snapshot,
        builds: Vec<StoredBuild>,
        query: &HistoryQuery,
    ) -> Result<History, HistoryError> {
        let executable = builds[0].build.executable.clone();
        let sample_type = query.sample_type(&builds)?;
        let main_modules: BTreeSet<String> = builds
            .iter()
            .flat_map(|stored| main_modules(&stored.build, &stored.profiles))
            .map(str::to_owned)
            .collect();

        let mut runs: Vec<(Build, StoredProfile)> = Vec::new();
        for stored in builds {
            let measured = |profile: &&StoredProfile| {
                let types = &profile.profile.sample_types;
                sample_type.index_in(types).is_some()
            };
            let profiles = stored.profiles.iter().filter(measured);
            runs.extend(profiles.map(|profile| (stored.build.clone(), profile.clone())));
        }
        let benchmark = match runs.split_first() {
            Some(((_, first), rest)) => {
                let name = &first.profile.benchmark;
                let is_other = |(_, run): &(_, StoredProfile)| run.profile.benchmark != *name;
                name.clone().filter(|_| !rest.iter().any(is_other))
            }
            None => None,
        };
        let ids: Vec<ProfileId> = runs.iter().map(|(_, profile)| profile.id).collect();
        let loaded = store.load(ExecutableId::of(&executable), &ids)?;

        let (functions, of_frame) =
            number_functions(&loaded.frames, &main_modules, &executable, query.matching);
        let of_frame = |node| of_frame[loaded.tree.frame(node).get()];
        let function_of: Vec<FunctionIx> = loaded.tree.nodes().map(of_frame).collect();
        let ends = loaded.tree.subtree_ends();
        let outermost = outermost(&ends, &function_of, functions.len());
        let mut kept = Vec::with_capacity(runs.len());
        let mut costs = Vec::with_capacity(runs.len());
        for ((build, profile), columns) in runs.into_iter().zip(loaded.costs) {
            let column = sample_type.index_in(&profile.profile.sample_types);
            let column = column.and_then(|column| columns.into_iter().nth(column));
            let column = column.unwrap_or_default();
            let whole = total(&column);
            kept.push(HistoryRun {
                build,
                profile,
                whole,
            });
            costs.push(column);
        }
        Ok(History {
            executable,
            benchmark,
            sample_type,
            matching: query.matching,
            runs: kept,
            functions,
            tree: loaded.tree,
            frames: loaded.frames,
            sums: vec![OnceLock::new(); costs.len()],
            costs,
            depths: OnceLock::new(),
            function_of,
            ends,
            outermost,
        })
    }

    /// Of some functions, at least one, the one with most samples in a run; of equals the first.
    pub(crate) fn largest(&self, functions: &[FunctionIx], run: usize) -> FunctionIx {
        let totals = self.totals(run);
        let mut largest = functions[0];
        for &function in functions {
            if totals[function.get()].samples > totals[largest.get()].samples {
                largest = function;
            }
        }
        largest
    }

    /// The runs of each benchmark that have a metric, with its value.
    pub(crate) fn runs_with(&self, metric: &str) -> BTreeMap<Option<&str>, Vec<(usize, f64)>> {
        let mut runs: BTreeMap<Option<&str>, Vec<(usize, f64)>> = BTreeMap::new();
        for (index, run) in self.runs.iter().enumerate() {
            let profile = &run.profile.profile;
            if let Some(&value) = profile.metrics.get(metric) {
                let benchmark = runs.entry(profile.benchmark.as_deref()).or_default();
                benchmark.push((index, value));
            }
        }
        runs
    }

    /// The function of a node.
    pub fn function(&self, node: NodeIx) -> FunctionIx {
        self.function_of[node.get()]
    }

    /// Number of the callers of a node.
    pub(crate) fn depth(&self, node: NodeIx) -> u32 {
        self.depths.get_or_init(|| self.tree.depths())[node.get()]
    }

    /// The first node after the subtree of a node.
    pub(crate) fn subtree_end(&self, node: NodeIx) -> u32 {
        self.ends[node.get()]
    }

    /// The nodes that stand right below a node, in their order.
    pub(crate) fn children(&self, node: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let end = self.subtree_end(node);
        // In preorder the first stands after the node, and each other one after the subtree before it.
        let child = move |node: u32| (node < end).then_some(NodeIx(node));
        std::iter::successors(child(node.0 + 1), move |&last| {
            child(self.subtree_end(last))
        })
    }

    /// The nodes of a function that no node of the same function is above, in preorder.
    pub fn outermost(&self, function: FunctionIx) -> impl Iterator<Item = NodeIx> + '_ {
        let nodes = self.tree.nodes();
        nodes.filter(move |node| self.outermost[node.get()] && self.function(*node) == function)
    }
}

/// The runs that a report is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistorySubject {
    /// The program.
    pub executable: String,
    /// The benchmark; `None` for runs of any.
    pub benchmark: Option<String>,
    /// What was measured.
    pub sample_type: SampleType,
    /// Number of runs.
    pub runs: usize,
}

impl From<&History> for HistorySubject {
    fn from(history: &History) -> Self {
        HistorySubject {
            executable: history.executable.clone(),
            benchmark: history.benchmark.clone(),
            sample_type: history.sample_type.clone(),
            runs: history.runs.len(),
        }
    }
}

/// One run of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunSummary {
    /// The build's version.
    pub build: String,
    /// Id of the profile.
    pub profile: String,
    /// When it was recorded, as RFC 3339 writes it.
    pub recorded: Option<String>,
}

impl From<&HistoryRun> for RunSummary {
    fn from(run: &HistoryRun) -> Self {
        let origin = &run.profile.profile.origin;
        RunSummary {
            build: run.build.version.clone(),
            profile: run.profile.id.to_string(),
            recorded: origin.recorded.map(|time| time.to_string()),
        }
    }
}
