//! Mathematical functions and statistical aggregates.
//!
//! SQLite has its own only if it is compiled with options that a crate cannot set for the library that it links.

use crate::correlate::pearson;
use crate::series::Expected;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Result};
use sto_stats::models::quantile;

/// A function of one number.
type Function = fn(f64) -> f64;
/// A statistic of the numbers in the first and the second argument.
type Statistic = fn(&[f64], &[f64]) -> Option<f64>;

const FUNCTIONS: [(&str, Function); 8] = [
    ("ceil", f64::ceil),
    ("exp", f64::exp),
    ("floor", f64::floor),
    ("ln", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("sqrt", f64::sqrt),
    ("trunc", f64::trunc),
];

const AGGREGATES: [(&str, &str, Statistic); 4] = [
    ("corr", "x, y", |x, y| Some(pearson(x, y)?.coefficient)),
    ("median", "x", |x, _| percentile(x, 50.0)),
    ("percentile", "x, percent", |x, percents| {
        percentile(x, *percents.first()?)
    }),
    ("stddev", "x", |x, _| {
        Some(Expected::from_observations(x)?.deviation)
    }),
];

/// Returns the names and the arguments of all functions.
pub(super) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let functions = FUNCTIONS.map(|(name, _)| (name, "x"));
    let aggregates = AGGREGATES.map(|(name, arguments, _)| (name, arguments));
    functions
        .into_iter()
        .chain([("pow", "x, y")])
        .chain(aggregates)
}

/// Registers the functions with a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, function) in FUNCTIONS {
        connection.create_scalar_function(name, 1, flags, move |context: &mut Context<'_>| {
            Ok(number(context, 0).map(function).filter(|y| y.is_finite()))
        })?;
    }
    connection.create_scalar_function("pow", 2, flags, |context: &mut Context<'_>| {
        let power = number(context, 0).zip(number(context, 1));
        Ok(power.map(|(x, y)| x.powf(y)).filter(|z| z.is_finite()))
    })?;
    for (name, arguments, statistic) in AGGREGATES {
        let count = arguments.split(',').count() as i32;
        connection.create_aggregate_function(name, count, flags, Gather(statistic))?;
    }
    Ok(())
}

/// Returns an argument; `None` if it is not a number.
fn number(context: &Context<'_>, argument: usize) -> Option<f64> {
    context.get(argument).ok()
}

/// Gathers the rows whose arguments are all numbers, and computes a statistic of them.
struct Gather(Statistic);

impl Aggregate<[Vec<f64>; 2], Option<f64>> for Gather {
    fn init(&self, _: &mut Context<'_>) -> Result<[Vec<f64>; 2]> {
        Ok([const { Vec::new() }; 2])
    }

    fn step(&self, context: &mut Context<'_>, columns: &mut [Vec<f64>; 2]) -> Result<()> {
        let row: Option<Vec<f64>> = (0..context.len()).map(|ix| number(context, ix)).collect();
        for (column, x) in columns.iter_mut().zip(row.unwrap_or_default()) {
            column.push(x);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, columns: Option<[Vec<f64>; 2]>) -> Result<Option<f64>> {
        Ok(columns.and_then(|[x, y]| self.0(&x, &y)))
    }
}

/// Returns the number below which this percentage of the numbers are, interpolated linearly; `None` without numbers.
fn percentile(numbers: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let is_valid = !sorted.is_empty() && (0.0..=100.0).contains(&percent);
    is_valid.then(|| quantile(&sorted, percent / 100.0))
}
