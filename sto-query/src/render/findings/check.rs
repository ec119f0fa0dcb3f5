//! Several benchmarks as text: the verdict over all, a line for each, and then each in full.

use super::text::{Detail, findings_text, mark, verdict_text};
use super::words::verdict_word;
use crate::check::Check;
use crate::compare::{Comparison, Verdict};
use crate::text::{Cell, Column, Style, Table, printable};

/// Columns of a benchmark's name.
const LONGEST_NAME: usize = 30;

/// The check as text; one comparison alone is [`findings_text`].
pub fn check_text(check: &Check, style: Style, detail: Detail) -> String {
    if let [only] = &check.comparisons[..] {
        return findings_text(only, style, detail);
    }
    let mut text = verdict_text(&check.comparisons, style);
    text.push('\n');
    text += &verdicts(&check.comparisons).render(style);
    for comparison in &check.comparisons {
        let heading = format!("=== {} ===", printable(comparison.benchmark_name()));
        text += &format!("\n{}\n\n", style.bold(&style.fit(&heading, 0)));
        text += &findings_text(comparison, style, detail);
    }
    text
}

/// A row for each benchmark; after a regression its most likely cause.
fn verdicts(comparisons: &[Comparison]) -> Table {
    let mut table = Table::new(vec![
        Column::text("verdict"),
        Column::text("benchmark").at_most(LONGEST_NAME),
        Column::text("cause"),
    ]);
    for comparison in comparisons {
        let cause = match (comparison.verdict, comparison.findings.first()) {
            (Verdict::Regression, Some(finding)) => finding.function.as_str(),
            _ => "",
        };
        table.row(vec![
            Cell::from(verdict_word(comparison.verdict)).marked(mark(comparison.verdict)),
            Cell::from(comparison.benchmark_name()),
            Cell::from(cause),
        ]);
    }
    table
}
