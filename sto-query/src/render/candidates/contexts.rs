//! The contexts in which a candidate differs, to unfold.

use super::list::{cell, status};
use super::{Html, signed};
use crate::render::html::short_name;
use crate::render::numbers::grouped;
use crate::report::{ContextReport, ExpansionReport};

/// Who calls the candidate where it has its difference.
pub(super) fn callers(html: &mut Html, contexts: &ExpansionReport) {
    write(
        html,
        contexts,
        [
            "Called by",
            "Nothing that calls it",
            "each is called by the one below that stands further in",
            "called through these, down to here",
        ],
    );
}

/// What the candidate calls that has its difference.
pub(super) fn callees(html: &mut Html, contexts: &ExpansionReport) {
    write(
        html,
        contexts,
        [
            "Calls",
            "Nothing that it calls",
            "each calls the one below that stands further in",
            "where it calls these, down to here",
        ],
    );
}

fn write(
    html: &mut Html,
    contexts: &ExpansionReport,
    [name, nothing, order, condition]: [&'static str; 4],
) {
    let [_, found @ ..] = &contexts.contexts[..] else {
        return;
    };
    if found.is_empty() {
        html.raw("<p class=\"soft\">")
            .raw(nothing)
            .raw(" has a tenth of its difference or more.</p>\n");
        return;
    }
    html.raw("<details class=\"traces\">\n<summary>")
        .raw(name)
        .raw(" <code>")
        .text(&short_name(&found[0].function.function))
        .raw("</code>")
        .text(&match found.len() - 1 {
            0 => String::new(),
            more => format!(" and {} more", grouped(more as u64)),
        })
        .raw("</summary>\n<table class=\"scores\">\n<thead><tr><th scope=\"col\">Trace<small>")
        .raw(order)
        .raw(
            "</small></th><th scope=\"col\" class=\"number\">Difference<small>of the function in this \
             row, in this context</small></th><th scope=\"col\" class=\"number\">Candidate’s \
             difference<small>",
        )
        .raw(condition)
        .raw(
            "</small></th><th scope=\"col\" class=\"number\">Candidate’s score<small>that difference \
             in standard deviations</small></th><th scope=\"col\">Status<small>of the candidate, \
             here</small></th></tr></thead>\n<tbody>\n",
        );
    for context in &contexts.contexts {
        row(html, context);
    }
    html.raw("</tbody>\n</table>\n</details>\n");
}

/// By depth, which the style sheet indents.
const DEPTHS: [&str; 11] = [
    "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10",
];

fn row(html: &mut Html, context: &ContextReport) {
    html.raw("<tr><td class=\"")
        .raw(DEPTHS[context.depth.min(DEPTHS.len() - 1)])
        .raw("\"><code>")
        .text(&short_name(&context.function.function))
        .raw("</code></td>");
    for (label, text) in [
        ("Difference", context.difference),
        ("Candidate’s difference", context.candidate_difference),
        ("Candidate’s score", context.candidate_score),
    ] {
        cell(html, label, &signed(text));
    }
    html.raw("<td data-label=\"Status\">");
    status(html, context.status);
    html.raw("</td></tr>\n");
}
