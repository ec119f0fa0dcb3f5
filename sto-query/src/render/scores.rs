//! The functions of one run against those before it, as a table.

use super::Style;
use super::header::counted;
use super::numbers::grouped;
use super::paragraph::{paragraph, title};
use super::series::{minute, subject};
use super::table::{Cell, Column, Table};
use crate::report::{ChangePointReport, ScoresReport};
use std::fmt::Write;

/// The report as text: one function a line, and under it where it changed for good.
pub fn text(report: &ScoresReport, style: Style) -> String {
    let runs = counted(report.history.runs as u64, "run");
    let mut text = format!("{}\n", style.bold(&subject(&report.history, &runs)));
    let judged = format!(
        "Judged: {} {}, against the {} before it",
        minute(report.run.recorded.as_deref()),
        report.run.build,
        counted(report.window as u64, "run"),
    );
    text += &title(style, &judged);
    if report.window < 2 {
        text += "Two runs before it, at least, are needed to know what to expect.\n";
        return text;
    }
    if report.functions.is_empty() {
        text += "No function is far from what is expected, and none changed for good.\n";
        return text;
    }
    let mut table = Table::new(vec![
        Column::number("expected").dispensable(3),
        Column::number("actual").dispensable(2),
        Column::number("diff"),
        Column::number("score"),
        Column::text("status").dispensable(1),
        Column::text("function"),
    ]);
    for function in &report.functions {
        table.row(vec![
            Cell::from(format!("{:.1}", function.expected)),
            Cell::from(grouped(function.actual as u64)),
            Cell::from(format!("{:+.1}", function.difference)),
            Cell::from(format!("{:.1}", function.score)),
            Cell::from(function.status.word()),
            Cell::from(&function.function.function),
        ]);
        for change in &function.changes {
            let lines = changed(change, style);
            lines.lines().for_each(|line| table.line(style.dim(line)));
        }
    }
    text += &format!("\n{}", table.render(style));
    if report.omitted > 0 {
        let _ = writeln!(
            text,
            "{} not shown",
            counted(report.omitted as u64, "more function")
        );
    }
    text
}

fn changed(change: &ChangePointReport, style: Style) -> String {
    let sentence = format!(
        "changed for good with {} ({}): {:.1} -> {:.1}, p {:.0e}",
        change.run.build,
        minute(change.run.recorded.as_deref()),
        change.before,
        change.after,
        change.p,
    );
    paragraph(style, "    ", &sentence, 4)
}
