//! What became of metrics, in a line.

use crate::annotate::AnnotatedRuns;
use crate::text::{Style, counted};

/// The report as text.
pub fn text(report: &AnnotatedRuns, _: Style) -> String {
    let parts = [
        (report.new, "new"),
        (report.replaced, "replaced"),
        (report.unchanged, "known already"),
    ];
    let told = parts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let metrics = report.new + report.replaced + report.unchanged;
    match metrics {
        0 => "The file has no metrics.\n".to_owned(),
        _ => format!(
            "{} of {}: {}\n",
            counted(metrics as u64, "metric"),
            counted(report.runs as u64, "run"),
            told.join(", ")
        ),
    }
}
