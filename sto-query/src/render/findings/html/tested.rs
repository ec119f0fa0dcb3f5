//! The method and thresholds of a comparison.

use crate::compare::Comparison;
use crate::render::findings::notes::{notes, threshold};
use crate::render::html::options_table;
use crate::text::{Words, group_digits};
use maud::{Markup, html};
use sto_core::Hint;

pub(super) fn statistics_section(comparison: &Comparison, words: Words) -> Markup {
    let thresholds = &comparison.thresholds;
    let rows = [
        (
            "alpha",
            thresholds.alpha.to_string(),
            "The part of reported findings that may be chance: the largest q of a finding.",
        ),
        (
            "min-effect",
            threshold(thresholds.min_effect),
            "The smallest change that is reported, whether or not it is chance.",
        ),
        (
            "min-share",
            threshold(thresholds.min_share),
            "The smallest share of a side that a function must have to be reported.",
        ),
        (
            "min-samples",
            group_digits(thresholds.min_samples),
            "With fewer samples on a side, the verdict “clean” is not given.",
        ),
    ];
    let matching = &comparison.matching;
    html! {
        h3 { "How this was tested" }
        @if let Some(statistics) = &comparison.statistics {
            ul.notes { @for note in notes(comparison, statistics, words) { li { (note) } } }
        }
        (options_table("Threshold", words, &rows))
        p.soft {
            "Functions of the two builds are matched by their symbols without the parts that compilers \
             change (version " (matching.rules_version) " of the rules"
            @if let Some(explain) = words.name(Hint::ExplainMatch) {
                ", which " code { (explain) } " shows"
            }
            ")"
            @if matching.options.exact_symbols { "; here symbols had to be equal" }
            @if matching.options.ignore_template_arguments { ", and without template arguments" }
            "."
        }
        @if let Some(policy) = &comparison.policy {
            p.soft {
                "Thresholds and ignored findings are from the policy "
                code { (policy) } "."
            }
        }
        @if let Some(command) = comparison.command.line() {
            p.soft { "This comparison is reproduced by " code { (command) } }
        }
    }
}
