//! The most expensive functions.

use super::{CostShare, FrameInfo, Subject};
use crate::answer::Answer;
use crate::tree::{View, functions};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use sto_core::model::Frame;
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
    /// The functions after those that are listed.
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

/// The functions of [`Top`] that are listed; the default is all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listed<'a> {
    /// Only functions with this text in their symbol or module, regardless of case.
    pub search: Option<&'a str>,
    /// Number of functions to leave out at the beginning.
    pub offset: usize,
    /// Maximum number of functions.
    pub limit: Option<usize>,
}

/// Returns the most expensive functions of a view in one sample type.
pub fn top(view: &View, sample_type: usize, order: Order, listed: &Listed) -> Top {
    let mut functions = functions(view, sample_type);
    let whole: Cost = functions.iter().map(|function| function.self_cost).sum();
    if let Some(text) = listed.search {
        let text = text.to_lowercase();
        functions.retain(|function| {
            let Frame { symbol, module, .. } = view.frames.frame(function.frame);
            [symbol, module]
                .iter()
                .any(|name| name.to_lowercase().contains(&text))
        });
    }
    // The sort is stable: equals stay in the order of module and name.
    functions.sort_by_key(|function| {
        let (first, second) = match order {
            Order::SelfCost => (function.self_cost, function.total),
            Order::Total => (function.total, function.self_cost),
        };
        Reverse((first.value, first.samples, second.value, second.samples))
    });
    functions.drain(..listed.offset.min(functions.len()));
    let limit = listed.limit.unwrap_or(usize::MAX);
    let (listed, omitted) = functions.split_at(limit.min(functions.len()));
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
