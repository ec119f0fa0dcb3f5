//! Stacks as columns, for JSON.

use super::drawings::FlameStacks;
use crate::answer::Answer;
use crate::compare::{FunctionName, Stacks};
use crate::sources::EVENT;
use crate::tree::{FrameInfo, Subject, totals};
use serde::{Serialize, Serializer};

/// Stacks and their costs as columns, with a node for each stack, which is its last frame and the caller's stack.
/// Callers come before their callees.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "FlameStacks"))]
struct FlameColumns {
    /// The program, build and profiles.
    #[serde(flatten)]
    subject: Subject,
    /// The frames.
    frames: Vec<FrameInfo>,
    /// Index of each node's caller; `null` for the outermost frame of a stack.
    parent: Vec<Option<u32>>,
    /// Index in `frames` of each node's frame.
    frame: Vec<u32>,
    /// Cost of each stack by itself, in the sample type's unit.
    #[serde(rename = "self")]
    self_cost: Vec<u64>,
    /// Cost of each stack with all stacks below it.
    total: Vec<u64>,
}

impl From<&FlameStacks> for FlameColumns {
    fn from(flame: &FlameStacks) -> Self {
        let view = &flame.view;
        let mut self_costs = view.self_costs(EVENT);
        if let Some(focus) = &flame.focus {
            focus.keep_only(view, &mut self_costs);
        }
        if let Some(ignore) = &flame.ignore {
            ignore.exclude(view, &mut self_costs);
        }
        let tree = &view.tree;
        let totals = totals(tree, &self_costs);
        let parent = |node| tree.parent(node).map(|parent| parent.0);
        FlameColumns {
            subject: Subject::new(view, EVENT),
            frames: view.frames.iter().map(|(_, frame)| frame.into()).collect(),
            parent: tree.nodes().map(parent).collect(),
            frame: tree.nodes().map(|node| tree.frame(node).0).collect(),
            self_cost: self_costs.iter().map(|cost| cost.value).collect(),
            total: totals.iter().map(|cost| cost.value).collect(),
        }
    }
}

impl Serialize for FlameStacks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FlameColumns::from(self).serialize(serializer)
    }
}

impl Answer for FlameStacks {
    const SCHEMA: &'static str = "sto.flame-stacks/1";
}

/// The stacks of both sides as columns, with a node for each stack. Callers come before their callees.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "Stacks"))]
struct DifferenceColumns<'a> {
    /// The functions, in the order of symbol and module.
    functions: &'a [FunctionName],
    /// Index of each node's caller; `null` for the outermost function of a stack.
    parent: Vec<Option<u32>>,
    /// Index in `functions` of each node's function.
    function: Vec<u32>,
    /// Samples of each stack by itself, in all runs of the baseline.
    baseline_self: Vec<u64>,
    /// Samples of each stack with all stacks below it, in all runs of the baseline.
    baseline_total: Vec<u64>,
    /// Samples of each stack by itself, in all runs of the candidate.
    candidate_self: Vec<u64>,
    /// Samples of each stack with all stacks below it, in all runs of the candidate.
    candidate_total: Vec<u64>,
    /// Normalised cost of a sample of the baseline, as a multiple of the mean cost of a baseline run.
    baseline_cost: f64,
    /// Normalised cost of a sample of the candidate, in the same unit.
    candidate_cost: f64,
}

impl<'a> From<&'a Stacks> for DifferenceColumns<'a> {
    fn from(stacks: &'a Stacks) -> Self {
        let nodes = &stacks.nodes;
        let baseline_total: Vec<u64> = nodes.iter().map(|node| node.baseline_samples).collect();
        let candidate_total: Vec<u64> = nodes.iter().map(|node| node.candidate_samples).collect();
        let mut parent = Vec::with_capacity(nodes.len());
        let mut callers: Vec<u32> = Vec::new();
        for (node, ix) in nodes.iter().zip(0..) {
            callers.truncate(node.depth);
            parent.push(callers.last().copied());
            callers.push(ix);
        }
        DifferenceColumns {
            functions: &stacks.functions,
            function: nodes.iter().map(|node| node.function as u32).collect(),
            baseline_self: self_samples(&parent, &baseline_total),
            baseline_total,
            candidate_self: self_samples(&parent, &candidate_total),
            candidate_total,
            parent,
            baseline_cost: stacks.baseline_cost,
            candidate_cost: stacks.candidate_cost,
        }
    }
}

/// Subtracts the totals of callees.
fn self_samples(parent: &[Option<u32>], totals: &[u64]) -> Vec<u64> {
    let mut own = totals.to_vec();
    for (parent, total) in parent.iter().zip(totals) {
        if let Some(parent) = *parent {
            own[parent as usize] -= total;
        }
    }
    own
}

impl Serialize for Stacks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DifferenceColumns::from(self).serialize(serializer)
    }
}

/// Gives a type the JSON schema of the columns that it is serialized as.
macro_rules! schema_of_columns {
    ($($stacks:ty: $columns:ty),*) => {$(
        #[cfg(feature = "schemas")]
        impl schemars::JsonSchema for $stacks {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$columns>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$columns>::json_schema(generator)
            }
        }
    )*};
}

schema_of_columns!(FlameStacks: FlameColumns, Stacks: DifferenceColumns<'_>);
