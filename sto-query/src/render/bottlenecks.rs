//! Functions whose cost goes with a metric, as a table.

use super::header::counted;
use super::numbers::probability;
use super::{Style, printable};
use crate::correlate::Combination;
use crate::report::BottlenecksReport;
use std::fmt::Write;

/// The report as text: one function a line.
pub fn text(report: &BottlenecksReport, style: Style) -> String {
    let runs: usize = report
        .benchmarks
        .iter()
        .map(|benchmark| benchmark.runs)
        .sum();
    let head = format!(
        "{} samples and {} over {} of {}",
        report.by,
        printable(&report.metric),
        counted(runs as u64, "run"),
        counted(report.benchmarks.len() as u64, "benchmark"),
    );
    let mut text = style.bold(&head) + "\n";
    if report.benchmarks.is_empty() {
        let _ = writeln!(
            text,
            "No benchmark has {} with this metric; `sto ingest --metric NAME=NUMBER` attaches it.",
            counted(report.min_runs as u64, "run")
        );
        return text;
    }
    if report.functions.is_empty() {
        text += "No function occurs often enough and varies.\n";
        return text;
    }
    let coefficient = match (report.benchmarks.len(), report.combination) {
        (1, _) => "r",
        (_, Combination::Mean) => "mean r",
        (_, Combination::Max) => "max r",
    };
    let heading = format!("{coefficient:>6}  {:>14} {:>7}  function", "95 %", "q");
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    for found in &report.functions {
        let interval = format!("{:+.2}..{:+.2}", found.low, found.high);
        let q = probability(found.q);
        let numbers = format!("{:>+6.2}  {interval:>14} {q:>7}  ", found.coefficient);
        let name = style.fit(&printable(&found.function.function), numbers.len());
        let _ = writeln!(text, "{numbers}{name}");
    }
    if report.omitted > 0 {
        let omitted = counted(report.omitted as u64, "more function");
        let _ = writeln!(text, "{omitted} not shown");
    }
    text
}
