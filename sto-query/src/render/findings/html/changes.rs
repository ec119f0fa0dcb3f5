//! Tables of the metrics of whole runs, and of a function's self, attributed self if it differs,
//! and total.

use crate::compare::{Change, Comparison, Finding, MetricOutcome};
use crate::render::findings::metrics;
use crate::render::findings::notes::threshold;
use crate::render::findings::words::{Costs, basis, q, ratio};
use crate::render::html::{number_head, numbers};
use crate::text::percent;
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
    let Costs { of, .. } = Costs::new(comparison);
    html! {
        thead { tr {
            td {}
            (number_head("Baseline", &format!("share, and cost of {of}")))
            (number_head("Candidate", &format!("share, and cost of {of}")))
            (number_head("Change", &format!("normalised, with its {confidence} interval")))
            (number_head("q", "false discovery rate"))
        } }
    }
}

/// Returns a row for each count.
pub(super) fn rows(costs: Costs, [own, attributed, total]: [&Change; 3]) -> Markup {
    let differs = (own.baseline_samples, own.candidate_samples)
        != (attributed.baseline_samples, attributed.candidate_samples);
    let meaning = "with the library code and the unchanged modules it calls";
    html! {
        (row("self", "in its own code", own, costs))
        @if differs { (row("attributed", meaning, attributed, costs)) }
        (row("total", "with all that it calls", total, costs))
    }
}

fn row(name: &str, meaning: &str, change: &Change, costs: Costs) -> Markup {
    let change_shown = ratio(change.change, change.candidate_samples > 0);
    html! {
        tr {
            th scope="row" { (name) small { (meaning) } }
            @for (shown, detail) in [
                (percent(change.baseline_share), costs.format(change.baseline_cost)),
                (percent(change.candidate_share), costs.format(change.candidate_cost)),
                (change_shown, interval(change)),
            ] {
                td.number { (shown) small { (detail) } }
            }
            td.number { (q(change)) }
        }
    }
}

/// Returns table cells with the cost of a run, the share and the change of the count that the
/// finding is based on.
pub(super) fn cells(finding: &Finding, costs: Costs) -> Markup {
    let change = basis(finding);
    let (before, now) = (change.baseline_share, change.candidate_share);
    numbers([
        &costs.before_and_now(change),
        &format!("{} → {}", percent(before), percent(now)),
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
