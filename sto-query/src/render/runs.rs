//! The runs of a store as a table.

use super::header::counted;
use super::numbers::grouped;
use super::series::minute;
use super::{Style, printable};
use crate::report::{ListedRun, RunsReport};
use std::fmt::Write;

/// Columns of a profile's id: enough to name it by.
const ID_WIDTH: usize = 12;

/// The report as text: one run a line, with its metrics.
pub fn text(report: &RunsReport, style: Style) -> String {
    let heading = format!(
        "{:16}  {:ID_WIDTH$} {:>11}  build, benchmark and metrics",
        "recorded", "profile", "samples"
    );
    let mut text = style.bold(&heading) + "\n";
    for run in &report.runs {
        let facts = format!(
            "{:16}  {:.ID_WIDTH$} {:>11}  ",
            minute(run.profile.recorded.as_deref()),
            run.profile.id,
            grouped(run.profile.samples),
        );
        let _ = writeln!(text, "{facts}{}", style.fit(&about(run), facts.len()));
    }
    if report.more > 0 {
        let _ = writeln!(
            text,
            "{} not shown",
            counted(report.more as u64, "more run")
        );
    }
    let runs = report.runs.len() + report.more;
    let _ = writeln!(text, "{}", counted(runs as u64, "run"));
    text
}

/// `demo@v1 (startup) seconds=1.83`.
fn about(run: &ListedRun) -> String {
    let mut about = format!("{}@{}", printable(&run.executable), printable(&run.build));
    if let Some(benchmark) = &run.profile.benchmark {
        let _ = write!(about, " ({})", printable(benchmark));
    }
    for (name, value) in &run.profile.metrics {
        let _ = write!(about, " {}={value}", printable(name));
    }
    about
}
