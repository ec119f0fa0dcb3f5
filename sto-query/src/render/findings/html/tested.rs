//! How a comparison was tested, and by which thresholds.

use crate::compare::Comparison;
use crate::render::findings::notes::{notes, threshold};
use crate::render::html::{Html, options_table};
use crate::text::numbers::grouped;

pub(super) fn write(html: &mut Html, comparison: &Comparison) {
    html.raw("<h3>How this was tested</h3>\n");
    if let Some(statistics) = &comparison.statistics {
        html.raw("<ul class=\"notes\">\n");
        for note in notes(comparison, statistics) {
            html.raw("<li>").text(&note).raw("</li>\n");
        }
        html.raw("</ul>\n");
    }
    let thresholds = &comparison.thresholds;
    let rows = [
        (
            "--alpha",
            thresholds.alpha.to_string(),
            "Of what is reported, the part that may be chance: the largest q of a finding.",
        ),
        (
            "--min-effect",
            threshold(thresholds.min_effect),
            "The smallest change that is reported, whether or not it is chance.",
        ),
        (
            "--min-share",
            threshold(thresholds.min_share),
            "The smallest share of a side that a function must have to be reported.",
        ),
        (
            "--min-samples",
            grouped(thresholds.min_samples),
            "With fewer samples on a side, the verdict “clean” is not given.",
        ),
    ];
    options_table(html, "Threshold", &rows);
    html.raw("<p class=\"soft\">Functions of the two builds are one where their ")
        .raw("symbols are, without what compilers change (version ")
        .text(&comparison.matching.rules_version.to_string())
        .raw(" of the rules, which <code>sto explain-match</code> shows)");
    if comparison.matching.options.exact_symbols {
        html.raw("; here symbols had to be equal");
    }
    if comparison.matching.options.ignore_template_arguments {
        html.raw(", and without template arguments");
    }
    if let Some(policy) = &comparison.policy {
        html.raw(".</p>\n<p class=\"soft\">Thresholds, and findings that do not count, are those of the ")
            .raw("policy <code>")
            .text(policy)
            .raw("</code>");
    }
    html.raw(".</p>\n<p class=\"soft\">This comparison is made again by <code>")
        .text(&comparison.command.to_string())
        .raw("</code></p>\n");
}
