//! Runs in which a function exceeds a share, as a table.

use super::header::functions;
use super::series::minute;
use crate::history::Occurrences;
use crate::text::{Cell, Column, Style, Table, format_count, group_digits, percent, title};

/// Returns the report as text, with one run per line.
pub fn text(report: &Occurrences, style: Style) -> String {
    let names: Vec<&str> = report.functions.iter().map(String::as_str).collect();
    let function = functions(&names);
    let head = format!(
        "{function}: over {} of {} of {}",
        percent(report.over),
        format_count(report.runs.len() as u64, "run"),
        group_digits(report.looked_at as u64),
    );
    let mut text = style.bold(&title(style, &head));
    if report.runs.is_empty() {
        return text;
    }
    let mut table = Table::new(vec![
        Column::number("share"),
        Column::number("samples").with_drop_rank(2),
        Column::text("recorded").with_drop_rank(1),
        Column::text("build"),
    ]);
    for found in &report.runs {
        let benchmark = found.benchmark.iter();
        let benchmark: String = benchmark.map(|name| format!(" ({name})")).collect();
        table.add_row(vec![
            Cell::from(percent(found.share)),
            Cell::from(group_digits(found.samples)),
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
