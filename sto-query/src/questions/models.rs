//! How cost goes with what runs were given.

use crate::QueryError;
use crate::models::{
    self, CompareModelsOptions, CostModel, CostModels, Costs, ModelChanges, ModelError, ORDER,
};
use crate::sources::{EVENT, Filter, Named, Sources, slices_for};
use crate::statistics::models::Fit;
use crate::tree::{Order, View};
use serde::{Deserialize, Serialize};
use sto_core::store::Snapshot;

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
    let by = By {
        filter: &request.filter,
        x: &request.x,
        cost: request.cost,
        inlined: request.inlined,
    };
    Ok(models::compare_models(
        by.of_both(sources, &request.named)?,
        request.function.as_deref(),
        &request.options,
        request.limit,
    )?)
}

impl ModelRequest {
    fn costs(&self, sources: &Sources) -> Result<Costs, QueryError> {
        let by = By {
            filter: &self.filter,
            x: &self.x,
            cost: self.cost,
            inlined: self.inlined,
        };
        by.of_one(sources, &self.named)
    }
}

/// What points are made of.
struct By<'a> {
    filter: &'a Filter,
    x: &'a str,
    cost: Order,
    inlined: bool,
}

impl By<'_> {
    fn of_one(&self, sources: &Sources, named: &Named) -> Result<Costs, QueryError> {
        let (view, store) = sources.runs_and_store(named, self.filter, slices_for(self.x))?;
        let program = view.selection.build.executable.clone();
        match models::is_given(&view, self.x) {
            true => self.of_runs(view, &program),
            false => self.of_parts(view, &store, &program),
        }
    }

    /// A baseline and a candidate, both by the same kind of x.
    fn of_both(
        &self,
        sources: &Sources,
        [baseline, candidate]: &[Named; 2],
    ) -> Result<[Costs; 2], QueryError> {
        let named = [baseline, candidate];
        let [(old, old_store), (new, new_store)] =
            sources.pair_and_stores(named, self.filter, None, slices_for(self.x))?;
        // One name for both, so that their functions are the same.
        let program = new.selection.build.executable.clone();
        let is_given = [&old, &new].map(|view| models::is_given(view, self.x));
        match is_given.contains(&true) {
            true => Ok([self.of_runs(old, &program)?, self.of_runs(new, &program)?]),
            false => Ok([
                self.of_parts(old, &old_store, &program)?,
                self.of_parts(new, &new_store, &program)?,
            ]),
        }
    }

    /// By a number that parts of runs have: samples by their label or time, or else calls.
    fn of_parts(&self, view: View, store: &Snapshot, program: &str) -> Result<Costs, QueryError> {
        let asked = (self.x, self.cost);
        let whole = view.clone();
        let cut = view.cut_by(store, self.x)?;
        if models::is_given(&cut, self.x) {
            return self.of_runs(cut, program);
        }
        if let Some(costs) = Costs::of_arguments(&whole, store, asked, program)? {
            return Ok(costs);
        }
        if self.x == ORDER
            && let Some(costs) = Costs::of_order(&whole, store, self.cost, program)?
        {
            return Ok(costs);
        }
        let arguments = models::arguments(&whole, store)?;
        Err(models::no_x(&whole, self.x, arguments).into())
    }

    fn of_runs(&self, view: View, program: &str) -> Result<Costs, QueryError> {
        let view = match self.inlined {
            true => view,
            false => view.without_inlined(),
        };
        let asked = (self.x, self.cost);
        Ok(Costs::of_runs(&view, EVENT, asked, program)?)
    }
}
