//! Several benchmarks as text: the verdict over all, a line for each, and then each in full.

use super::text::{findings_text, mark, verdict_text};
use super::words::verdict_word;
use crate::compare::{Check, Comparison, Verdict};
use crate::render::paragraph::WIDTH;
use crate::render::{Style, display_width, printable, shorten};

/// Columns of a verdict in capitals, with a space behind it.
const VERDICT: usize = 17;
/// Columns of a benchmark's name.
const LONGEST_NAME: usize = 30;

/// The check as text; one comparison alone is [`findings_text`].
pub fn check_text(check: &Check, color: bool) -> String {
    if let [only] = &check.comparisons[..] {
        return findings_text(only, color);
    }
    let style = Style {
        width: Some(WIDTH),
        color,
    };
    let mut text = verdict_text(&check.comparisons, style);
    text.push('\n');
    let names = check.comparisons.iter().map(name);
    let widest = names.map(|name| display_width(&name)).max().unwrap_or(0);
    for comparison in &check.comparisons {
        text += &line(comparison, widest, style);
    }
    for comparison in &check.comparisons {
        let heading = format!("=== {} ===", name(comparison));
        text += &format!("\n{}\n\n", style.bold(&heading));
        text += &findings_text(comparison, color);
    }
    text
}

fn line(comparison: &Comparison, widest: usize, style: Style) -> String {
    let word = verdict_word(comparison.verdict);
    let name = name(comparison);
    let after_word = VERDICT - display_width(word);
    let after_name = widest - display_width(&name) + 2;
    // The first finding is the most likely cause.
    let cause = match (comparison.verdict, comparison.findings.first()) {
        (Verdict::Regression, Some(finding)) => finding.function.as_str(),
        _ => "",
    };
    let cause = shorten(&printable(cause), WIDTH - VERDICT - widest - 4);
    let line = format!(
        "  {}{:after_word$}{name}{:after_name$}{cause}",
        mark(comparison.verdict)(style, word),
        "",
        "",
    );
    format!("{}\n", line.trim_end())
}

fn name(comparison: &Comparison) -> String {
    shorten(&printable(comparison.benchmark_name()), LONGEST_NAME)
}
