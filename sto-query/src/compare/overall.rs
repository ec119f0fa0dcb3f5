//! The verdict over functions and whole runs together.
//!
//! A run that takes longer is a regression, whether or not a function explains it, and whether or not
//! functions can be judged at all: no symbol has a part in a run's time. Where a side did not do its
//! work, nothing can be judged.

use super::result::Verdict;
use super::result::{MetricChange, MetricOutcome, SECONDS, TOTAL_COST};
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
    let is_worse = |metric: &&MetricChange| metric.outcome == MetricOutcome::Worse;
    let worse: Vec<&MetricChange> = metrics.iter().filter(is_worse).collect();
    if worse.is_empty() {
        return (verdict, reason);
    }
    let worse = sentence(&worse);
    let reason = match verdict {
        Verdict::Regression => format!("{worse}; {reason}"),
        Verdict::Clean => format!("{worse}; but {reason}"),
        Verdict::Insufficient => format!("{worse}; which functions cannot be told: {reason}"),
    };
    (Verdict::Regression, reason)
}

/// `a run takes 37% more time and costs 35% more`.
fn sentence(worse: &[&MetricChange]) -> String {
    let (of_runs, others): (Vec<&MetricChange>, Vec<&MetricChange>) = worse
        .iter()
        .partition(|metric| [SECONDS, TOTAL_COST].contains(&metric.name.as_str()));
    let change = |metric: &MetricChange| metric.change.map_or_else(|| "more".to_owned(), times);
    let of_runs: Vec<String> = of_runs
        .into_iter()
        .map(|metric| match &*metric.name {
            SECONDS => format!("takes {} time", change(metric)),
            _ => format!("costs {}", change(metric)),
        })
        .collect();
    let unit = worse.iter().find_map(|metric| metric.per.as_ref());
    let run = match unit {
        Some(per) => format!("for each unit of {per}, a run"),
        None => "a run".to_owned(),
    };
    let of_runs = (!of_runs.is_empty()).then(|| format!("{run} {}", of_runs.join(" and ")));
    let others = others.into_iter().map(|metric| {
        let name = &metric.name;
        format!("the metric {name} is {}", change(metric))
    });
    of_runs
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join(", ")
}
