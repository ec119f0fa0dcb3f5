//! What was drawn into a file, as text.

use super::header::header;
use crate::report::DrawingReport;
use crate::text::{Style, printable};

/// The file, and a line for each selection that was drawn.
pub fn text(report: &DrawingReport, style: Style) -> String {
    let mut text = format!("wrote {}\n", printable(&report.file));
    for subject in &report.subjects {
        text += &format!("  {}\n", header(subject, style));
    }
    text
}
