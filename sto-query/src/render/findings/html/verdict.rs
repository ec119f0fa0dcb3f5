//! What a reader in a hurry sees: one word, one sentence, and the way to the rest.

use super::subject;
use crate::compare::{Comparison, Verdict};
use crate::render::findings::words::{is_weak, reason};
use crate::render::html::Html;

/// The verdict over all comparisons: the worst of them.
pub(super) fn overall(comparisons: &[Comparison]) -> &'static str {
    word(worst(comparisons))
}

fn worst(comparisons: &[Comparison]) -> Verdict {
    let any = |verdict| comparisons.iter().any(|c| c.verdict == verdict);
    match () {
        () if any(Verdict::Regression) => Verdict::Regression,
        () if any(Verdict::Insufficient) || comparisons.is_empty() => Verdict::Insufficient,
        () => Verdict::Clean,
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression => "Regression",
        Verdict::Clean => "Clean",
        Verdict::Insufficient => "Too little data",
    }
}

/// Opens an element of this verdict's colour.
fn open(html: &mut Html, verdict: Verdict) {
    html.raw("<span class=\"verdict ")
        .raw(match verdict {
            Verdict::Regression => "worse",
            Verdict::Clean => "fine",
            Verdict::Insufficient => "unsure",
        })
        .raw("\">");
}

/// The head of the page.
pub(super) fn write(html: &mut Html, comparisons: &[Comparison]) {
    let verdict = worst(comparisons);
    html.raw("<header>\n<h1>");
    open(html, verdict);
    html.text(word(verdict)).raw("</span>");
    weak(html, is_weak(comparisons));
    html.raw("</h1>\n<p class=\"reason\">")
        .text(&reason(comparisons))
        .raw("</p>\n");
    if comparisons.len() > 1 {
        contents(html, comparisons);
    }
    html.raw("</header>\n");
}

fn contents(html: &mut Html, comparisons: &[Comparison]) {
    html.raw("<ol class=\"contents\">\n");
    for (number, comparison) in (1_usize..).zip(comparisons) {
        html.raw("<li><a href=\"#comparison-")
            .text(&number.to_string())
            .raw("\">")
            .text(&subject(comparison))
            .raw("</a> ");
        open(html, comparison.verdict);
        html.text(word(comparison.verdict)).raw("</span></li>\n");
    }
    html.raw("</ol>\n");
}

/// The verdict of one of several comparisons.
pub(super) fn sentence(html: &mut Html, comparison: &Comparison) {
    html.raw("<p class=\"reason\">");
    open(html, comparison.verdict);
    html.text(word(comparison.verdict)).raw("</span>");
    weak(html, comparison.weak);
    html.raw(": ").text(&comparison.reason).raw("</p>\n");
}

fn weak(html: &mut Html, is_weak: bool) {
    if is_weak {
        html.raw(" <span class=\"weak\">weak evidence</span>");
    }
}
