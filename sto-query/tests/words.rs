//! Answers in the words of the command.

use crate::hints::WORDS;
use sto_query::render;
use sto_query::results::{Comparison, Suspects};
use sto_query::text::Style;

/// Text in a file.
pub(crate) fn plain() -> Style {
    Style {
        words: WORDS,
        ..Style::default()
    }
}

pub(crate) fn markdown(comparisons: &[Comparison]) -> String {
    render::markdown(comparisons, WORDS)
}

pub(crate) fn github(comparisons: &[Comparison]) -> String {
    render::github(comparisons, WORDS)
}

pub(crate) fn junit(comparisons: &[Comparison]) -> String {
    render::junit(comparisons, WORDS)
}

pub(crate) fn html(comparisons: &[Comparison]) -> String {
    render::html(comparisons, WORDS)
}

pub(crate) fn suspects_html(found: &Suspects) -> String {
    render::suspects::html(found, WORDS)
}
