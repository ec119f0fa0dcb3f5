//! The contexts in which a candidate differs, to unfold.

use super::list::{cell, status};
use super::{Html, signed};
use crate::render::html::{folded, short_name};
use crate::report::{ContextReport, ExpansionReport};
use crate::text::numbers::{grouped, percent};
use crate::tree::Link;

/// What a table of contexts shows.
struct Columns<'a> {
    /// What comes before the name of the first.
    fold: &'static str,
    /// What is said where there are none.
    none: &'static str,
    /// What it means that a name stands further in.
    indent: &'static str,
    /// The name of each number, and what it is.
    heads: [[&'static str; 2]; 3],
    numbers: &'a dyn Fn(&ContextReport) -> [String; 3],
    /// Whether the candidate may be new in a context.
    has_status: bool,
}

/// Who calls the candidate where it has its difference.
pub(super) fn callers(html: &mut Html, contexts: &ExpansionReport) {
    let columns = Columns {
        fold: "Called by ",
        none: "Nothing that calls it has a tenth of its difference or more.",
        indent: "further in: its caller",
        heads: [
            ["Difference", "of the function in this row, in this context"],
            [
                "Candidate’s difference",
                "called through these, down to here",
            ],
            [
                "Candidate’s score",
                "that difference in standard deviations",
            ],
        ],
        numbers: &|context| {
            [
                signed(context.difference),
                signed(context.candidate_difference),
                signed(context.candidate_score),
            ]
        },
        has_status: true,
    };
    columns.write(html, contexts);
}

/// What the candidate calls that has its difference.
pub(super) fn callees(html: &mut Html, contexts: &ExpansionReport) {
    let whole = contexts.contexts[0].difference;
    let columns = Columns {
        fold: "Calls ",
        none: "Nothing that it calls has a tenth of its difference or more.",
        indent: "further in: what it calls",
        heads: [
            ["Difference", "of the function in this row, in this context"],
            ["Part", "of the candidate’s difference"],
            ["Score", "the difference in standard deviations"],
        ],
        numbers: &|context| {
            [
                signed(context.difference),
                percent(context.difference / whole),
                signed(context.rank),
            ]
        },
        has_status: false,
    };
    columns.write(html, contexts);
}

impl Columns<'_> {
    fn write(&self, html: &mut Html, contexts: &ExpansionReport) {
        let Some(first) = contexts.contexts.get(1) else {
            html.raw("<p class=\"soft\">").raw(self.none).raw("</p>\n");
            return;
        };
        html.raw("<details class=\"traces\">\n<summary>")
            .raw(self.fold)
            .raw("<code>")
            .text(&short_name(&first.function.function))
            .raw("</code>");
        let more = contexts.contexts.len() - 2;
        if more > 0 {
            html.text(&format!(" and {} more", grouped(more as u64)));
        }
        html.raw("</summary>\n<table class=\"scores\">\n<thead><tr><th scope=\"col\">Trace<small>")
            .raw(self.indent)
            .raw("</small></th>");
        for [name, meaning] in self.heads {
            html.raw("<th scope=\"col\" class=\"number\">")
                .raw(name)
                .raw("<small>")
                .raw(meaning)
                .raw("</small></th>");
        }
        if self.has_status {
            html.raw("<th scope=\"col\">Status<small>of the candidate, here</small></th>");
        }
        html.raw("</tr></thead>\n<tbody>\n");
        let mut contexts = &contexts.contexts[..];
        while !contexts.is_empty() {
            let folded = contexts.iter().take_while(|context| context.folded).count();
            let (row, rest) = contexts.split_at(folded.max(1));
            self.row(html, row);
            contexts = rest;
        }
        html.raw("</tbody>\n</table>\n</details>\n");
    }

    /// A row of one context, or of several that are folded: their numbers are alike.
    fn row(&self, html: &mut Html, contexts: &[ContextReport]) {
        let context = &contexts[0];
        html.raw("<tr><td class=\"")
            .raw(DEPTHS[context.depth.min(DEPTHS.len() - 1)])
            .raw("\">");
        match context.folded {
            true => {
                let links: Vec<Link> = contexts.iter().map(|c| c.link(None)).collect();
                folded(html, &links);
            }
            false => {
                html.raw("<code>")
                    .text(&short_name(&context.function.function))
                    .raw("</code>");
            }
        }
        html.raw("</td>");
        for ([name, _], number) in self.heads.into_iter().zip((self.numbers)(context)) {
            cell(html, name, &number);
        }
        if self.has_status {
            html.raw("<td data-label=\"Status\">");
            status(html, context.status);
            html.raw("</td>");
        }
        html.raw("</tr>\n");
    }
}

/// By depth, which the style sheet indents.
const DEPTHS: [&str; 11] = [
    "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10",
];
