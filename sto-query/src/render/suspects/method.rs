//! The method and options by which suspects were found.

use crate::render::html::options_table;
use crate::suspects::Suspects;
use crate::text::{Words, percent};
use maud::{Markup, html};
use sto_core::Hint;

pub(super) fn method_section(found: &Suspects, words: Words) -> Markup {
    let options = &found.options;
    let rows = [
        (
            "window",
            options.window.to_string(),
            "Number of builds before the judged one that determine the expected samples.",
        ),
        (
            "min-share",
            percent(options.min_share),
            "Functions with a smaller share of each of these runs are left out.",
        ),
        (
            "min-score",
            options.min_score.to_string(),
            "Minimum score of a suspect.",
        ),
        (
            "limit",
            options.limit.to_string(),
            "Maximum number of suspects in the list.",
        ),
    ];
    html! {
        h3 { "How suspects were found" }
        ul.notes {
            li {
                "The samples of a function are those whose stacks contain it, each counted once even in a \
                 recursion."
            }
            li {
                "The score is the difference between actual and expected, divided by the standard \
                 deviation of the window. It favours functions that are usually steady. If the window does \
                 not vary at all, the deviation that sampling causes at the mean is used."
            }
            li {
                "Traces follow the contexts of a suspect one call at a time, for at most ten calls. \
                 Contexts with fewer samples than expected, or less than a tenth of the suspect’s \
                 difference, are left out, with those below them. Of the others, the three with the \
                 highest scores are followed in each step."
            }
            li {
                "A score is not a test: of many functions, some are far from expected by chance. So each is \
                 tested with Student’s t, where a build counts as one observation if builds differ more \
                 than their runs do, and q is p adjusted for the number of functions. "
                @if let Some(check) = words.name(Hint::Check) {
                    code { (check) } " compares two builds more closely."
                }
            }
        }
        (options_table("Option", words, &rows))
        @if let Some(command) = found.command.line() {
            p.soft { "This page is reproduced by " code { (command) } }
        }
    }
}
