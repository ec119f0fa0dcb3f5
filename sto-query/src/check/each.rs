//! Compares the benchmarks of two builds one by one.

use super::benchmarks::{Benchmarks, Check};
use super::request::CheckRequest;
use crate::QueryError;
use crate::compare::{CompareOptions, Comparison};
use crate::select::Selection;
use crate::sources::Context;

/// Compares the named benchmarks, or all that both sides have, one by one.
pub(super) fn compare_each(
    [baseline, candidate]: [&Selection; 2],
    named: &[String],
    request: &CheckRequest,
    context: &Context,
    compare: impl Fn(Option<Option<&str>>, &CompareOptions) -> Result<Comparison, QueryError>,
) -> Result<Check, QueryError> {
    let benchmarks = Benchmarks::new(baseline, candidate, named);
    let mut warnings = request.policy.expired(context.today().as_ref());
    warnings.extend(benchmarks.warnings);
    let each = match &benchmarks.compared[..] {
        [] => vec![None],
        compared => compared.iter().map(|name| Some(name.as_deref())).collect(),
    };
    let mut comparisons = Vec::with_capacity(each.len());
    for (done, &runs) in each.iter().enumerate() {
        context.begin_step(done, each.len())?;
        let name = runs.flatten();
        let mut options = request.options(name, context);
        // With this, at most `alpha` of the findings of all benchmarks together are false.
        options.alpha /= each.len() as f64;
        let mut comparison = compare(runs, &options)?;
        comparison.benchmark = name.map(str::to_owned);
        comparison.policy.clone_from(&request.policy_name);
        comparison.warnings.splice(0..0, warnings.iter().cloned());
        comparisons.push(comparison);
    }
    Ok(Check::new(comparisons))
}

/// Returns the runs of a side with this benchmark, or all if none is chosen.
pub(super) fn of_benchmark(selection: &Selection, benchmark: Option<Option<&str>>) -> Selection {
    match benchmark {
        Some(benchmark) => selection.only_benchmark(benchmark),
        None => selection.clone(),
    }
}
