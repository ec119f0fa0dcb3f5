//! Where a function takes more than a share, as a table.

use super::header::counted;
use super::numbers::{grouped, percent};
use super::series::minute;
use super::{Style, printable};
use crate::report::WhereReport;
use std::fmt::Write;

/// The report as text: one run a line.
pub fn text(report: &WhereReport, style: Style) -> String {
    let head = format!(
        "{}: over {} of {} of {}",
        printable(&report.function),
        percent(report.over),
        counted(report.runs.len() as u64, "run"),
        grouped(report.looked_at as u64),
    );
    let mut text = style.bold(&head) + "\n";
    if report.runs.is_empty() {
        return text;
    }
    let heading = format!("{:>8} {:>9}  {:16}  build", "share", "samples", "recorded");
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    for found in &report.runs {
        let numbers = format!(
            "{:>8} {:>9}  {:16}  ",
            percent(found.share),
            grouped(found.samples),
            minute(found.run.recorded.as_deref()),
        );
        let mut name = format!(
            "{}@{}",
            printable(&found.executable),
            printable(&found.run.build)
        );
        if let Some(benchmark) = &found.benchmark {
            let _ = write!(name, " ({})", printable(benchmark));
        }
        let _ = writeln!(text, "{numbers}{}", style.fit(&name, numbers.len()));
    }
    text
}
