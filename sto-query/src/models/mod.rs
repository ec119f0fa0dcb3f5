//! How the cost of functions goes with what runs were given.
//!
//! ```text
//! runs with a metric            costs        what each function cost in each run
//! CSV with x and y              table        points of each group
//!         |  points
//!         v
//! regression, buckets, ...      statistics   models, best first
//! ```
//!
#![doc = include_str!("models.md")]

mod changes;
mod costs;
mod detectors;
mod error;
mod result;
mod table;

pub use changes::{
    CompareModelsOptions, FunctionChange, Growth, ModelChange, ModelChanges, SideModel,
    compare_models,
};
pub(crate) use costs::is_given;
pub use detectors::{Detected, Detector};
pub use error::ModelError;
pub use result::{CostModel, CostModels, FunctionModels, Modelled, Point};

use crate::answer::limited;
use crate::functions::{FunctionChoice, FunctionError, Named};
use crate::select::full_name;
use crate::statistics::models::{Fit, Points};
use crate::tree::{Order, View};
use costs::{Costs, FunctionCosts};
use rayon::prelude::*;

/// Models the cost of a function of a view over its runs' metric x.
///
/// # Errors
/// Where no run has x, not one function has the name, or nothing can be fitted.
pub fn of_function(
    view: &View,
    sample_type: usize,
    (x, cost): (&str, Order),
    fit: &Fit,
    function: &str,
) -> Result<CostModel, ModelError> {
    let mut costs = Costs::of(
        view,
        sample_type,
        (x, cost),
        &view.selection.build.executable,
    )?;
    let chosen = one(
        &costs.functions,
        function,
        &full_name(&view.selection.build),
    )?;
    let function = costs.functions.swap_remove(chosen);
    let points = points(&function.costs, &costs);
    Ok(CostModel {
        of: about(view, sample_type, (x, cost), &costs),
        function: fitted(function.function, function.module, points, fit)?,
    })
}

/// Models the cost of every function of a view over its runs' metric x: those that cost most at the largest x first, at
/// most `limit` of them.
///
/// # Errors
/// Where no run has x, or nothing can be fitted.
pub fn of_functions(
    view: &View,
    sample_type: usize,
    (x, cost): (&str, Order),
    fit: &Fit,
    limit: Option<usize>,
) -> Result<CostModels, ModelError> {
    let mut costs = Costs::of(
        view,
        sample_type,
        (x, cost),
        &view.selection.build.executable,
    )?;
    let largest = costs.runs.iter().map(|&(x, _)| x).fold(f64::MIN, f64::max);
    let at_largest = |function: &FunctionCosts| -> f64 {
        let runs = costs.runs.iter().zip(&function.costs);
        runs.filter(|((x, _), _)| *x == largest)
            .map(|(_, cost)| cost)
            .sum()
    };
    let mut functions: Vec<(f64, FunctionCosts)> = std::mem::take(&mut costs.functions)
        .into_iter()
        .map(|function| (at_largest(&function), function))
        .collect();
    // Stable: equals stay in the order of their names.
    functions.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let omitted = limited(&mut functions, limit);
    let functions = functions.into_par_iter().map(|(_, function)| {
        let points = points(&function.costs, &costs);
        fitted(function.function, function.module, points, fit)
    });
    Ok(CostModels {
        functions: functions.collect::<Result<_, _>>()?,
        of: about(view, sample_type, (x, cost), &costs),
        omitted,
    })
}

/// Models each group of a table.
///
/// # Errors
/// Where it is no table with columns `x` and `y`, or nothing can be fitted.
pub fn of_table(table: &str, fit: &Fit) -> Result<CostModels, ModelError> {
    let groups = table::read(table)?;
    let rows = groups.values().map(Vec::len).sum();
    let groups: Vec<_> = groups.into_iter().collect();
    let functions = groups
        .into_par_iter()
        .map(|(group, points)| fitted(group, String::new(), points, fit));
    Ok(CostModels {
        functions: functions.collect::<Result<_, _>>()?,
        of: Modelled {
            executable: None,
            build: None,
            x: "x".to_owned(),
            sample_type: None,
            cost: None,
            runs: rows,
            without_x: 0,
        },
        omitted: 0,
    })
}

/// The index of the one function that a name means.
fn one(functions: &[FunctionCosts], name: &str, build: &str) -> Result<usize, FunctionError> {
    let keys = functions.iter().map(|of| &*of.function);
    match named(keys, name, build)?[..] {
        [one] => Ok(one),
        ref several => Err(FunctionError::Several {
            text: name.to_owned(),
            names: several
                .iter()
                .map(|&ix| format!("{} ({})", functions[ix].function, functions[ix].module))
                .collect(),
        }),
    }
}

/// The indices of the functions that a name means, of these keys; at least one.
fn named<'k>(
    keys: impl Iterator<Item = &'k str>,
    name: &str,
    build: &str,
) -> Result<Vec<usize>, FunctionError> {
    let choice = FunctionChoice::parse(name)?;
    let keys: Vec<Named<'_>> = keys.map(Named::of_key).collect();
    let chosen = choice.among(&keys);
    match chosen.is_empty() {
        true => Err(choice.not_found(build.to_owned(), &keys)),
        false => Ok(chosen),
    }
}

fn points(costs: &[f64], of: &Costs) -> Vec<(f64, f64)> {
    let runs = of.runs.iter().zip(costs);
    runs.map(|(&(x, _), &cost)| (x, cost)).collect()
}

fn about(view: &View, sample_type: usize, (x, cost): (&str, Order), costs: &Costs) -> Modelled {
    let build = &view.selection.build;
    Modelled {
        executable: Some(build.executable.clone()),
        build: Some(build.version.clone()),
        x: x.to_owned(),
        sample_type: view.sample_types.get(sample_type).cloned(),
        cost: Some(cost),
        runs: costs.runs.len(),
        without_x: costs.without_x,
    }
}

fn fitted(
    function: String,
    module: String,
    points: Vec<(f64, f64)>,
    fit: &Fit,
) -> Result<FunctionModels, ModelError> {
    let points = Points::new(points)?;
    let (fitted, certainty) = fit.models(&points);
    let shown = points.x().iter().zip(points.y());
    Ok(FunctionModels {
        function,
        module,
        points: shown.map(|(&x, &y)| Point { x, y }).collect(),
        models: fitted.models,
        left_out: fitted.left_out,
        spread: fitted.spread,
        certainty,
    })
}
