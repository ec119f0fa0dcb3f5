//! Tables of the metrics of whole runs, and of a function's self, attributed self if it differs,
//! and total.

use crate::compare::{Change, Comparison, Finding, MetricOutcome};
use crate::render::findings::metrics;
use crate::render::findings::notes::threshold;
use crate::render::findings::words::{basis, q, ratio};
use crate::render::html::{number_head, numbers};
use crate::text::{group_digits, percent};
use maud::{Markup, html};

/// Returns a table of time, total cost and other metrics of whole runs, if there are any.
pub(super) fn runs_table(comparison: &Comparison) -> Markup {
    let rows = metrics::rows(comparison);
    html! {
        @if !rows.is_empty() {
            h3 { "Each run as a whole" }
            table.changes {
                thead { tr {
                    td {}
                    (number_head("Baseline", "mean ± deviation"))
                    (number_head("Candidate", "mean ± deviation"))
                    th.number scope="col" { "Change" }
                    td {}
                } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.name) }
                            (numbers([&row.baseline, &row.candidate, &row.change]))
                            td {
                                (row.evidence) " "
                                @match row.outcome {
                                    MetricOutcome::Worse => span.verdict.worse { "worse" },
                                    outcome => (metrics::word(outcome)),
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the head of a table of a function's counts, with the meaning of each column.
pub(super) fn head(comparison: &Comparison) -> Markup {
    let confidence = threshold(1.0 - comparison.thresholds.alpha);
    html! {
        thead { tr {
            td {}
            (number_head("Baseline", "share, and samples"))
            (number_head("Candidate", "share, and samples"))
            (number_head("Change", &format!("normalised, with its {confidence} interval")))
            (number_head("q", "false discovery rate"))
        } }
    }
}

/// Returns a row for each count.
pub(super) fn rows([own, attributed, total]: [&Change; 3]) -> Markup {
    let differs = (own.baseline_samples, own.candidate_samples)
        != (attributed.baseline_samples, attributed.candidate_samples);
    let meaning = "with the library code and the unchanged modules it calls";
    html! {
        (row("self", "in its own code", own))
        @if differs { (row("attributed", meaning, attributed)) }
        (row("total", "with all that it calls", total))
    }
}

fn row(name: &str, meaning: &str, change: &Change) -> Markup {
    let change_shown = ratio(change.change, change.candidate_samples > 0);
    html! {
        tr {
            th scope="row" { (name) small { (meaning) } }
            @for (shown, detail) in [
                (percent(change.baseline_share), group_digits(change.baseline_samples)),
                (percent(change.candidate_share), group_digits(change.candidate_samples)),
                (change_shown, interval(change)),
            ] {
                td.number { (shown) small { (detail) } }
            }
            td.number { (q(change)) }
        }
    }
}

/// Returns table cells with attributed self and total on both sides, and the change that the
/// finding is based on.
pub(super) fn cells(finding: &Finding) -> Markup {
    let change = basis(finding);
    let shares = |change: &Change| {
        let (before, now) = (change.baseline_share, change.candidate_share);
        format!("{} → {}", percent(before), percent(now))
    };
    numbers([
        &shares(&finding.attributed_self),
        &shares(&finding.total),
        &ratio(change.change, change.candidate_samples > 0),
        &q(change),
    ])
}

/// Formats the confidence interval of a change.
fn interval(change: &Change) -> String {
    let bound = |bound| ratio(Some(bound), true);
    match (change.change_low, change.change_high) {
        (None, _) => "not tested".to_owned(),
        (Some(low), None) => format!("{} or more", bound(low)),
        (Some(0.0), Some(high)) => format!("{} or less", bound(high)),
        (Some(low), Some(high)) => format!("{} to {}", bound(low), bound(high)),
    }
}
