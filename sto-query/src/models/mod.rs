//! Models of how the cost of functions scales with the input size or another number.
//!
//! ```text
//! runs with a metric            costs        cost of each function in each run
//! CSV with x and y              table        points of each group
//!         |  points
//!         v
//! regression, buckets, ...      statistics   models, best first
//! ```
//!
//! See [the manual](crate::manual::models).

mod calls;
mod change;
mod changes;
mod costs;
mod detectors;
mod error;
mod inherited;
mod known_numbers;
mod random_split;
mod result;
mod sentence;
mod table;
mod two;
mod variables;

pub use two::PointOfTwo;

pub use result::{FunctionModels, Modelled, Point};

pub use detectors::{ComparedCurves, Detected};

pub use change::{Commits, FunctionChange, Growth};

pub use change::{ModelChange, SideModel};
pub(crate) use changes::compare_models;
pub use changes::{CompareModelsOptions, ModelChanges};
pub(crate) use costs::Costs;
pub use detectors::Detector;
pub use error::ModelError;
pub(crate) use known_numbers::{FunctionWithoutPoints, KnownNumbers};
pub use result::{CostModel, CostModels};
pub use two::ModelOfTwo;
pub(crate) use two::model_two_variables;
pub(crate) use variables::ModelVariables;

use crate::answer::truncate;
use crate::functions::{FunctionChoice, FunctionError, SymbolAndKey};
use costs::FunctionCosts;
use rayon::prelude::*;
use sto_stats::models::{Fit, Points};

/// Models the cost of a function.
///
/// # Errors
///
/// Returns an error if the name does not denote exactly one function, or if nothing can be fitted.
pub(crate) fn model_function(
    mut costs: Costs,
    fit: &Fit,
    function: &str,
) -> Result<CostModel, ModelError> {
    let chosen = one(&costs, function)?;
    let function = costs.functions.swap_remove(chosen);
    Ok(CostModel {
        of: costs.of,
        function: fitted(function, fit)?,
    })
}

/// Models the cost of every function, the highest cost at the largest x first; at most `limit` of them.
///
/// # Errors
///
/// Returns an error if nothing can be fitted.
pub(crate) fn model_functions(
    costs: Costs,
    fit: &Fit,
    limit: Option<usize>,
) -> Result<CostModels, ModelError> {
    let functions = costs.functions.into_iter();
    let mut functions: Vec<_> = functions.map(|of| (of.cost_at_largest_x(), of)).collect();
    // The sort is stable, so functions with equal costs stay sorted by name.
    functions.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let omitted = truncate(&mut functions, limit);
    let functions = functions.into_par_iter();
    let functions = functions.map(|(_, function)| fitted(function, fit));
    Ok(CostModels {
        functions: functions.collect::<Result<_, _>>()?,
        of: costs.of,
        omitted,
    })
}

/// Models the cost of every function in the order of their names.
///
/// # Errors
///
/// Returns an error if nothing can be fitted.
pub(crate) fn model_groups(costs: Costs, fit: &Fit) -> Result<CostModels, ModelError> {
    let functions = costs.functions.into_par_iter();
    let functions = functions.map(|function| fitted(function, fit));
    Ok(CostModels {
        functions: functions.collect::<Result<_, _>>()?,
        of: costs.of,
        omitted: 0,
    })
}

/// Returns the index of the one function denoted by a name.
fn one(costs: &Costs, text: &str) -> Result<usize, ModelError> {
    let functions = &costs.functions;
    let keys = functions.iter().map(|of| &*of.function);
    match named(keys, text, &[costs])?[..] {
        [one] => Ok(one),
        ref several => {
            let names = several
                .iter()
                .map(|&ix| format!("{} ({})", functions[ix].function, functions[ix].module));
            Err(ModelError::Function(FunctionError::Several {
                text: text.to_owned(),
                names: names.collect(),
            }))
        }
    }
}

/// Returns the indices of the functions denoted by a name; at least one. `sides` are used for the error message.
fn named<'k>(
    keys: impl Iterator<Item = &'k str>,
    text: &str,
    sides: &[&Costs],
) -> Result<Vec<usize>, ModelError> {
    let choice = FunctionChoice::parse(text)?;
    let keys: Vec<SymbolAndKey<'_>> = keys.map(SymbolAndKey::from_key).collect();
    let chosen = choice.find_matches(&keys);
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let mut pointless = sides
        .iter()
        .rev()
        .filter_map(|side| side.no_points_error(text));
    let last = sides.last().map_or_else(String::new, |side| side.of.name());
    let not_found = || choice.not_found(last, &keys).into();
    Err(pointless.next().unwrap_or_else(not_found))
}

fn fitted(of: FunctionCosts, fit: &Fit) -> Result<FunctionModels, ModelError> {
    let points = Points::new(of.points)?;
    let (fitted, certainty) = fit.models_with_certainty(&points);
    let shown = points.x().iter().zip(points.y());
    Ok(FunctionModels {
        function: of.function,
        module: of.module,
        points: shown.map(|(&x, &y)| Point { x, y }).collect(),
        models: fitted.models,
        left_out: fitted.left_out,
        spread: fitted.spread,
        certainty,
    })
}
