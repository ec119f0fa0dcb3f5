//! Decides whether the candidate got worse, or whether the data are insufficient.
//!
//! The verdict follows from three questions, in this order:
//!
//! 1. Are the data trustworthy? If most samples have no symbol, most stacks are truncated, or most
//!    events were lost, functions and callers are wrong: insufficient, whatever was found.
//! 2. Did something get slower? The test accounts for the number of samples, so a finding counts
//!    even with few of them.
//! 3. Could a regression have been detected? With fewer samples than `min_samples` on a side,
//!    finding nothing means nothing: insufficient. The same holds if most of each side is in
//!    functions that the other side does not have, as these are hardly two builds of one program.

use super::normalise::Replaced;
use super::pair::Pair;
use super::result::{
    CompareOptions, Dispersion, Finding, MetricChange, MetricOutcome, Needed, SECONDS, Side,
    TOTAL_COST, Undecided, Verdict,
};
use super::sentence;
use super::sentence::times;
use sto_stats::student_quantile;

/// Maximum number of runs that is recommended.
const MAX_RUNS: u64 = 1000;
/// Share of bad samples, stacks or lost events above which a side cannot be trusted.
const MOST: f64 = 0.5;

/// Returns the verdict, and the sentence that gives its reason.
///
/// `in_common` is the share of each side's samples that ended in functions that both sides have,
/// renamed ones included. `replaced` has the number of replaced functions, if most were replaced.
pub(super) fn verdict(
    sides: [(&str, &Side); 2],
    in_common: Pair<f64>,
    replaced: Option<Replaced>,
    findings: &[Finding],
    undecided: &[Undecided],
    needed: Needed,
    options: &CompareOptions,
) -> (Verdict, String) {
    if let Some(reason) = sides
        .iter()
        .find_map(|(name, side)| untrustworthy(name, side))
    {
        return (Verdict::Insufficient, reason);
    }
    let is_worse = |finding: &&Finding| finding.kind.is_worse();
    let (worse, ignored): (Vec<&Finding>, Vec<&Finding>) = findings
        .iter()
        .filter(is_worse)
        .partition(|finding| finding.ignored.is_none());
    if let Some(first) = worse.first() {
        let reason = match (have_little_in_common(in_common), replaced) {
            (true, _) => sentence::worse_with_little_in_common(in_common, &worse),
            (false, Some(replaced)) => sentence::worse_with_most_replaced(replaced, &worse),
            (false, None) => sentence::worse(first, worse.len()),
        };
        return (Verdict::Regression, reason);
    }
    if have_little_in_common(in_common) {
        return (Verdict::Insufficient, sentence::little_in_common(in_common));
    }
    if let Some((name, side)) = sides
        .iter()
        .find(|(_, side)| side.samples < options.min_samples)
    {
        if sides.iter().all(|(_, side)| side.is_one_trace()) {
            return (Verdict::Insufficient, sentence::one_trace_a_side());
        }
        let reason = format!(
            "the {name} has {} samples, fewer than the {} that it takes to call it clean; {}",
            side.samples,
            options.min_samples,
            sentence::needed(needed, options.min_effect, side.profiles.len() > side.runs)
        );
        return (Verdict::Insufficient, reason);
    }
    let worse = undecided.iter().filter(|of| of.finding.kind.is_worse());
    let clean = sentence::clean(findings.len(), ignored.len(), options);
    let clean = clean + &sentence::undecided(worse.count());
    let reason = match replaced {
        Some(replaced) => sentence::clean_with_most_replaced(replaced, &clean),
        None => clean,
    };
    (Verdict::Clean, reason)
}

/// Whether the functions that both sides have hold less than half of either side's samples.
pub(super) fn have_little_in_common(in_common: Pair<f64>) -> bool {
    in_common.baseline.max(in_common.candidate) < 1.0 - MOST
}

fn untrustworthy(name: &str, side: &Side) -> Option<String> {
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    if side.unresolved_share > MOST {
        Some(format!(
            "{} of the {name}'s samples have no symbol; ingest them with the folders of \
             binaries that have symbols",
            percent(side.unresolved_share)
        ))
    } else if side.truncated_share > MOST {
        Some(format!(
            "{} of the {name}'s stacks are truncated; record with frame pointers, or \
             with a larger `--call-graph dwarf,SIZE`",
            percent(side.truncated_share)
        ))
    } else if side.lost_share > MOST {
        Some(format!(
            "{} of the {name}'s events were lost while recording; record at a lower frequency",
            percent(side.lost_share)
        ))
    } else {
        None
    }
}

/// Returns the samples and runs needed to detect `min_effect` in a function with a tenth of the
/// samples, at `alpha` and with a power of 80 %.
///
/// The logarithm of a ratio of two sides with x samples and r runs each has a variance of about `2
/// / x + 2 dispersion / r`, which must be at most `(log(1 + effect) / z)^2`. Each term gets half.
/// With few runs, the dispersion is not known well, so the quantiles come from Student's
/// distribution, with 2 (r - 1) degrees of freedom more than the prior has.
pub(super) fn compute_needed(
    options: &CompareOptions,
    dispersion: &Dispersion,
    df_prior: f64,
) -> Needed {
    const POWER: f64 = 0.8;
    const SHARE: f64 = 0.1;
    let half_variance = |df: f64| {
        let quantiles =
            student_quantile(1.0 - options.alpha / 2.0, df) + student_quantile(POWER, df);
        ((1.0 + options.min_effect).ln() / quantiles).powi(2) / 2.0
    };
    let are_enough = |runs: &u64| {
        let runs = *runs as f64;
        let df = df_prior + 2.0 * (runs - 1.0);
        df > 0.0 && 2.0 * dispersion.self_ / runs <= half_variance(df)
    };
    Needed {
        samples: two_digits(2.0 / half_variance(f64::INFINITY) / SHARE),
        runs: (1..MAX_RUNS).find(are_enough).unwrap_or(MAX_RUNS),
    }
}

/// Rounds up to two significant digits, the precision of the estimate.
fn two_digits(number: f64) -> u64 {
    let unit = 10.0_f64.powf(number.log10().floor() - 1.0).max(1.0);
    ((number / unit).ceil() * unit) as u64
}

/// Combines the verdict over functions with the metrics of whole runs.
///
/// `failed` says why a side did not do its work, which makes any comparison insufficient. A run
/// that takes longer is a regression whether or not a function explains it, and even if functions
/// cannot be judged, because run time does not depend on symbols.
pub(super) fn combine_with_metrics(
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
    let worse = worse_runs(&worse);
    let reason = match verdict {
        Verdict::Regression => format!("{worse}; {reason}"),
        Verdict::Clean => format!("{worse}; but {reason}"),
        Verdict::Insufficient => format!("{worse}; in which functions is unknown: {reason}"),
    };
    (Verdict::Regression, reason)
}

/// `a run takes 37% more time and costs 35% more`.
fn worse_runs(worse: &[&MetricChange]) -> String {
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
