//! Reports as text, JSON, SVG, HTML, and in the formats of CI systems: one file an output.
//!
//! Names in a profile are whatever a program, or whoever made the file, put there. Text and SVG
//! show them through [`printable`]; JSON has them as they are, escaped by the serializer.

pub mod annotate;
pub mod average;
pub mod bottlenecks;
pub mod calibrate;
pub mod candidates;
pub mod drawing;
pub mod expansion;
pub mod explain_match;
pub mod export;
mod findings;
pub mod flame;
mod header;
mod html;
pub mod ingest;
pub mod ls;
pub mod merge;
mod names;
mod numbers;
pub mod occurrences;
mod paragraph;
pub mod potential;
mod printable;
pub mod prune;
pub mod recorded;
pub mod rewrite;
pub mod runs;
pub mod scores;
pub mod series;
pub mod series_svg;
mod shell;
pub mod show;
pub mod source;
pub mod stats;
mod table;
pub mod tag;
pub mod top;
pub mod tree;
pub mod verify;
mod xml;

pub use findings::{
    Detail, check_text, findings_text, github, html, junit, markdown, sarif, verdict_text,
};
pub use printable::printable;
pub(crate) use printable::{display_width, shorten};

use serde::Serialize;

/// How text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Number of columns of the terminal; `None` shortens nothing, as for a pipe or a file.
    pub width: Option<usize>,
    /// Whether to use ANSI colours.
    pub color: bool,
}

impl Style {
    /// Makes a heading stand out.
    pub(crate) fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// Lets what matters less stand back.
    pub(crate) fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    /// Marks what got worse.
    pub(crate) fn worse(self, text: &str) -> String {
        self.sgr("1;31", text)
    }

    /// Marks what got better.
    pub(crate) fn better(self, text: &str) -> String {
        self.sgr("1;34", text)
    }

    fn sgr(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Columns of sentences: those of the terminal up to 100, as longer lines are hard to read; and 80 where
    /// the width is not limited.
    pub(crate) fn text_width(self) -> usize {
        self.width.unwrap_or(80).clamp(2 * MIN_NAME_WIDTH, 100)
    }

    /// Shortens text so that it ends at the right edge, if it begins at this column.
    pub(crate) fn fit(self, text: &str, column: usize) -> String {
        match self.width {
            Some(width) => shorten(text, width.saturating_sub(column).max(MIN_NAME_WIDTH)),
            None => text.to_owned(),
        }
    }
}

/// A name is never shortened below this, however narrow the terminal is.
const MIN_NAME_WIDTH: usize = 12;

/// A report as indented JSON, with a line feed at its end.
///
/// # Errors
/// Where the report's own serializer fails; those of this crate do not.
pub fn json(report: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut json = serde_json::to_string_pretty(report)?;
    json.push('\n');
    Ok(json)
}
