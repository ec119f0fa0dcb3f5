//! Runs in which a function exceeds a share, as a table.

use super::header::functions;
use super::series::minute;
use crate::history::Occurrences;
use crate::text::{Cell, Column, Style, Table, counted, grouped, percent, title};

/// Returns the report as text, with one run per line.
pub fn text(report: &Occurrences, style: Style) -> String {
    let names: Vec<&str> = report.functions.iter().map(String::as_str).collect();
    let function = functions(&names);
    let head = format!(
        "{function}: over {} of {} of {}",
        percent(report.over),
        counted(report.runs.len() as u64, "run"),
        grouped(report.looked_at as u64),
    );
    let mut text = style.bold(&title(style, &head));
    if report.runs.is_empty() {
        return text;
    }
    let mut table = Table::new(vec![
        Column::number("share"),
        Column::number("samples").dispensable(2),
        Column::text("recorded").dispensable(1),
        Column::text("build"),
    ]);
    for found in &report.runs {
        let benchmark = found.benchmark.iter();
        let benchmark: String = benchmark.map(|name| format!(" ({name})")).collect();
        table.row(vec![
            Cell::from(percent(found.share)),
            Cell::from(grouped(found.samples)),
            Cell::from(minute(found.run.recorded.as_deref())),
            Cell::from(format!(
                "{}@{}{benchmark}",
                found.executable, found.run.build
            )),
        ]);
    }
    text += &format!("\n{}", table.render(style));
    text
}
