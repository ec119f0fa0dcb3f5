//! The verdict over functions and whole runs together.
//!
//! A run that takes longer is a regression, whether or not a function explains it, and whether or not
//! functions can be judged at all: no symbol has a part in a run's time. Where a side did not do its
//! work, nothing can be judged.

use super::metrics::{MetricChange, MetricOutcome, SECONDS, TOTAL_COST};
use super::report::Verdict;
use super::sentence::times;

/// The verdict over functions, with its reason, as what was measured of whole runs leaves it; `failed`
/// says why a side did not do its work.
pub(super) fn overall(
    (verdict, reason): (Verdict, String),
    metrics: &[MetricChange],
    failed: Option<String>,
) -> (Verdict, String) {
    if let Some(failed) = failed {
        return (Verdict::Insufficient, failed);
    }
    let worse: Vec<String> = metrics
        .iter()
        .filter(|metric| metric.outcome == MetricOutcome::Worse)
        .map(sentence)
        .collect();
    if worse.is_empty() {
        return (verdict, reason);
    }
    let worse = worse.join(", ");
    let reason = match verdict {
        Verdict::Regression => format!("{worse}; {reason}"),
        Verdict::Clean => format!("{worse}; but {reason}"),
        Verdict::Insufficient => format!("{worse}; which functions cannot be told: {reason}"),
    };
    (Verdict::Regression, reason)
}

/// `a run takes 37% more time`.
fn sentence(metric: &MetricChange) -> String {
    let times = metric.change.map_or_else(|| "more".to_owned(), times);
    let run = match &metric.per {
        Some(per) => format!("for each unit of {per}, a run"),
        None => "a run".to_owned(),
    };
    match &*metric.name {
        SECONDS => format!("{run} takes {times} time"),
        TOTAL_COST => format!("{run} costs {times}"),
        name => format!("the metric {name} is {times}"),
    }
}
