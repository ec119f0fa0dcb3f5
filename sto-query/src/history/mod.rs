//! The runs of all builds of a program over time.
//!
//! See [the manual](crate::manual::history).

mod costs;
mod error;
mod evolution;
mod find;
mod functions;
mod judged;
mod occurrences;
mod query;
mod view;

pub use occurrences::Occurrence;

pub use judged::Judged;

pub use evolution::{BuildCost, EvolvedStack};

pub use error::HistoryError;

pub use evolution::Evolution;
pub(crate) use evolution::evolution;
pub use functions::FunctionIx;
pub(crate) use functions::HistoryFunction;
pub use judged::JudgedWindow;
pub use occurrences::{Occurrences, occurrences};
pub use query::HistoryQuery;

use crate::functions::KeyOptions;
use crate::select::main_modules;
use functions::{Naming, frames_of_build, number_functions, outermost};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::model::{Build, FrameIx, FrameTable};
use sto_core::store::{Snapshot, StoredBuild, StoredProfile};
use sto_core::tree::{NodeIx, SelfCosts, StackTree, total_cost};
use sto_core::units::{Cost, SampleType};

/// A run of a history.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HistoryRun {
    /// The build that ran.
    pub build: Build,
    /// The profile.
    pub(crate) profile: StoredProfile,
    /// The cost of the whole run.
    pub whole: Cost,
}

/// The runs of one program, optionally of one benchmark, oldest build first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct History {
    /// The program.
    pub(crate) executable: String,
    /// The benchmark, if all runs have the same one.
    pub(crate) benchmark: Option<String>,
    /// The sample type of all costs.
    pub(crate) sample_type: SampleType,
    /// How functions of the builds are matched.
    pub(crate) matching: KeyOptions,
    /// The runs by build, first recorded build first, and then in the order of their recording.
    /// Runs without a recording time come last.
    pub runs: Vec<HistoryRun>,
    /// The functions, in the order of symbol and module.
    pub functions: Vec<HistoryFunction>,
    /// The stacks of all runs, in preorder.
    pub tree: StackTree,
    /// The frames of the stacks.
    pub(crate) frames: FrameTable,
    /// Self costs, by run.
    costs: Vec<SelfCosts>,
    /// Cumulative samples of each run, computed on first use.
    sums: Vec<OnceLock<Vec<u64>>>,
    /// Number of callers of each node, computed on first use.
    depths: OnceLock<Vec<u32>>,
    /// The function of each node.
    function_of: Vec<FunctionIx>,
    /// The first node after each node's subtree.
    ends: Vec<u32>,
    /// Whether no caller of a node is the same function, by node.
    outermost: Vec<bool>,
}

impl History {
    /// Loads the runs that a query selects, of all benchmarks that it names.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, no run matches, or the runs have several
    /// programs, or several benchmarks of which none is named.
    pub fn load(store: &Snapshot, query: &HistoryQuery) -> Result<History, HistoryError> {
        History::from_builds(store, query.select(store.builds()?)?, query)
    }

    /// Like [`load`](Self::load), as one history per benchmark, in the order of their names.
    ///
    /// # Errors
    /// Returns the errors of [`load`](Self::load).
    pub fn load_by_benchmark(
        store: &Snapshot,
        query: &HistoryQuery,
    ) -> Result<Vec<History>, HistoryError> {
        let builds = query.select(store.builds()?)?;
        let runs = builds.iter().flat_map(|build| &build.profiles);
        let benchmarks: BTreeSet<&Option<String>> =
            runs.map(|run| &run.profile.benchmark).collect();
        let load = |benchmark: &Option<String>| {
            let mut builds = builds.clone();
            builds.retain_mut(|build| {
                build
                    .profiles
                    .retain(|run| run.profile.benchmark == *benchmark);
                !build.profiles.is_empty()
            });
            History::from_builds(store, builds, query)
        };
        benchmarks.into_iter().map(load).collect()
    }

    /// Loads the runs that a query selects, as one history per program, in the order of program
    /// names.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, or no run matches.
    pub fn load_all(store: &Snapshot, query: &HistoryQuery) -> Result<Vec<History>, HistoryError> {
        // Builds are sorted by program.
        let builds = query.matching(store.builds()?)?;
        let programs = builds.chunk_by(|a, b| a.build.executable == b.build.executable);
        let load = |builds: &[StoredBuild]| History::from_builds(store, builds.to_vec(), query);
        programs.map(load).collect()
    }

    /// Loads a history. All builds must be of one program and have profiles.
    pub(crate) fn from_builds(
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
        let loaded = store.load(ExecutableId::from_name(&executable), &ids)?;

        let of_builds = runs.chunk_by(|(a, _), (b, _)| a == b);
        let mut columns = loaded.costs.iter();
        let builds = of_builds.map(|runs| {
            let columns = columns.by_ref().take(runs.len());
            frames_of_build(&loaded.tree, columns.flatten())
        });
        let naming = Naming {
            executable: &executable,
            main_modules: &main_modules,
            options: query.matching,
        };
        let builds: Vec<Vec<FrameIx>> = builds.collect();
        let (functions, of_frame) = number_functions(&loaded.frames, &builds, &naming);
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
            let whole = total_cost(&column);
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

    /// Returns the function with most samples in a run; the first of equals. `functions` must not
    /// be empty.
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

    /// Returns the runs that have a metric, with its value, by benchmark.
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

    /// Returns the function of a node.
    pub fn function(&self, node: NodeIx) -> FunctionIx {
        self.function_of[node.get()]
    }

    /// Returns the number of callers of a node.
    pub(crate) fn depth(&self, node: NodeIx) -> u32 {
        self.depths.get_or_init(|| self.tree.depths())[node.get()]
    }

    /// Returns the first node after the subtree of a node.
    pub(crate) fn subtree_end(&self, node: NodeIx) -> u32 {
        self.ends[node.get()]
    }

    /// Returns the children of a node, in order.
    pub(crate) fn children(&self, node: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let end = self.subtree_end(node);
        // In preorder, the first child follows its parent, and each other child follows the subtree
        // of the previous one.
        let child = move |node: u32| (node < end).then_some(NodeIx(node));
        std::iter::successors(child(node.0 + 1), move |&last| {
            child(self.subtree_end(last))
        })
    }

    /// Returns the outermost nodes of a function, in preorder: those without a caller of the same
    /// function.
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
    /// The sample type of all costs.
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
    /// Time at which the run was recorded, in RFC 3339 format.
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
