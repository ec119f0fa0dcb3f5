//! Results of modelling.

use crate::answer::Answer;
use crate::tree::Order;
use serde::Serialize;
use sto_core::units::SampleType;
use sto_stats::models::{Certainty, Model, ModelKind, Why};

/// Model of the cost of one function, or of a table, as a function of x.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostModel {
    /// The costs that were modelled, and their x.
    #[serde(flatten)]
    pub of: Modelled,
    /// Points and models of the function.
    #[serde(flatten)]
    pub function: FunctionModels,
}

impl Answer for CostModel {
    const SCHEMA: &'static str = "sto.model/1";
}

/// Models of the cost of several functions, or of the groups of a table, as functions of x.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostModels {
    /// The costs that were modelled, and their x.
    #[serde(flatten)]
    pub of: Modelled,
    /// The functions, highest cost at the largest x first, equal ones by name and module.
    pub functions: Vec<FunctionModels>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

impl Answer for CostModels {
    const SCHEMA: &'static str = "sto.models/1";
}

impl CostModels {
    /// Converts models of exactly one function.
    ///
    /// # Errors
    ///
    /// Returns the models themselves if they do not have exactly one function.
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

/// The costs that were modelled, and their x.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Modelled {
    /// The program; `None` for a table.
    pub executable: Option<String>,
    /// The build's version, or the file name of a table that is compared; `None` for another table.
    pub build: Option<String>,
    /// The name of x: a metric of runs, a label of runs or samples, `time`, an argument of calls, their `order`, or a
    /// column.
    pub x: String,
    /// The sample type; `None` for a table.
    pub sample_type: Option<SampleType>,
    /// Cost of functions that is y.
    pub cost: Option<Order>,
    /// Whether each point is a call, or several that were stored together, and y their duration; otherwise a point is
    /// a run or a part of one.
    pub of_calls: bool,
    /// Number of runs that have x; for a table, of its rows.
    pub runs: usize,
    /// Number of runs that do not have x and were left out.
    pub without_x: usize,
}

impl Modelled {
    /// The build, as `EXE@BUILD`, or the file name of a table.
    pub(crate) fn name(&self) -> String {
        let build = self.build.as_deref().unwrap_or_default();
        match &self.executable {
            Some(program) => format!("{program}@{build}"),
            None => build.to_owned(),
        }
    }
}

/// The points of a function, and the models fitted to them.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionModels {
    /// The function, or the group of a table; empty if the table has no groups.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// The points, sorted by x, then y.
    pub points: Vec<Point>,
    /// The models, best first: the simplest of those whose AICc is within 2 of the lowest, then the others by AICc. If
    /// several kinds were requested, the best model of each, in that order.
    pub models: Vec<Model>,
    /// Kinds that were not fitted, with the reasons.
    pub left_out: Vec<(ModelKind, Why)>,
    /// The power of the fitted value that the standard deviation of y is proportional to, by which points were
    /// weighted; `null` if it was not estimated.
    pub spread: Option<f64>,
    /// Certainty that the first model wins, and of the exponent of x; `null` if there are too few or too many runs,
    /// or if they do not vary.
    pub certainty: Option<Certainty>,
}

/// The x of a run, and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Point {
    /// The value of x.
    pub x: f64,
    /// Cost in the unit of the sample type, or in samples if it has no values.
    pub y: f64,
}
