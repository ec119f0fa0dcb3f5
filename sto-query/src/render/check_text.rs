//! Several benchmarks as text: the verdict over all, a line for each, and then each in full.

use super::findings_text::{WIDTH, findings_text, paragraph, shout};
use super::{Style, display_width, printable, shorten};
use crate::compare::{Check, Comparison};

/// Columns of a verdict in capitals, with a space behind it.
const VERDICT: usize = 17;

/// The check as text; one comparison alone is [`findings_text`].
pub fn check_text(check: &Check, color: bool) -> String {
    if let [only] = &check.comparisons[..] {
        return findings_text(only, color);
    }
    let style = Style {
        width: Some(WIDTH),
        color,
    };
    let (word, mark) = shout(check.verdict);
    let sentence = paragraph(&format!("{word}: "), &check.reason, 0);
    let mut text = mark(style, word) + sentence.strip_prefix(word).unwrap_or(&sentence);
    text.push('\n');
    for comparison in &check.comparisons {
        text += &line(comparison, style);
    }
    for comparison in &check.comparisons {
        let name = printable(comparison.benchmark_name());
        let heading = format!("=== {} ===", shorten(&name, WIDTH - 8));
        text += &format!("\n{}\n\n", style.bold(&heading));
        text += &findings_text(comparison, color);
    }
    text
}

fn line(comparison: &Comparison, style: Style) -> String {
    let (word, mark) = shout(comparison.verdict);
    let name = shorten(&printable(comparison.benchmark_name()), WIDTH - VERDICT - 2);
    let padding = " ".repeat(VERDICT - display_width(word));
    format!("  {}{padding}{name}\n", mark(style, word))
}
