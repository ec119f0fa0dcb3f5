//! Confirmation that a drawing was written to a file.

use super::header::header;
use crate::answer::Answer;
use crate::text::{Style, paragraph, printable};
use crate::tree::Subject;
use serde::Serialize;

/// Returns the report as text: the file, and a line for each selection that was drawn.
pub fn text(report: &DrawnFile, style: Style) -> String {
    let mut text = format!("wrote {}\n", printable(&report.file));
    for subject in &report.subjects {
        text += &format!("  {}\n", header(subject, style).replace('\n', "\n  "));
    }
    if let Some(sentence) = &report.new_outliers {
        text += &paragraph(style, "  ", sentence, 2);
    }
    text
}

/// A drawing that was written to a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DrawnFile {
    /// The path of the file.
    pub file: String,
    /// The selections that were drawn: one, or a baseline and a candidate.
    pub subjects: Vec<Subject>,
    /// A sentence about functions whose calls took unusually long only in the candidate; `null` if
    /// there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_outliers: Option<String>,
}

impl Answer for DrawnFile {
    const SCHEMA: &'static str = "sto.drawing/1";
}
