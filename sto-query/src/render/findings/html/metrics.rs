//! The table of what was measured of whole runs.

use crate::compare::{Comparison, MetricOutcome};
use crate::render::findings::metrics::{rows, word};
use crate::render::html::Html;

/// Time, total cost and other metrics; nothing where there are none.
pub(super) fn write(html: &mut Html, comparison: &Comparison) {
    let rows = rows(comparison);
    if rows.is_empty() {
        return;
    }
    html.raw(
        "<h3>Each run as a whole</h3>\n<table class=\"changes\">\n<thead><tr><td></td>\
         <th scope=\"col\" class=\"number\">Baseline<small>mean ± deviation</small></th>\
         <th scope=\"col\" class=\"number\">Candidate<small>mean ± deviation</small></th>\
         <th scope=\"col\" class=\"number\">Change</th><td></td></tr></thead>\n<tbody>\n",
    );
    for row in rows {
        html.raw("<tr><th scope=\"row\">")
            .text(&row.name)
            .raw("</th>");
        for number in [&row.baseline, &row.candidate, &row.change] {
            html.raw("<td class=\"number\">").text(number).raw("</td>");
        }
        html.raw("<td>").text(&row.evidence);
        match row.outcome {
            MetricOutcome::Worse => {
                html.raw(" <span class=\"verdict worse\">worse</span>");
            }
            outcome => {
                html.raw(" ").raw(word(outcome));
            }
        }
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody>\n</table>\n");
}
