//! The most expensive functions.

use super::{CostShare, FrameInfo, Subject};
use crate::answer::Answer;
use crate::tree::{View, functions};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use sto_core::units::Cost;

/// By which cost functions are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Order {
    /// By their own cost.
    #[default]
    #[serde(rename = "self")]
    SelfCost,
    /// By their cost together with what they called.
    Total,
}

impl Order {
    /// As JSON names it.
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
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// The order of `functions`.
    pub order: Order,
    /// Whether code that was inlined counts for the function that it was compiled into.
    pub with_inlined: bool,
    /// The functions: most expensive first, equals by module and name.
    pub functions: Vec<TopFunction>,
    /// The functions that a limit left out.
    pub omitted: Omitted,
}

impl Answer for Top {
    const SCHEMA: &'static str = "sto.top/1";
}

/// What one function cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TopFunction {
    /// The frame that stands for the function.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Cost of the samples that ended in it.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Cost of the samples whose stack has it, however often.
    pub total: CostShare,
}

/// Functions that a limit left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Omitted {
    /// How many.
    pub functions: usize,
    /// What they cost by themselves, together.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
}

/// Lists the most expensive functions of a view in one sample type, at most `limit` of them.
pub fn top(view: &View, sample_type: usize, order: Order, limit: Option<usize>) -> Top {
    let mut functions = functions(view, sample_type);
    let whole: Cost = functions.iter().map(|function| function.self_cost).sum();
    // Stable: functions come in the order of module and name, and equals stay so.
    functions.sort_by_key(|function| {
        let (first, second) = match order {
            Order::SelfCost => (function.self_cost, function.total),
            Order::Total => (function.total, function.self_cost),
        };
        Reverse((first.value, first.samples, second.value, second.samples))
    });
    let (listed, omitted) = functions.split_at(limit.unwrap_or(usize::MAX).min(functions.len()));
    Top {
        subject: Subject::new(view, sample_type, whole),
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
