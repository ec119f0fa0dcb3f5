//! The runs of a store, as a table.

use super::ls::short_id;
use super::series::minute;
use crate::listing::{ListedRun, RunList};
use crate::text::{Cell, Column, Style, Table, format_count, group_digits, omitted_line};
use std::fmt::Write;

/// Returns the report as text: one run per line, with its labels and metrics.
pub fn text(report: &RunList, style: Style) -> String {
    let mut table = Table::new(vec![
        Column::text("recorded").with_drop_rank(2),
        Column::text("profile"),
        Column::number("samples").with_drop_rank(1),
        Column::text("build, benchmark, labels and metrics"),
    ]);
    for run in &report.runs {
        table.add_row(vec![
            Cell::from(minute(run.profile.recorded.as_deref())),
            Cell::from(short_id(&run.profile.id)),
            Cell::from(group_digits(run.profile.samples)),
            Cell::from(about(run)),
        ]);
    }
    let text = table.render(style) + &omitted_line(report.more, "run");
    let runs = report.runs.len() + report.more;
    text + &format_count(runs as u64, "run") + "\n"
}

/// Formats `demo@v1 (startup) cpu=7950x seconds=1.83`.
fn about(run: &ListedRun) -> String {
    let mut about = format!("{}@{}", run.executable, run.build);
    if let Some(benchmark) = &run.profile.benchmark {
        let _ = write!(about, " ({})", benchmark);
    }
    for (name, value) in &run.profile.labels {
        let _ = write!(about, " {name}={value}");
    }
    for (name, value) in &run.profile.metrics {
        let _ = write!(about, " {}={value}", name);
    }
    about
}
