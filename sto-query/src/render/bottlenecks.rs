//! Functions whose cost correlates with a metric, as a table.

use crate::text::{Cell, Column, Style, Table, format_count, omitted_line, probability, title};
use sto_core::Hint;

use crate::correlate::{Bottlenecks, Combination};
use std::fmt::Write;

/// Returns the report as text, with one function per line.
pub fn text(report: &Bottlenecks, style: Style) -> String {
    let runs: usize = report
        .benchmarks
        .iter()
        .map(|benchmark| benchmark.runs)
        .sum();
    let head = format!(
        "{} samples and {} over {} of {}",
        report.by.name(),
        report.metric,
        format_count(runs as u64, "run"),
        format_count(report.benchmarks.len() as u64, "benchmark"),
    );
    let mut text = style.bold(&title(style, &head));
    if report.benchmarks.is_empty() {
        let _ = writeln!(
            text,
            "No benchmark has {} with this metric{}.",
            format_count(report.min_runs as u64, "run"),
            style
                .words
                .hint_phrase("; `", Hint::AttachMetric, "` attaches it")
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
    let mut table = Table::new(vec![
        Column::number(coefficient),
        Column::number("95 %").with_drop_rank(1),
        Column::number("q"),
        Column::text("function"),
    ]);
    for found in &report.functions {
        table.add_row(vec![
            Cell::from(format!("{:+.2}", found.coefficient)),
            Cell::from(format!("{:+.2}..{:+.2}", found.low, found.high)),
            Cell::from(probability(found.q)),
            Cell::function(&found.function.function),
        ]);
    }
    text += &format!("\n{}", table.render(style));
    text + &omitted_line(report.omitted, "function")
}
