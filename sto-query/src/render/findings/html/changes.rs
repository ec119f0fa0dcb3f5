//! The table of a function's counts: self, attributed self where it differs, and total.

use crate::compare::{Change, Comparison, Finding};
use crate::render::findings::notes::threshold;
use crate::render::findings::words::{basis, q, ratio};
use crate::render::html::Html;
use crate::text::numbers::{grouped, percent};

/// The head of the table, which says what each column is.
pub(super) fn head(html: &mut Html, comparison: &Comparison) {
    let confidence = threshold(1.0 - comparison.thresholds.alpha);
    html.raw(
        "<thead><tr><td></td>\
         <th scope=\"col\" class=\"number\">Baseline<small>share, and samples</small></th>\
         <th scope=\"col\" class=\"number\">Candidate<small>share, and samples</small></th>\
         <th scope=\"col\" class=\"number\">Change<small>normalised, with its ",
    )
    .text(&confidence)
    .raw(
        " interval</small></th>\
         <th scope=\"col\" class=\"number\">q<small>false discovery rate</small></th></tr></thead>\n",
    );
}

/// A row for each count.
pub(super) fn rows(html: &mut Html, [own, attributed, total]: [&Change; 3]) {
    row(html, "self", "in its own code", own);
    let differs = (own.baseline_samples, own.candidate_samples)
        != (attributed.baseline_samples, attributed.candidate_samples);
    if differs {
        row(
            html,
            "attributed",
            "with the library code and the unchanged modules it calls",
            attributed,
        );
    }
    row(html, "total", "with all that it calls", total);
}

fn row(html: &mut Html, name: &'static str, meaning: &'static str, change: &Change) {
    html.raw("<tr><th scope=\"row\">")
        .raw(name)
        .raw("<small>")
        .raw(meaning)
        .raw("</small></th>");
    for (share, samples) in [
        (change.baseline_share, change.baseline_samples),
        (change.candidate_share, change.candidate_samples),
    ] {
        html.raw("<td class=\"number\">")
            .text(&percent(share))
            .raw("<small>")
            .text(&grouped(samples))
            .raw("</small></td>");
    }
    html.raw("<td class=\"number\">")
        .text(&ratio(change.change, change.candidate_samples > 0))
        .raw("<small>")
        .text(&interval(change))
        .raw("</small></td><td class=\"number\">")
        .text(&q(change))
        .raw("</td></tr>\n");
}

/// Cells of a row: attributed self and total on both sides, and the change that the finding rests on.
pub(super) fn cells(html: &mut Html, finding: &Finding) {
    let change = basis(finding);
    let shares = |change: &Change| {
        let (before, now) = (change.baseline_share, change.candidate_share);
        format!("{} → {}", percent(before), percent(now))
    };
    for cell in [
        shares(&finding.attributed_self),
        shares(&finding.total),
        ratio(change.change, change.candidate_samples > 0),
        q(change),
    ] {
        html.raw("<td class=\"number\">").text(&cell).raw("</td>");
    }
}

/// From the least to the largest change that the test does not exclude.
fn interval(change: &Change) -> String {
    let bound = |bound| ratio(Some(bound), true);
    match (change.change_low, change.change_high) {
        (None, _) => "not tested".to_owned(),
        (Some(low), None) => format!("{} or more", bound(low)),
        (Some(0.0), Some(high)) => format!("{} or less", bound(high)),
        (Some(low), Some(high)) => format!("{} to {}", bound(low), bound(high)),
    }
}
