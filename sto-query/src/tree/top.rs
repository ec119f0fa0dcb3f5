//! The most expensive functions.

use super::{CostShare, FrameInfo, Subject};
use crate::answer::Answer;
use crate::tree::{View, functions};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use sto_core::units::Cost;

/// The cost by which functions are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Order {
    /// Self cost.
    #[default]
    #[serde(rename = "self")]
    SelfCost,
    /// Cost including callees.
    Total,
}

impl Order {
    /// Returns the name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Order::SelfCost => "self",
            Order::Total => "total",
        }
    }
}

/// The most expensive functions of a selection.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Top {
    /// The program, build and profiles.
    #[serde(flatten)]
    pub subject: Subject,
    /// The order of `functions`.
    pub order: Order,
    /// Whether inlined code counts for the function that it was compiled into.
    pub with_inlined: bool,
    /// The functions by descending cost, then by module and name.
    pub functions: Vec<TopFunction>,
    /// The functions beyond the limit.
    pub omitted: Omitted,
}

impl Answer for Top {
    const SCHEMA: &'static str = "sto.top/1";
}

/// The cost of a function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TopFunction {
    /// A representative frame of the function.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Cost of the samples that ended in the function.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Cost of the samples whose stack contains the function, however often.
    pub total: CostShare,
}

/// Functions beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Omitted {
    /// Number of functions.
    pub functions: usize,
    /// Sum of their self costs.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
}

/// Returns the most expensive functions of a view in one sample type, at most `limit` of them.
pub fn top(view: &View, sample_type: usize, order: Order, limit: Option<usize>) -> Top {
    let mut functions = functions(view, sample_type);
    let whole: Cost = functions.iter().map(|function| function.self_cost).sum();
    // The sort is stable: equals stay in the order of module and name.
    functions.sort_by_key(|function| {
        let (first, second) = match order {
            Order::SelfCost => (function.self_cost, function.total),
            Order::Total => (function.total, function.self_cost),
        };
        Reverse((first.value, first.samples, second.value, second.samples))
    });
    let (listed, omitted) = functions.split_at(limit.unwrap_or(usize::MAX).min(functions.len()));
    Top {
        subject: Subject::with_whole(view, sample_type, whole),
        order,
        with_inlined: view.is_without_inlined(),
        functions: listed
            .iter()
            .map(|function| TopFunction {
                frame: view.frames.frame(function.frame).into(),
                self_cost: CostShare::new(function.self_cost, whole),
                total: CostShare::new(function.total, whole),
            })
            .collect(),
        omitted: Omitted {
            functions: omitted.len(),
            self_cost: CostShare::new(omitted.iter().map(|f| f.self_cost).sum(), whole),
        },
    }
}
