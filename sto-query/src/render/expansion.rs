//! The contexts of a function, as an indented table.

use super::header::counted;
use super::series::{minute, subject};
use super::{Style, printable};
use crate::report::{ExpansionReport, Method};
use std::fmt::Write;

/// The report as text: one branch a line, indented by how far it grew.
pub fn text(report: &ExpansionReport, style: Style) -> String {
    let runs = counted(report.history.runs as u64, "run");
    let head = format!(
        "{} of {} in {}",
        report.direction,
        printable(&report.function.function),
        subject(&report.history, &runs)
    );
    let mut text = style.bold(&head) + "\n";
    let _ = writeln!(
        text,
        "Judged: {} {}, against the {} before it",
        minute(report.run.recorded.as_deref()),
        printable(&report.run.build),
        counted(report.window as u64, "run"),
    );
    let rank = match report.method {
        Method::Greedy | Method::Informed => "rank",
        Method::Correlation => "r",
    };
    let heading = format!(
        "{:>9} {:>10} {:>8} {rank:>6}  {:6}  function",
        "diff", "candidate", "score", "status"
    );
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    for context in &report.contexts {
        let status = context.status.word();
        let rank = format!("{:.2}", context.rank);
        let numbers = format!(
            "{:>+9.1} {:>+10.1} {:>8.1} {rank:>6}  {status:6}  {:indent$}",
            context.difference,
            context.candidate_difference,
            context.candidate_score,
            "",
            indent = 2 * context.depth,
        );
        let name = style.fit(&printable(&context.function.function), numbers.len());
        let _ = writeln!(text, "{numbers}{name}");
    }
    text
}
