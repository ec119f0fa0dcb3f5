//! The verdict: a word and a sentence.

use super::subject;
use crate::compare::{Comparison, Verdict};
use crate::render::findings::words::{has_weak_evidence, is_weak, reason};
use maud::{Markup, html};

/// Returns a verdict in words.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression => "Regression",
        Verdict::Clean => "Clean",
        Verdict::Insufficient => "Too little data",
    }
}

/// Returns the word in the colour of the verdict.
fn colored(verdict: Verdict) -> Markup {
    let color = match verdict {
        Verdict::Regression => "worse",
        Verdict::Clean => "fine",
        Verdict::Insufficient => "unsure",
    };
    html! { span.verdict.(color) { (word(verdict)) } }
}

/// Returns the head of the page.
pub(super) fn head(comparisons: &[Comparison]) -> Markup {
    html! {
        header {
            h1 { (colored(Verdict::combine(comparisons))) (weak(is_weak(comparisons))) }
            p.reason { (reason(comparisons)) }
            @if comparisons.len() > 1 {
                ol.contents {
                    @for (number, comparison) in (1_usize..).zip(comparisons) {
                        li {
                            a href={ "#comparison-" (number) } { (subject(comparison)) } " "
                            (colored(comparison.verdict))
                        }
                    }
                }
            }
        }
    }
}

/// Returns the verdict on one of several comparisons.
pub(super) fn sentence(comparison: &Comparison) -> Markup {
    html! {
        p.reason {
            (colored(comparison.verdict)) (weak(has_weak_evidence(comparison))) ": " (comparison.reason)
        }
    }
}

fn weak(is_weak: bool) -> Markup {
    html! { @if is_weak { " " span.weak { "weak evidence" } } }
}
