//! The functions of one run against those before it, as a table.

use super::header::counted;
use super::numbers::grouped;
use super::series::{minute, subject};
use super::{Style, printable};
use crate::report::{ScoreReport, ScoresReport};
use std::fmt::Write;

/// The report as text: one function a line, and under it where it changed for good.
pub fn text(report: &ScoresReport, style: Style) -> String {
    let runs = counted(report.history.runs as u64, "run");
    let mut text = format!("{}\n", style.bold(&subject(&report.history, &runs)));
    let judged = format!(
        "Judged: {} {}, against the {} before it",
        minute(report.run.recorded.as_deref()),
        printable(&report.run.build),
        counted(report.window as u64, "run"),
    );
    let _ = writeln!(text, "{judged}");
    if report.window < 2 {
        text += "Two runs before it, at least, are needed to know what to expect.\n";
        return text;
    }
    if report.functions.is_empty() {
        text += "No function is far from what is expected, and none changed for good.\n";
        return text;
    }
    let heading = format!(
        "{:>10} {:>8} {:>9} {:>7}  {:6}  function",
        "expected", "actual", "diff", "score", "status"
    );
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    for function in &report.functions {
        text += &row(function, style);
    }
    if report.omitted > 0 {
        let _ = writeln!(
            text,
            "{} not shown",
            counted(report.omitted as u64, "more function")
        );
    }
    text
}

fn row(function: &ScoreReport, style: Style) -> String {
    let status = function.status.word();
    let numbers = format!(
        "{:>10.1} {:>8} {:>+9.1} {:>7.1}  {status:6}  ",
        function.expected,
        grouped(function.actual as u64),
        function.difference,
        function.score,
    );
    let name = style.fit(&printable(&function.function.function), numbers.len());
    let mut text = format!("{numbers}{name}\n");
    for change in &function.changes {
        let line = format!(
            "{:12}changed for good with {} ({}): {:.1} -> {:.1}, p {:.0e}",
            "",
            printable(&change.run.build),
            minute(change.run.recorded.as_deref()),
            change.before,
            change.after,
            change.p,
        );
        let _ = writeln!(text, "{}", style.dim(&line));
    }
    text
}
