//! Rendering with test words: hints are their names, and commands are filled in.

use sto_query::render;
use sto_query::results::{Comparison, Suspects};
use sto_query::text::{Command, Style, Words};

pub(crate) const WORDS: Words = Words {
    hint: |hint| format!("{hint:?}").leak(),
    option: "--",
};

/// Returns a command of these words.
pub(crate) fn command(words: &[&str]) -> Command {
    Command {
        words: words.iter().map(|&word| word.to_owned()).collect(),
    }
}

/// The style of text in a file.
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
