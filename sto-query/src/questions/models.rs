//! Models of cost by input size.

use super::stacks::CalibrateRequest;
use crate::QueryError;
use crate::compare::{self, CalibrateOptions, CurveCalibration};
use crate::models::{
    self, CompareModelsOptions, CostModel, CostModels, Costs, ModelChanges, ModelError, ModelOfTwo,
    ModelVariables,
};
use crate::sources::{BuildRef, EVENT, Filter, Sources, slice_count_for};
use crate::tree::Order;
use serde::{Deserialize, Serialize};
use sto_stats::models::{Bins, Fit};

/// Request for models of the costs of functions by x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The runs.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of the runs, and the event.
    pub filter: Filter,
    /// The meaning of x.
    ///
    /// The first of these that exists: a metric or numeric label of the runs; a numeric label of
    /// samples, or `time`, where each part of a run is a point; an argument of calls, or their
    /// `order`, where each call is a point.
    pub x: String,
    /// The cost of functions that is y.
    pub cost: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// How curves are fitted to points.
    pub fit: Fit,
    /// Bins of x that are applied to the points first.
    pub bins: Option<Bins>,
    /// Maximum number of functions, if all are requested.
    pub limit: Option<usize>,
}

impl Default for ModelRequest {
    fn default() -> Self {
        ModelRequest {
            named: BuildRef::default(),
            filter: Filter::default(),
            x: String::new(),
            cost: Order::Total,
            inlined: false,
            fit: Fit::default(),
            bins: None,
            limit: None,
        }
    }
}

/// Request for a model of the cost of one function by x.
///
/// It is an error if no run has x, or not exactly one function has the name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FunctionModelRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression that matches one function.
    pub function: String,
    /// The runs, x, and the fit.
    #[serde(flatten)]
    pub model: ModelRequest,
}

pub(super) fn model_function(
    sources: &Sources,
    request: &FunctionModelRequest,
) -> Result<CostModel, QueryError> {
    let FunctionModelRequest { function, model } = request;
    let costs = model.costs(sources)?;
    Ok(models::model_function(costs, &model.fit, function)?)
}

pub(super) fn models(sources: &Sources, request: &ModelRequest) -> Result<CostModels, QueryError> {
    let costs = request.costs(sources)?;
    Ok(models::model_functions(costs, &request.fit, request.limit)?)
}

/// Request for a model of the cost of one function by two numbers of the runs.
///
/// It is an error if no run has both numbers, or not exactly one function has the name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TwoNumberModelRequest {
    /// The function, see [`FunctionModelRequest::function`].
    pub function: String,
    /// The second number: a metric or label.
    pub other: String,
    /// The runs, and the first number x. Its fit and bins are not used.
    #[serde(flatten)]
    pub model: ModelRequest,
}

pub(super) fn model_of_two(
    sources: &Sources,
    request: &TwoNumberModelRequest,
) -> Result<ModelOfTwo, QueryError> {
    let TwoNumberModelRequest {
        function,
        other,
        model,
    } = request;
    let (view, _) = sources.runs_and_store(&model.named, &model.filter, None)?;
    let view = if model.inlined {
        view
    } else {
        view.without_inlined()
    };
    let asked = ([&*model.x, other], model.cost);
    Ok(models::model_two_variables(&view, EVENT, asked, function)?)
}

/// Models the points of a table: CSV with the columns `x`, `y` and optionally `group`. Only the
/// request's fit and bins are used.
///
/// # Errors
///
/// Returns an error if the table is invalid.
pub fn model_table(table: &str, request: &ModelRequest) -> Result<CostModels, ModelError> {
    let costs = Costs::from_table(table)?.with_bins(request.bins);
    models::model_groups(costs, &request.fit)
}

/// Request for functions whose growth of cost with x differs between a baseline and a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareModelsRequest {
    /// The baseline and the candidate.
    pub named: [BuildRef; 2],
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// The meaning of x, see [`ModelRequest::x`].
    pub x: String,
    /// The cost of functions that is y.
    pub cost: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// A function, or `re:` and a regular expression; all functions if `None`.
    pub function: Option<String>,
    /// Rules for what counts as a change.
    pub options: CompareModelsOptions,
    /// Maximum number of functions.
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

pub(super) fn compare_models(
    sources: &Sources,
    request: &CompareModelsRequest,
) -> Result<ModelChanges, QueryError> {
    let asked = ModelVariables {
        x: &request.x,
        cost: request.cost,
        inlined: request.inlined,
    };
    let [baseline, candidate] = &request.named;
    let slices = slice_count_for(&request.x);
    let views = sources.pair_and_stores([baseline, candidate], &request.filter, None, slices)?;
    let views = views.each_ref().map(|(view, store)| (view, store));
    Ok(models::compare_models(
        asked.load_both_costs(views, [EVENT; 2])?,
        request.function.as_deref(),
        &request.options,
        request.limit,
    )?)
}

/// A table of points, read for a comparison.
#[derive(Debug)]
pub struct PointsTable(Costs);

impl PointsTable {
    /// Reads CSV with the columns `x`, `y` and optionally `group`, from a file of this name.
    ///
    /// # Errors
    ///
    /// Returns an error if the table is invalid.
    pub fn read(name: &str, table: &str) -> Result<PointsTable, ModelError> {
        Ok(PointsTable(Costs::from_table(table)?.with_file_name(name)))
    }
}

/// Compares how y grows with x in two tables of points, for each group. Only the request's
/// function, which is a group, its options and its limit are used.
///
/// # Errors
///
/// Returns an error if no group has the name, or if nothing can be fitted.
pub fn compare_tables(
    tables: [PointsTable; 2],
    request: &CompareModelsRequest,
) -> Result<ModelChanges, QueryError> {
    let costs = tables.map(|table| table.0);
    let function = request.function.as_deref();
    Ok(models::compare_models(
        costs,
        function,
        &request.options,
        request.limit,
    )?)
}

/// Request for how often cost curves of equal builds are reported as a degradation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CalibrateCurvesRequest {
    /// A metric of the runs.
    pub x: String,
    /// The runs, thresholds, and number of comparisons. Its number of runs and its matching are not used.
    #[serde(flatten)]
    pub calibrate: CalibrateRequest,
}

pub(super) fn calibrate_curves(
    sources: &Sources,
    request: &CalibrateCurvesRequest,
) -> Result<CurveCalibration, QueryError> {
    let CalibrateCurvesRequest {
        x,
        calibrate: request,
    } = request;
    let (view, _) = sources.runs_and_store(&request.named, &request.filter, None)?;
    let view = view.without_inlined();
    let program = view.selection.build.executable.clone();
    let costs = Costs::from_runs(&view, EVENT, (x, Order::Total), &program)?;
    let usual = CalibrateOptions::default();
    let thresholds = request.thresholds.override_options(usual.compare);
    let options = CompareModelsOptions {
        alpha: thresholds.alpha,
        min_effect: thresholds.min_effect,
        min_share: thresholds.min_share,
        ..CompareModelsOptions::default()
    };
    let times = request.splits.unwrap_or(usual.splits);
    Ok(compare::calibrate_curves(
        &costs,
        &options,
        times,
        &sources.context().cancel,
    )?)
}

impl ModelRequest {
    fn costs(&self, sources: &Sources) -> Result<Costs, QueryError> {
        let asked = ModelVariables {
            x: &self.x,
            cost: self.cost,
            inlined: self.inlined,
        };
        let slices = slice_count_for(&self.x);
        let (view, store) = sources.runs_and_store(&self.named, &self.filter, slices)?;
        Ok(asked.load_costs(&view, &store, EVENT)?.with_bins(self.bins))
    }
}
