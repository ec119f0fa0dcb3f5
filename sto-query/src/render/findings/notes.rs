//! Descriptions of how a comparison was tested.

use crate::compare::{Comparison, Dispersion, NormalisationMethod, Statistics};
use crate::text::{Words, format_count, quantity};
use sto_core::Hint;
use sto_core::units::{Nanoseconds, Unit};

/// Returns paragraphs on the normalisation, the variation and the tests of a comparison.
pub(super) fn notes(comparison: &Comparison, statistics: &Statistics, words: Words) -> Vec<String> {
    let Statistics {
        normalisation,
        dispersion,
        tested,
        needed,
    } = statistics;
    let thresholds = &comparison.thresholds;
    let mut notes = Vec::new();
    let (unit, of_candidate) = if comparison.within_runs {
        ("second", "a second of the candidate")
    } else {
        ("run", "a candidate run")
    };
    notes.push(match &normalisation.method {
        NormalisationMethod::Tmm => format!(
            "Counts are made comparable by the trimmed mean of {} functions' ratios: an unchanged \
             function costs {:.3} times as much in {of_candidate}. In total, {of_candidate} costs \
             {:.3} times as much.",
            normalisation.functions, normalisation.candidate_size, normalisation.candidate_cost
        ),
        NormalisationMethod::PerRun => format!(
            "Counts are compared by {unit}, as if each {unit} did the same work{}. In total, \
             {of_candidate} costs {:.3} times as much.",
            match thresholds.normalisation {
                None if normalisation.is_same_work =>
                    ": the same command, with the same arguments, at a steady cost",
                None | Some(NormalisationMethod::Tmm) =>
                    ": too few functions are stable to serve as references",
                Some(_) => "",
            },
            normalisation.candidate_cost
        ),
        NormalisationMethod::PerMetric(metric) => format!(
            "Counts are compared for each unit of {metric}, of which a candidate run has {:.3} times \
             as much. In total, a unit costs {:.3} times as much in the candidate.",
            normalisation.candidate_size,
            normalisation.candidate_cost / normalisation.candidate_size,
        ),
        NormalisationMethod::Total => format!(
            "Counts are compared as shares of all samples: if one function grows, all others \
             shrink. In total, {of_candidate} costs {:.3} times as much.",
            normalisation.candidate_cost
        ),
    });
    if normalisation.also_per_run {
        notes.push(
            "Findings were also found per run, in case each run did the same work; their changes are \
             those of the cost of a run."
                .to_owned(),
        );
    }
    notes.push(if comparison.within_runs && dispersion.estimated { format!(
            "From one part of a side's time to the next, functions vary by {} in their self and {} in their total \
             counts, sampling aside (less than 2% is never assumed). Changes from minute to minute, such as the \
             machine's load, are not included.",
            deviation(dispersion.self_),
            deviation(dispersion.total),
        ) } else { variation(comparison, dispersion) });
    let top = words.hint_phrase(", as in `", Hint::TopInlined, "`");
    let library = format!(
        "Self is without inlined functions{top}. What standard libraries and runtimes cost is \
         attributed to the functions that call them"
    );
    notes.push(match &comparison.unchanged_modules[..] {
        [] => format!("{library}."),
        modules => format!(
            "{library}, and so is what these modules cost, which are the same on both sides: {}.",
            modules.join(", ")
        ),
    });
    if let Some(Nanoseconds(period)) = comparison.counted_in {
        notes.push(format!(
            "The time of calls was measured, and not sampled: {} of it count as one sample.",
            quantity(period, Unit::Nanoseconds).unwrap_or_default()
        ));
    }
    notes.push(format!(
        "Tested: self counts of {} and totals of {}; {} are on both sides. Reported: changes of at \
         least {}, in functions with at least {} of a side's samples, with a false discovery rate \
         (q) of at most {}. Intervals have a confidence of {}.",
        tested.self_,
        format_count(tested.total as u64, "function"),
        tested.shared,
        threshold(thresholds.min_effect),
        threshold(thresholds.min_share),
        threshold(thresholds.alpha),
        threshold(1.0 - thresholds.alpha),
    ));
    notes.push(format!(
        "A change of {} in a function with a tenth of all samples is detected with about {} and {} \
         per side.",
        threshold(thresholds.min_effect),
        format_count(needed.samples, "sample"),
        format_count(
            needed.runs,
            if comparison.within_runs {
                "part"
            } else {
                "run"
            }
        ),
    ));
    notes
}

/// Formats a threshold in percent, as the user specified it.
pub(super) fn threshold(share: f64) -> String {
    // Rounds to six digits, to remove the error of binary fractions.
    let percent = (share * 1e8).round() / 1e6;
    format!("{percent}%")
}

fn deviation(dispersion: f64) -> String {
    format!("{:.0}%", dispersion.sqrt() * 100.0)
}

fn variation(comparison: &Comparison, dispersion: &Dispersion) -> String {
    let runs = comparison.baseline.runs.max(comparison.candidate.runs);
    let (why, advice) = if runs > 1 {
        (
            "too few functions have samples enough in each run to estimate it from",
            "Record longer runs",
        )
    } else {
        (
            "there are not several runs to estimate it from",
            "Record more runs of each build",
        )
    };
    if dispersion.estimated {
        format!(
            "From run to run, functions vary by {} in their self and {} in their total counts, \
             sampling aside (estimated from the runs of each build; less than 2% is never assumed).",
            deviation(dispersion.self_),
            deviation(dispersion.total),
        )
    } else if let Some(build) = &dispersion.earlier_build {
        format!(
            "From run to run, functions vary by {} in their self and {} in their total counts, \
             sampling aside: so they did in {build}. The evidence is weak, as {why}. {advice}.",
            deviation(dispersion.self_),
            deviation(dispersion.total),
        )
    } else {
        format!(
            "From run to run, functions are assumed to vary by {}, as {why}: the evidence is weak. \
             {advice}.",
            deviation(dispersion.self_),
        )
    }
}
