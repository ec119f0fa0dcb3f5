//! Functions with unusually long calls only in the candidate.

use super::{CallTrace, CallsError};
use crate::select::Selection;
use crate::text::names::shorten_name;
use crate::text::{format_count, printable, quantity};
use std::collections::BTreeMap;
use sto_core::store::Snapshot;
use sto_core::units::Unit;

/// Maximum number of functions in the sentence.
const NAMED: usize = 3;
/// Maximum width of a function name.
const NAME_WIDTH: usize = 60;

/// The runs of a side that are traces of calls.
#[derive(Default)]
struct Traces {
    count: usize,
    /// Sum of their durations.
    nanoseconds: u64,
    functions: BTreeMap<String, Lost>,
}

/// Time lost in unusually long calls of a function.
#[derive(Default)]
struct Lost {
    calls: usize,
    runs: usize,
    nanoseconds: u64,
}

/// Returns a sentence about functions that had [unusually long calls](fn@super::outliers) in at least half of the
/// candidate's runs and none of the baseline's, and that lost at least the share `least` of the time. Returns `None`
/// if there is no such function, or if a side has no run that is a trace of calls.
///
/// # Errors
///
/// Returns an error if a store cannot be read.
pub(crate) fn new_outliers(
    [baseline, candidate]: [(&Snapshot, &Selection); 2],
    least: f64,
) -> Result<Option<String>, CallsError> {
    let (old, new) = (traces(baseline)?, traces(candidate)?);
    if old.count == 0 {
        return Ok(None);
    }
    let is_new = |(function, of): &(&String, &Lost)| {
        let is_large = of.nanoseconds as f64 >= least * new.nanoseconds as f64;
        !old.functions.contains_key(*function) && 2 * of.runs >= new.count && is_large
    };
    let mut functions: Vec<(&String, &Lost)> = new.functions.iter().filter(is_new).collect();
    // Names are sorted, and the sort is stable.
    functions.sort_by_key(|(_, of)| std::cmp::Reverse(of.nanoseconds));
    let named = functions.iter().take(NAMED).map(|(function, of)| {
        let time = quantity(of.nanoseconds, Unit::Nanoseconds).unwrap_or_default();
        let calls = format_count(of.calls as u64, "call");
        format!(
            "{calls} of {} (by {time})",
            shorten_name(&printable(function), NAME_WIDTH)
        )
    });
    let mut named: Vec<String> = named.collect();
    if let more @ 1.. = functions.len().saturating_sub(NAMED) {
        named.push(format_count(more as u64, "other function"));
    }
    Ok((!named.is_empty()).then(|| {
        format!(
            "Unusually long in the candidate, and never in the baseline: {}.",
            named.join(", ")
        )
    }))
}

fn traces((store, selection): (&Snapshot, &Selection)) -> Result<Traces, CallsError> {
    let mut traces = Traces::default();
    for stored in &selection.profiles {
        let one = Selection::new(selection.build.clone(), vec![stored.clone()]);
        let run = match CallTrace::load(store, one) {
            Ok(run) => run,
            Err(CallsError::NoCalls { .. } | CallsError::NoRun { .. }) => continue,
            Err(error) => return Err(error),
        };
        traces.count += 1;
        let (first, last) = run.time();
        traces.nanoseconds = traces.nanoseconds.saturating_add(last.0 - first.0);
        let mut of_run: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for outlier in &run.calls.outliers {
            let took = outlier.call.end.0 - outlier.call.begin.0;
            let (calls, lost) = of_run.entry(run.function(outlier.call.stack)).or_default();
            *calls += 1;
            *lost = lost.saturating_add(took.saturating_sub(outlier.typical.0));
        }
        for (function, (calls, lost)) in of_run {
            let sum = traces.functions.entry(function.to_owned()).or_default();
            sum.calls += calls;
            sum.runs += 1;
            sum.nanoseconds = sum.nanoseconds.saturating_add(lost);
        }
    }
    Ok(traces)
}
