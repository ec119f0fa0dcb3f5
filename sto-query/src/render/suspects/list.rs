//! The list of suspects, and of functions with level shifts in earlier runs.

use super::{mean, runs_before, signed, suspect_id};
use crate::render::html::{name, number_head};
use crate::render::series::single_run_warning;
use crate::series::Status;
use crate::suspects::Suspects;
use crate::text::{Words, format_count};
use maud::{Markup, html};

/// Returns the table of suspects, with the meaning of each column.
pub(super) fn table(found: &Suspects, words: Words) -> Markup {
    if found.suspects.is_empty() {
        return html! {
            h3 { "Suspects" }
            p {
                "No function has a score of " (found.options.min_score)
                " or more that chance hardly explains."
            }
        };
    }
    let expected = format!(
        "mean of the {}; runs without it count as 0",
        runs_before(found)
    );
    let heads = [
        ("Expected", &*expected),
        ("Actual", "samples in a judged run, on average"),
        ("Difference", "actual less expected"),
        ("Own", "of that, in its own code"),
        ("Score", "difference in standard deviations of the window"),
        (
            "q",
            "share of false positives among functions at least as far",
        ),
    ];
    html! {
        h3 { "Suspects" }
        p {
            "A suspect is a function whose samples are farther from its mean in the window than chance \
             explains, given the number of functions (q of 5\u{a0}% at most). It probably caused the change, \
             or inherits it from callees, as a sample counts once for each function on its stack."
        }
        .find hidden {
            label {
                "Find "
                input type="search" spellcheck="false" autocomplete="off" placeholder="part of a name";
            }
            " " span.soft role="status" {} " "
            span.soft.keys {
                "Keys: " kbd { "/" } " find, " kbd { "j" } " and " kbd { "k" }
                " next and previous suspect, " kbd { "o" } " unfold it, " kbd { "Esc" } " show all"
            }
        }
        table.scores {
            thead { tr {
                th scope="col" { "Function" }
                @for (head, meaning) in heads { (number_head(head, meaning)) }
                th scope="col" { "Status" small { "new: first seen; gone: only before" } }
            } }
            tbody {
                @for (number, suspect) in (1..).zip(&found.suspects) {
                    @let score = &suspect.score;
                    @let cells = [
                        mean(score.expected),
                        mean(score.actual),
                        signed(score.difference),
                        signed(suspect.self_difference()),
                        signed(score.score),
                        rate(score.q),
                    ];
                    tr data-suspect=(suspect_id(number)) {
                        td {
                            (number) ". "
                            a href={ "#" (suspect_id(number)) } { (name(&score.function.function)) }
                        }
                        @for ((label, _), text) in heads.iter().zip(&cells) { (cell(label, text)) }
                        td data-label="Status" { (status(score.status)) }
                    }
                }
            }
        }
        @if found.omitted > 0 {
            p.soft {
                (format_count(found.omitted as u64, "more suspect")) " with less extreme scores; "
                code { (words.option) "limit" } " shows more."
            }
        }
    }
}

fn rate(q: Option<f64>) -> String {
    q.map_or_else(|| "–".to_owned(), crate::render::scores::probability)
}

/// Returns a cell with a number. Narrow layouts show `label` instead of the column's head.
pub(super) fn cell(label: &str, text: &str) -> Markup {
    html! { td.number data-label=(label) { (text) } }
}

/// Returns a mark for new and gone functions.
pub(super) fn status(status: Status) -> Markup {
    html! {
        @match status {
            Status::Known => {},
            Status::New => span.kind.worse { "new" },
            Status::Gone => span.kind.better { "gone" },
            Status::Moved => span.kind { "moved" },
        }
    }
}

/// Returns the functions that are not suspects but had a level shift in an earlier run.
pub(super) fn changed(found: &Suspects) -> Markup {
    let changes = found.changed.iter().flat_map(|function| {
        let name = &function.function.function;
        function.changes.iter().map(move |change| (name, change))
    });
    html! {
        @if !found.changed.is_empty() {
            h3 { "Level shifts in earlier runs" }
            p {
                "These are not suspects, as the judged runs are similar to the runs right before them. But their samples changed at an earlier run and stayed so. The largest change comes first."
            }
            table.scores.steps {
                thead { tr {
                    th scope="col" { "Function" }
                    th scope="col" { "Since" small { "first build and run after the change" } }
                    (number_head("Before", "mean samples, up to it"))
                    (number_head("After", "mean samples, from it on"))
                    (number_head("p", "probability of such a change by chance"))
                } }
                tbody {
                    @for (function, change) in changes {
                        tr {
                            td { (name(function)) }
                            td data-label="Since" {
                                (change.run.build)
                                @if let Some(recorded) = &change.run.recorded { " " small { (recorded) } }
                            }
                            (cell("Before", &mean(change.before)))
                            (cell("After", &mean(change.after)))
                            (cell("p", &format!("{:.0e}{}", change.p, single_run_warning(change))))
                        }
                    }
                }
            }
        }
    }
}
