//! The runs of a program over time, of all its builds.

mod error;
mod functions;
mod judged;
mod query;

pub use error::HistoryError;
pub use functions::{FunctionIx, HistoryFunction};
pub use judged::Judged;
pub use query::HistoryQuery;

use crate::functions::{FunctionChoice, FunctionError, KeyOptions, Named};
use crate::render::printable;
use crate::select::main_modules;
use crate::tree::for_each_total;
use functions::{number_functions, outermost};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::intern::{NodeIx, SelfCosts, StackTree, total};
use sto_core::model::{Build, FrameTable};
use sto_core::store::{Store, StoredBuild, StoredProfile};
use sto_core::units::{Cost, SampleType};

/// A run of a history.
#[derive(Clone, Debug)]
pub struct HistoryRun {
    /// The build that ran.
    pub build: Build,
    /// The profile.
    pub profile: StoredProfile,
    /// What the whole run cost.
    pub whole: Cost,
}

/// The runs of one program, and of one benchmark where that was asked for: oldest build first.
#[derive(Clone, Debug)]
pub struct History {
    /// The program.
    pub executable: String,
    /// The benchmark, where all runs are of one.
    pub benchmark: Option<String>,
    /// What was measured.
    pub sample_type: SampleType,
    /// Which functions of the builds are one.
    pub matching: KeyOptions,
    /// The runs: by build, that first recorded first, and then in order of their recording; those that do
    /// not tell when come last.
    pub runs: Vec<HistoryRun>,
    /// The functions, in the order of symbol and module.
    pub functions: Vec<HistoryFunction>,
    /// The stacks of all runs, in preorder.
    pub tree: StackTree,
    /// Their frames.
    pub frames: FrameTable,
    /// By run.
    costs: Vec<SelfCosts>,
    /// By run, the samples of its nodes before each one, once they were asked for.
    sums: Vec<OnceLock<Vec<u64>>>,
    /// By node, the number of its callers, once it was asked for.
    depths: OnceLock<Vec<u32>>,
    /// By node.
    function_of: Vec<FunctionIx>,
    /// By node: the first node behind its subtree.
    ends: Vec<u32>,
    /// By node: whether no caller is of the same function.
    outermost: Vec<bool>,
}

/// The functions of histories that a user names.
#[derive(Clone, Debug)]
pub struct FoundFunctions {
    /// Those of each history, in order; none where it does not have them.
    pub by_history: Vec<Vec<FunctionIx>>,
    /// Their keys, each once and in order.
    pub keys: Vec<String>,
}

impl History {
    /// Loads the runs that a query names.
    ///
    /// # Errors
    /// Where the store cannot be read, no run is meant, or several programs or benchmarks are.
    pub fn load(store: &Store, query: &HistoryQuery) -> Result<History, HistoryError> {
        let builds = query.matching(store.builds()?)?;
        HistoryQuery::of_one_program(&builds)?;
        HistoryQuery::of_one_benchmark(&builds)?;
        History::of(store, builds, query)
    }

    /// Loads the runs that a query names, of every program that has some, in the order of their names.
    ///
    /// # Errors
    /// Where the store cannot be read, or no run is meant.
    pub fn load_all(store: &Store, query: &HistoryQuery) -> Result<Vec<History>, HistoryError> {
        // Builds come in the order of their programs.
        let builds = query.matching(store.builds()?)?;
        let programs = builds.chunk_by(|a, b| a.build.executable == b.build.executable);
        let load = |builds: &[StoredBuild]| History::of(store, builds.to_vec(), query);
        programs.map(load).collect()
    }

    /// `builds` are of one program, and have profiles.
    fn of(
        store: &Store,
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
                sample_type.place_in(types).is_some()
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
            let place = sample_type.place_in(&profile.profile.sample_types);
            let column = place.and_then(|place| columns.into_iter().nth(place));
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

    /// The functions that a user [names](FunctionChoice): those of one key, of several modules maybe, or all
    /// that fit a regular expression.
    ///
    /// # Errors
    /// Where no function of these runs is meant, or several are.
    pub fn find(&self, name: &str) -> Result<Vec<FunctionIx>, HistoryError> {
        let found = History::find_in(std::slice::from_ref(self), name)?;
        Ok(found.by_history.into_iter().flatten().collect())
    }

    /// The same, but of one key alone, also by a regular expression.
    ///
    /// # Errors
    /// Where no function of these runs is meant, or several are.
    pub fn find_one(&self, name: &str) -> Result<Vec<FunctionIx>, HistoryError> {
        let found = History::find_in(std::slice::from_ref(self), name)?;
        match found.keys.len() {
            1 => Ok(found.by_history.into_iter().flatten().collect()),
            _ => Err(FunctionError::Several {
                text: name.to_owned(),
                names: found.keys,
            }
            .into()),
        }
    }

    /// The same, of several histories together.
    ///
    /// # Errors
    /// Where no function of any of them is meant, or several are.
    pub fn find_in(histories: &[History], name: &str) -> Result<FoundFunctions, HistoryError> {
        let choice = FunctionChoice::parse(name)?;
        let all = histories.iter().flat_map(|history| &history.functions);
        let named: Vec<Named> = all
            .map(|function| Named::of_key(&function.symbol))
            .collect();
        let chosen = choice.among(&named);
        if chosen.is_empty() {
            let programs: Vec<_> = histories
                .iter()
                .map(|history| printable(&history.executable))
                .collect();
            let among = format!("runs of {}", programs.join(", "));
            return Err(choice.not_found(among, &named).into());
        }
        let keys = choice.names_of(&chosen, &named)?;
        let mut chosen = chosen.into_iter().peekable();
        let mut first = 0;
        let of_history = |history: &History| {
            let end = first + history.functions.len();
            let mut own = Vec::new();
            while let Some(place) = chosen.next_if(|place| *place < end) {
                own.push(FunctionIx::new(place - first));
            }
            first = end;
            own
        };
        Ok(FoundFunctions {
            by_history: histories.iter().map(of_history).collect(),
            keys,
        })
    }

    /// Of some functions, at least one, the one with most samples in a run; of equals the first.
    pub fn largest(&self, functions: &[FunctionIx], run: usize) -> FunctionIx {
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
    pub fn runs_with(&self, metric: &str) -> BTreeMap<Option<&str>, Vec<(usize, f64)>> {
        let mut runs: BTreeMap<Option<&str>, Vec<(usize, f64)>> = BTreeMap::new();
        for (place, run) in self.runs.iter().enumerate() {
            let profile = &run.profile.profile;
            if let Some(&value) = profile.metrics.get(metric) {
                let benchmark = runs.entry(profile.benchmark.as_deref()).or_default();
                benchmark.push((place, value));
            }
        }
        runs
    }

    /// The function of a node.
    pub fn function(&self, node: NodeIx) -> FunctionIx {
        self.function_of[node.get()]
    }

    /// Number of the callers of a node.
    pub fn depth(&self, node: NodeIx) -> u32 {
        let depths = self.depths.get_or_init(|| {
            let mut depths: Vec<u32> = Vec::with_capacity(self.tree.len());
            for node in self.tree.nodes() {
                let parent = self.tree.parent(node);
                depths.push(parent.map_or(0, |parent| depths[parent.get()] + 1));
            }
            depths
        });
        depths[node.get()]
    }

    /// The first node behind the subtree of a node.
    pub fn subtree_end(&self, node: NodeIx) -> u32 {
        self.ends[node.get()]
    }

    /// The nodes that stand right below a node, in their order.
    pub(crate) fn children(&self, node: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let end = self.subtree_end(node);
        // In preorder the first stands behind the node, and each other one behind the subtree before it.
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

    /// Samples of some nodes with all below them, in one run: for each node in its order.
    pub fn samples_below(&self, run: usize, nodes: &[NodeIx]) -> Vec<u64> {
        let costs = &self.costs[run];
        let sums = self.sums[run].get_or_init(|| running_sums(costs));
        let mut last = (NodeIx(0), 0);
        let below = |&node: &NodeIx| {
            let from = if node < last.0 { 0 } else { last.1 };
            let start = first_from(costs, from, node.0);
            let end = first_from(costs, start, self.subtree_end(node));
            last = (node, start);
            sums[end] - sums[start]
        };
        nodes.iter().map(below).collect()
    }

    /// Samples of those nodes that have any, with all below them, in one run: the places of the nodes, and
    /// how many. The nodes are in order, and none is below another.
    pub(crate) fn for_each_below(
        &self,
        run: usize,
        nodes: &[NodeIx],
        mut each: impl FnMut(usize, u64),
    ) {
        let costs = &self.costs[run];
        let sums = self.sums[run].get_or_init(|| running_sums(costs));
        let (mut place, mut at) = (0, 0);
        while let Some(&(next, _)) = costs.get(at) {
            // Of many nodes a run has few, and of its costs few are below them: both are leapt over.
            place = leap(nodes, place, |&node| self.subtree_end(node) <= next.0);
            let Some(&node) = nodes.get(place) else {
                break;
            };
            let start = first_from(costs, at, node.0);
            at = first_from(costs, start, self.subtree_end(node));
            if at > start {
                each(place, sums[at] - sums[start]);
            }
            place += 1;
        }
    }

    /// What samples cost whose stack has one of these functions, by run; each counted once.
    pub fn totals_of(&self, functions: &[FunctionIx]) -> Vec<Cost> {
        // In preorder a subtree is one piece, so the outermost of these nodes are pieces that do
        // not overlap.
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        let mut is_meant = vec![false; self.functions.len()];
        functions.iter().for_each(|f| is_meant[f.get()] = true);
        for node in self.tree.nodes() {
            let is_inside = pieces.last().is_some_and(|&(_, end)| node.0 < end);
            if !is_inside && is_meant[self.function_of[node.get()].get()] {
                pieces.push((node.0, self.subtree_end(node)));
            }
        }
        let sum = |costs: &SelfCosts| {
            let mut pieces = pieces.iter().peekable();
            let mut sum = Cost::ZERO;
            for &(node, cost) in costs {
                while pieces.next_if(|&&(_, end)| end <= node.0).is_some() {}
                match pieces.peek() {
                    None => break,
                    Some(&&(start, _)) if start <= node.0 => sum += cost,
                    Some(_) => {}
                }
            }
            sum
        };
        self.costs.par_iter().map(sum).collect()
    }

    /// What each function cost in one run: the samples whose stack has it, each counted once.
    pub fn totals(&self, run: usize) -> Vec<Cost> {
        let mut totals = vec![Cost::ZERO; self.functions.len()];
        self.for_each_outermost(run, |function, cost| totals[function.get()] += cost);
        totals
    }

    /// What each function cost by itself in one run.
    pub fn self_costs(&self, run: usize) -> Vec<Cost> {
        let mut costs = vec![Cost::ZERO; self.functions.len()];
        self.for_each_self(run, |function, cost| costs[function.get()] += cost);
        costs
    }

    /// The parts of [`History::totals`]: what the outermost nodes of functions cost, with all below them.
    pub(crate) fn for_each_outermost(&self, run: usize, mut each: impl FnMut(FunctionIx, Cost)) {
        self.for_each_total(run, |node, cost| {
            if self.outermost[node.get()] {
                each(self.function(node), cost);
            }
        });
    }

    /// The parts of [`History::self_costs`]: what nodes cost by themselves.
    pub(crate) fn for_each_self(&self, run: usize, mut each: impl FnMut(FunctionIx, Cost)) {
        for &(node, cost) in &self.costs[run] {
            each(self.function(node), cost);
        }
    }

    /// The samples that [`History::totals`] has of some functions, by run and then by their order.
    pub fn samples_of(&self, functions: &[FunctionIx]) -> Vec<Vec<f64>> {
        let mut wanted = vec![None; self.functions.len()];
        for (place, function) in functions.iter().enumerate() {
            wanted[function.get()] = Some(place);
        }
        // The outermost nodes of these functions: which one it is of, and which one is above it. And by
        // node the one that it is, or is below, innermost.
        let mut outer: Vec<(usize, Option<u32>)> = Vec::new();
        let mut within: Vec<Option<u32>> = Vec::with_capacity(self.tree.len());
        for node in self.tree.nodes() {
            let above = self
                .tree
                .parent(node)
                .and_then(|parent| within[parent.get()]);
            let function = wanted[self.function(node).get()];
            within.push(match function.filter(|_| self.outermost[node.get()]) {
                None => above,
                Some(function) => {
                    outer.push((function, above));
                    Some(outer.len() as u32 - 1)
                }
            });
        }
        let of_run = |costs: &SelfCosts| {
            let mut below = vec![0u64; outer.len()];
            for (node, cost) in costs {
                if let Some(place) = within[node.get()] {
                    below[place as usize] += cost.samples;
                }
            }
            let mut samples = vec![0u64; functions.len()];
            for (place, &(function, above)) in outer.iter().enumerate().rev() {
                samples[function] += below[place];
                if let Some(above) = above {
                    below[above as usize] += below[place];
                }
            }
            samples.into_iter().map(|samples| samples as f64).collect()
        };
        self.costs.par_iter().map(of_run).collect()
    }

    /// What each node cost in one run with all below it: for each node that has a cost, behind those below
    /// it.
    pub(crate) fn for_each_total(&self, run: usize, each: impl FnMut(NodeIx, Cost)) {
        for_each_total(&self.tree, &self.costs[run], each);
    }
}

/// The place of the first cost, of those from a place on, whose node is this or a later one.
fn first_from(costs: &SelfCosts, from: usize, node: u32) -> usize {
    leap(costs, from, |(known, _)| known.0 < node)
}

/// The place of the first item, of those from a place on, of which this is not true: it is true of all before
/// it, and of none behind it. What lies close is found in few steps.
fn leap<T>(items: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let (mut start, mut leap) = (from, 1);
    while start + leap <= items.len() && is_before(&items[start + leap - 1]) {
        start += leap;
        leap *= 2;
    }
    let end = (start + leap).min(items.len());
    start + items[start..end].partition_point(is_before)
}

/// The samples before each node of a run, and after them those of all.
fn running_sums(costs: &SelfCosts) -> Vec<u64> {
    let mut sums = Vec::with_capacity(costs.len() + 1);
    let mut sum = 0u64;
    sums.push(sum);
    for (_, cost) in costs {
        sum = sum.saturating_add(cost.samples);
        sums.push(sum);
    }
    sums
}
