//! How cost goes with what runs were given.

use super::stacks::CalibrateRequest;
use crate::QueryError;
use crate::compare::{self, CalibrateOptions, CurveCalibration};
use crate::models::{
    self, Asked, CompareModelsOptions, CostModel, CostModels, Costs, ModelChanges, ModelError,
    ModelOfTwo,
};
use crate::sources::{EVENT, Filter, Named, Sources, slices_for};
use crate::tree::Order;
use serde::{Deserialize, Serialize};
use sto_stats::models::Fit;

/// How the cost of functions goes with x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The runs.
    pub named: Named,
    /// Which of them, and by which event.
    pub filter: Filter,
    /// What x is: a metric of the runs, or a label of them that is a number; else a number that samples are labelled with,
    /// or `time`, of which each part of a run is a point; else an argument of calls, or their `order`, of which each call is
    /// a point.
    pub x: String,
    /// Which cost of functions is y.
    pub cost: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// How curves are made of points.
    pub fit: Fit,
    /// The most functions to list, where all are asked for.
    pub limit: Option<usize>,
}

impl Default for ModelRequest {
    fn default() -> Self {
        ModelRequest {
            named: Named::default(),
            filter: Filter::default(),
            x: String::new(),
            cost: Order::Total,
            inlined: false,
            fit: Fit::default(),
            limit: None,
        }
    }
}

/// Models the cost of one function: its name, a part of it, or `re:` and a regular expression that one alone fits.
///
/// # Errors
/// As [`Sources::view`], where no run has x, or not one function has the name.
pub fn model(
    sources: &Sources,
    request: &ModelRequest,
    function: &str,
) -> Result<CostModel, QueryError> {
    let costs = request.costs(sources)?;
    Ok(models::of_function(costs, &request.fit, function)?)
}

/// Models the cost of every function.
///
/// # Errors
/// As [`Sources::view`], and where no run has x.
pub fn models(sources: &Sources, request: &ModelRequest) -> Result<CostModels, QueryError> {
    let costs = request.costs(sources)?;
    Ok(models::of_functions(costs, &request.fit, request.limit)?)
}

/// Models the cost of one function, named as in [`model()`], by the request's x and another number that its runs have.
///
/// # Errors
/// As [`Sources::view`], where no run has both, or not one function has the name.
pub fn model_of_two(
    sources: &Sources,
    request: &ModelRequest,
    other: &str,
    function: &str,
) -> Result<ModelOfTwo, QueryError> {
    let (view, _) = sources.runs_and_store(&request.named, &request.filter, None)?;
    let view = match request.inlined {
        true => view,
        false => view.without_inlined(),
    };
    let asked = ([&*request.x, other], request.cost);
    Ok(models::of_two(&view, EVENT, asked, function)?)
}

/// Models what a table has: CSV with columns `x`, `y` and maybe `group`.
///
/// # Errors
/// Where it is no such table.
pub fn model_table(table: &str, fit: &Fit) -> Result<CostModels, ModelError> {
    models::of_table(table, fit)
}

/// How the cost of functions goes otherwise with x in a candidate than in a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CompareModelsRequest {
    /// The baseline and the candidate.
    pub named: [Named; 2],
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// What x is, as of [`ModelRequest::x`].
    pub x: String,
    /// Which cost of functions is y.
    pub cost: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// The function, or those that a regular expression after `re:` fits; without it, all.
    pub function: Option<String>,
    /// What counts as a change.
    pub options: CompareModelsOptions,
    /// The most functions to list.
    pub limit: Option<usize>,
}

impl Default for CompareModelsRequest {
    fn default() -> Self {
        CompareModelsRequest {
            named: Default::default(),
            filter: Filter::default(),
            x: String::new(),
            cost: Order::Total,
            inlined: false,
            function: None,
            options: CompareModelsOptions::default(),
            limit: None,
        }
    }
}

/// Compares how the cost of functions goes with x in two builds.
///
/// # Errors
/// As [`Sources::view`], where a side has no run with x, or no function has the name.
pub fn compare_models(
    sources: &Sources,
    request: &CompareModelsRequest,
) -> Result<ModelChanges, QueryError> {
    let asked = Asked {
        x: &request.x,
        cost: request.cost,
        inlined: request.inlined,
    };
    let [baseline, candidate] = &request.named;
    let slices = slices_for(&request.x);
    let views = sources.pair_and_stores([baseline, candidate], &request.filter, None, slices)?;
    let views = views.each_ref().map(|(view, store)| (view, store));
    Ok(models::compare_models(
        asked.of_both(views, [EVENT; 2])?,
        request.function.as_deref(),
        &request.options,
        request.limit,
    )?)
}

/// Says how often curves of equal builds would be a degradation: of [`CalibrateRequest`]'s build, by a metric of its runs.
///
/// # Errors
/// As [`Sources::view`], and where no run has x.
pub fn calibrate_curves(
    sources: &Sources,
    request: &CalibrateRequest,
    x: &str,
) -> Result<CurveCalibration, QueryError> {
    let (view, _) = sources.runs_and_store(&request.named, &request.filter, None)?;
    let view = view.without_inlined();
    let program = view.selection.build.executable.clone();
    let costs = Costs::of_runs(&view, EVENT, (x, Order::Total), &program)?;
    let usual = CalibrateOptions::default();
    let thresholds = request.thresholds.over(usual.compare);
    let options = CompareModelsOptions {
        alpha: thresholds.alpha,
        min_effect: thresholds.min_effect,
        min_share: thresholds.min_share,
        ..CompareModelsOptions::default()
    };
    let times = request.splits.unwrap_or(usual.splits);
    Ok(compare::calibrate_curves(&costs, &options, times)?)
}

impl ModelRequest {
    fn costs(&self, sources: &Sources) -> Result<Costs, QueryError> {
        let asked = Asked {
            x: &self.x,
            cost: self.cost,
            inlined: self.inlined,
        };
        let slices = slices_for(&self.x);
        let (view, store) = sources.runs_and_store(&self.named, &self.filter, slices)?;
        Ok(asked.of_one(&view, &store, EVENT)?)
    }
}
