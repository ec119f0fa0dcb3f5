//! The contexts in which a suspect's samples differ, collapsed.

use super::list::{cell, status};
use super::signed;
use crate::expand::{ExpandedContext, Expansion};
use crate::render::html::{folded, name, number_head};
use crate::text::{group_digits, percent};
use crate::tree::Link;
use maud::{Markup, html};

/// Texts and columns of a table of contexts.
struct Columns<'a> {
    /// Text before the name of the first context.
    fold: &'static str,
    /// Text if there are no contexts.
    none: &'static str,
    /// Meaning of the indentation of names.
    indent: &'static str,
    /// Name and meaning of each number.
    heads: [[&'static str; 2]; 3],
    numbers: &'a dyn Fn(&ExpandedContext) -> [String; 3],
    /// Whether to show if the suspect is new in a context.
    has_status: bool,
}

/// Returns the callers that the suspect's difference comes from.
pub(super) fn callers(contexts: &Expansion) -> Markup {
    let columns = Columns {
        fold: "Called by ",
        none: "Nothing that calls it has a tenth of its difference or more.",
        indent: "further in: its caller",
        heads: [
            ["Difference", "of the function in this row, in this context"],
            ["Suspect’s difference", "called through these, down to here"],
            ["Suspect’s score", "that difference in standard deviations"],
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
    columns.table(contexts)
}

/// Returns the callees that the suspect's difference comes from.
pub(super) fn callees(contexts: &Expansion) -> Markup {
    let whole = contexts.contexts[0].difference;
    let columns = Columns {
        fold: "Calls ",
        none: "Nothing that it calls has a tenth of its difference or more.",
        indent: "further in: what it calls",
        heads: [
            ["Difference", "of the function in this row, in this context"],
            ["Part", "of the suspect’s difference"],
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
    columns.table(contexts)
}

impl Columns<'_> {
    fn table(&self, contexts: &Expansion) -> Markup {
        let Some(first) = contexts.contexts.get(1) else {
            return html! { p.soft { (self.none) } };
        };
        let more = contexts.contexts.len() - 2;
        html! {
            details.traces {
                summary {
                    (self.fold) (name(&first.function.function))
                    @if more > 0 { " and " (group_digits(more as u64)) " more" }
                }
                table.scores {
                    thead { tr {
                        th scope="col" { "Trace" small { (self.indent) } }
                        @for [head, meaning] in self.heads { (number_head(head, meaning)) }
                        @if self.has_status { th scope="col" { "Status" small { "of the suspect, here" } } }
                    } }
                    tbody {
                        // Consecutive folded contexts share a row.
                        @for row in contexts.contexts.chunk_by(|a, b| a.folded && b.folded) {
                            (self.row(row))
                        }
                    }
                }
            }
        }
    }

    /// Returns a row for one context, or for several folded contexts, whose numbers are similar.
    fn row(&self, contexts: &[ExpandedContext]) -> Markup {
        let context = &contexts[0];
        let links = || contexts.iter().map(|c| c.link(None)).collect::<Vec<Link>>();
        html! {
            tr {
                // The style sheet indents by depth.
                td class={ "d" (context.depth.min(MAX_INDENT)) } {
                    @if context.folded { (folded(&links())) } @else { (name(&context.function.function)) }
                }
                @for ([head, _], number) in self.heads.into_iter().zip((self.numbers)(context)) {
                    (cell(head, &number))
                }
                @if self.has_status { td data-label="Status" { (status(context.status)) } }
            }
        }
    }
}

/// Depth beyond which names are not indented further.
const MAX_INDENT: usize = 10;
