//! Model of the cost of a function over two numbers.

use super::costs::x_of_run;
use super::{Costs, ModelError, one};
use crate::answer::Answer;
use crate::tree::{Order, View};
use serde::Serialize;
use std::cmp::Ordering;
use sto_core::units::SampleType;
use sto_stats::models::{Surface, Why, normal_form_of_two};

/// Model of the cost of a function over two numbers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelOfTwo {
    /// The program.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// Names of the two numbers, which are metrics or labels of runs.
    pub x: [String; 2],
    /// The sample type.
    pub sample_type: Option<SampleType>,
    /// Cost of the function that is y.
    pub cost: Order,
    /// Number of runs that have both numbers.
    pub runs: usize,
    /// Number of runs without both, which were left out.
    pub without_x: usize,
    /// The function.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// The points, sorted by x, then y.
    pub points: Vec<PointOfTwo>,
    /// The normal form; `null` if it cannot be fitted.
    pub model: Option<Surface>,
    /// Reason why it cannot be fitted.
    pub left_out: Option<Why>,
}

impl Answer for ModelOfTwo {
    const SCHEMA: &'static str = "sto.model-of-two/1";
}

/// The numbers of a run, and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PointOfTwo {
    /// Values of the two numbers.
    pub x: [f64; 2],
    /// Cost in the unit of the sample type, or in samples if it has no values.
    pub y: f64,
}

/// Models the cost of a function of a view by the normal form of two variables.
///
/// # Errors
///
/// Returns an error if no run has both numbers, or if the name does not denote exactly one function.
pub(crate) fn model_two_variables(
    view: &View,
    sample_type: usize,
    (x, cost): ([&str; 2], Order),
    function: &str,
) -> Result<ModelOfTwo, ModelError> {
    let build = &view.selection.build;
    let mut with_both = view.clone();
    let runs = view.selection.profiles.iter().zip(&view.runs);
    let runs = runs.filter(|(stored, _)| x.iter().all(|x| x_of_run(&stored.profile, x).is_some()));
    (with_both.selection.profiles, with_both.runs) = runs
        .map(|(stored, costs)| (stored.clone(), costs.clone()))
        .unzip();
    with_both.windows = Vec::new();
    // If no run has both, all runs are used so that the error names the missing number.
    let of = |x: &str| {
        if with_both.runs.is_empty() {
            Costs::from_runs(view, sample_type, (x, cost), &build.executable)
        } else {
            Costs::from_runs(&with_both, sample_type, (x, cost), &build.executable)
        }
    };
    let [mut costs, others] = [of(x[0])?, of(x[1])?];
    if with_both.runs.is_empty() {
        return Err(ModelError::NoBoth {
            build: costs.of.name(),
            x: x.map(str::to_owned),
        });
    }
    let chosen = one(&costs, function)?;
    let first = costs.functions.swap_remove(chosen);
    let other = &others.functions[chosen].points;
    let points = first.points.iter().zip(other);
    let points = points.map(|(&(a, y), &(b, _))| ([a, b], y));
    let mut points: Vec<([f64; 2], f64)> = points.collect();
    let order = |(x, y): &([f64; 2], f64)| (x[0], x[1], *y);
    points.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal));
    let (model, left_out) = match normal_form_of_two(&points) {
        Ok(model) => (Some(model), None),
        Err(why) => (None, Some(why)),
    };
    Ok(ModelOfTwo {
        executable: build.executable.clone(),
        build: build.version.clone(),
        x: x.map(str::to_owned),
        sample_type: costs.of.sample_type,
        cost,
        runs: costs.of.runs,
        without_x: view.runs.len() - with_both.runs.len(),
        function: first.function,
        module: first.module,
        points: points.iter().map(|&(x, y)| PointOfTwo { x, y }).collect(),
        model,
        left_out,
    })
}
