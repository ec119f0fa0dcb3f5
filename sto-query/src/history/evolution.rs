//! The call tree of a program over its builds.

use super::{History, HistorySubject};
use crate::answer::Answer;
use crate::tree::{
    Cut, FrameInfo, Link, NO_OWN_COST, Prune, Row, fold_tree, merge_siblings,
    order_siblings_by_total, remove_inlined, totals,
};
use serde::Serialize;
use sto_core::model::FrameIx;
use sto_core::tree::StackTree;
use sto_core::units::Cost;

/// The call tree of a program over its builds.
///
/// Costs are means of a build's runs, in the unit of the sample type.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Evolution {
    /// The runs.
    #[serde(flatten)]
    pub history: HistorySubject,
    /// The builds, oldest first.
    pub builds: Vec<BuildCost>,
    /// Share that a stack has in one build at least.
    pub min_share: f64,
    /// Number of levels that were kept.
    pub max_depth: usize,
    /// The stacks: callers before their callees, siblings by descending cost in the last build.
    pub stacks: Vec<EvolvedStack>,
    /// Number of stacks that were cut.
    pub cut: usize,
}

impl Answer for Evolution {
    const SCHEMA: &'static str = "sto.evolve/1";
}

/// A build, and the mean cost of its runs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BuildCost {
    /// The build's version.
    pub build: String,
    /// Number of its runs.
    pub runs: usize,
    /// Mean cost of a run.
    pub cost: f64,
}

/// A stack in all builds.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EvolvedStack {
    /// Index of its caller in `stacks`.
    pub parent: Option<usize>,
    /// Number of its callers.
    pub depth: usize,
    /// Its last frame.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Mean total cost in a run of each build.
    pub costs: Vec<f64>,
    /// Whether text and pages show it together with other stacks; omitted in JSON if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
}

/// Returns the call tree of a history's builds, without stacks that are below `min_share` in each
/// build. Stacks of the same functions are one, and inlined code counts with the function that it
/// was inlined into, as compilers may inline it in one build only.
pub(crate) fn evolution(history: &History, options: &Prune) -> Evolution {
    let (outer, moved_to) = remove_inlined(&history.tree, &history.frames);
    let (tree, merged_into) = merge_siblings(&outer, &one_frame_per_function(history));
    let runs: Vec<usize> = (0..history.runs.len()).collect();
    let is_same_build = |a: &usize, b: &usize| history.runs[*a].build == history.runs[*b].build;
    let runs_of: Vec<&[usize]> = runs.chunk_by(is_same_build).collect();
    let totals_of = |runs: &[usize]| {
        let mut costs = vec![Cost::ZERO; tree.len()];
        for &(node, cost) in runs.iter().flat_map(|&run| &history.costs[run]) {
            costs[merged_into[moved_to[node.get()].get()].get()] += cost;
        }
        totals(&tree, &costs)
    };
    let whole_of = |runs: &[usize]| runs.iter().map(|&run| history.runs[run].whole.value).sum();
    let mut max_share = vec![0.0_f64; tree.len()];
    for runs in &runs_of {
        let whole: u64 = whole_of(runs);
        for (share, total) in max_share.iter_mut().zip(totals_of(runs)) {
            *share = share.max(total.value as f64 / whole.max(1) as f64);
        }
    }
    let (kept, cut) = keep(&tree, &max_share, options);
    let last = runs_of.last().copied().unwrap_or_default();
    let rows = order_siblings_by_total(&kept, &totals_of(last));
    let mut stacks: Vec<EvolvedStack> = rows
        .iter()
        .map(|row| EvolvedStack {
            parent: row.parent,
            depth: row.depth,
            frame: history.frames.frame(tree.frame(row.node)).into(),
            costs: Vec::with_capacity(runs_of.len()),
            folded: false,
        })
        .collect();
    let mut builds = Vec::with_capacity(runs_of.len());
    for runs in &runs_of {
        let mean = |value: u64| value as f64 / runs.len() as f64;
        let totals = totals_of(runs);
        for (stack, row) in stacks.iter_mut().zip(&rows) {
            stack.costs.push(mean(totals[row.node.get()].value));
        }
        builds.push(BuildCost {
            build: history.runs[runs[0]].build.version.clone(),
            runs: runs.len(),
            cost: mean(whole_of(runs)),
        });
    }
    fold(&mut stacks, &builds);
    Evolution {
        history: history.into(),
        builds,
        min_share: options.min_share,
        max_depth: options.max_depth,
        stacks,
        cut,
    }
}

/// Returns for each frame the one that stands for all frames of its function.
fn one_frame_per_function(history: &History) -> Vec<FrameIx> {
    let mut of_function = vec![None; history.functions.len()];
    let mut frame_of: Vec<FrameIx> = history.frames.iter().map(|(frame, _)| frame).collect();
    for node in history.tree.nodes() {
        let frame = history.tree.frame(node);
        let function = history.function(node).get();
        frame_of[frame.get()] = *of_function[function].get_or_insert(frame);
    }
    frame_of
}

/// Returns the stacks that are not cut, in preorder, and the number of those that are.
fn keep(tree: &StackTree, max_share: &[f64], options: &Prune) -> (Vec<Row>, usize) {
    let mut kept: Vec<Row> = Vec::new();
    let mut row_of: Vec<Option<usize>> = Vec::with_capacity(tree.len());
    let mut cut = 0;
    for node in tree.nodes() {
        let share = max_share[node.get()];
        let caller = tree.parent(node).map(|caller| row_of[caller.get()]);
        let depth = match caller {
            None => 0,
            Some(Some(row)) => kept[row].depth + 1,
            Some(None) => usize::MAX,
        };
        let is_kept = share > 0.0 && share >= options.min_share && depth < options.max_depth;
        cut += usize::from(!is_kept && share > 0.0);
        row_of.push(is_kept.then_some(kept.len()));
        if is_kept {
            kept.push(Row {
                node,
                parent: caller.flatten(),
                depth,
                cut: Cut::default(),
            });
        }
    }
    (kept, cut)
}

/// Marks stacks that samples of all builds only pass through.
fn fold(stacks: &mut [EvolvedStack], builds: &[BuildCost]) {
    let mut own: Vec<Vec<f64>> = stacks.iter().map(|stack| stack.costs.clone()).collect();
    for stack in &*stacks {
        if let Some(parent) = stack.parent {
            own[parent]
                .iter_mut()
                .zip(&stack.costs)
                .for_each(|(own, cost)| *own -= cost);
        }
    }
    let is_passed_through = |ix: usize| {
        let mut own = own[ix].iter().zip(builds);
        own.all(|(own, build)| *own <= build.cost * NO_OWN_COST)
    };
    let link = |ix: usize| stacks[ix].link(is_passed_through(ix));
    for ix in fold_tree(stacks.iter().map(|stack| stack.depth), link) {
        stacks[ix].folded = true;
    }
}

impl EvolvedStack {
    /// Returns the stack's last frame as a link of a chain of calls.
    pub(crate) fn link(&self, is_passed_through: bool) -> Link<'_> {
        Link {
            symbol: &self.frame.function,
            module: &self.frame.module,
            is_passed_through,
        }
    }

    /// Returns the costs in the first and in the last build.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let end = |cost: Option<&f64>| cost.copied().unwrap_or_default();
        (end(self.costs.first()), end(self.costs.last()))
    }
}
