//! Stacks as columns, for JSON and for programs that draw them.

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
#[non_exhaustive]
pub struct FlameColumns {
    /// The program, build and profiles.
    #[serde(flatten)]
    pub subject: Subject,
    /// The frames.
    pub frames: Vec<FrameInfo>,
    /// Index of each node's caller; `null` for the outermost frame of a stack.
    pub parent: Vec<Option<u32>>,
    /// Index in `frames` of each node's frame.
    pub frame: Vec<u32>,
    /// Cost of each stack by itself, in the sample type's unit.
    #[serde(rename = "self")]
    pub self_cost: Vec<u64>,
    /// Cost of each stack with all stacks below it.
    pub total: Vec<u64>,
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
#[non_exhaustive]
pub struct DifferenceColumns<'a> {
    /// The functions, in the order of symbol and module.
    pub functions: &'a [FunctionName],
    /// Index of each node's caller; `null` for the outermost function of a stack.
    pub parent: Vec<Option<u32>>,
    /// Index in `functions` of each node's function.
    pub function: Vec<u32>,
    /// Samples of each stack by itself, in all runs of the baseline.
    pub baseline_self: Vec<u64>,
    /// Samples of each stack with all stacks below it, in all runs of the baseline.
    pub baseline_total: Vec<u64>,
    /// Samples of each stack by itself, in all runs of the candidate.
    pub candidate_self: Vec<u64>,
    /// Samples of each stack with all stacks below it, in all runs of the candidate.
    pub candidate_total: Vec<u64>,
    /// Normalised cost of a sample of the baseline, as a multiple of the mean cost of a baseline run.
    pub baseline_cost: f64,
    /// Normalised cost of a sample of the candidate, in the same unit.
    pub candidate_cost: f64,
}

impl<'a> From<&'a Stacks> for DifferenceColumns<'a> {
    fn from(stacks: &'a Stacks) -> Self {
        let nodes = &stacks.nodes;
        let parent = stacks.parents();
        let own = stacks.self_samples(&parent);
        DifferenceColumns {
            functions: &stacks.functions,
            function: nodes.iter().map(|node| node.function as u32).collect(),
            baseline_self: own.iter().map(|own| own[0]).collect(),
            baseline_total: nodes.iter().map(|node| node.baseline_samples).collect(),
            candidate_self: own.iter().map(|own| own[1]).collect(),
            candidate_total: nodes.iter().map(|node| node.candidate_samples).collect(),
            parent,
            baseline_cost: stacks.baseline_cost,
            candidate_cost: stacks.candidate_cost,
        }
    }
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
