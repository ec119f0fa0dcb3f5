//! How cost goes with what runs were given, as plain data.

use crate::answer::Answer;
use crate::tree::Order;
use serde::Serialize;
use sto_core::units::SampleType;
use sto_stats::models::{Certainty, Model, ModelKind, Why};

/// How the cost of one function, or what a table has, goes with x.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostModel {
    /// What was modelled.
    #[serde(flatten)]
    pub of: Modelled,
    /// Its points and models.
    #[serde(flatten)]
    pub function: FunctionModels,
}

impl Answer for CostModel {
    const SCHEMA: &'static str = "sto.model/1";
}

/// How the cost of several functions, or groups of a table, goes with x.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostModels {
    /// What was modelled.
    #[serde(flatten)]
    pub of: Modelled,
    /// The functions: those that cost most at the largest x first, equals by name and module.
    pub functions: Vec<FunctionModels>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

impl Answer for CostModels {
    const SCHEMA: &'static str = "sto.models/1";
}

impl CostModels {
    /// The only function.
    ///
    /// # Errors
    /// These models, where they are of several functions or none.
    pub fn into_one(mut self) -> Result<CostModel, Box<CostModels>> {
        match (self.functions.pop(), self.functions.is_empty()) {
            (Some(function), true) => Ok(CostModel {
                of: self.of,
                function,
            }),
            (function, _) => {
                self.functions.extend(function);
                Err(Box::new(self))
            }
        }
    }
}

/// What was modelled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Modelled {
    /// The program; `None` for a table.
    pub executable: Option<String>,
    /// The build's version; `None` for a table.
    pub build: Option<String>,
    /// What x is: a metric of runs, a label of them or of samples, `time`, an argument of calls, their `order`, or a column.
    pub x: String,
    /// What was measured; `None` for a table.
    pub sample_type: Option<SampleType>,
    /// Which cost of functions is y.
    pub cost: Option<Order>,
    /// Whether a point is a call, or several that are kept as one, and y what each took; else a point is a run, or a part of
    /// one.
    pub of_calls: bool,
    /// Number of runs that have x; of a table, of its rows.
    pub runs: usize,
    /// Number of runs that have none, and were left out.
    pub without_x: usize,
}

impl Modelled {
    /// The build, as `EXE@BUILD`.
    pub(super) fn name(&self) -> String {
        let [program, build] = [&self.executable, &self.build];
        let [program, build] = [program, build].map(|name| name.as_deref().unwrap_or_default());
        format!("{program}@{build}")
    }
}

/// The points of a function, and what was fitted to them.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionModels {
    /// The function, or the group of a table; empty where the table has none.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// The points, in the order of x, then y.
    pub points: Vec<Point>,
    /// The models, best first: of those whose AICc is within 2 of the least the simplest, then by AICc.
    pub models: Vec<Model>,
    /// Kinds that were not fitted, and why.
    pub left_out: Vec<(ModelKind, Why)>,
    /// The power of the fitted value that the standard deviation of y goes with, by which points were weighed; `null`
    /// where it was not estimated.
    pub spread: Option<f64>,
    /// How sure it is that the first model wins, and which power of x fits best; `null` where runs are too few or too
    /// many to tell, or do not vary.
    pub certainty: Option<Certainty>,
}

/// What a run was given, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Point {
    /// What the run was given.
    pub x: f64,
    /// What it cost, in the unit of the sample type; in samples where these have no value.
    pub y: f64,
}
