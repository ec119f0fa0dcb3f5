//! What was drawn into a file, as text.

use super::header::header;
use crate::answer::Answer;
use crate::text::{Style, printable};
use crate::tree::Subject;
use serde::{Deserialize, Serialize};

/// The file, and a line for each selection that was drawn.
pub fn text(report: &DrawnFile, style: Style) -> String {
    let mut text = format!("wrote {}\n", printable(&report.file));
    for subject in &report.subjects {
        text += &format!("  {}\n", header(subject, style).replace('\n', "\n  "));
    }
    text
}

/// What a drawing in a file shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DrawnFile {
    /// The file.
    pub file: String,
    /// What was drawn: one selection, or a baseline and a candidate.
    pub subjects: Vec<Subject>,
}

impl Answer for DrawnFile {
    const SCHEMA: &'static str = "sto.drawing/1";
}
