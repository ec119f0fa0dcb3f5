//! A comparison as text: the verdict first, then causes with the callers that inherit them.

use super::notes::notes;
use super::steps::steps;
use super::words::{
    facts, interval, is_weak, not_counted, q, ratio, reason, verdict_word, weakness,
};
use crate::compare::{
    CallPath, Change, Comparison, Finding, FindingKind, Side, TestedFunction, Verdict,
};
use crate::render::header::counted;
use crate::render::numbers::{grouped, percent};
use crate::render::paragraph::{WIDTH, paragraph};
use crate::render::shell;
use crate::render::{Style, display_width, printable, shorten};
use crate::report::SampleTypeReport;
use std::fmt::Write;

/// Column where a side's facts begin.
const FACTS: usize = 11;
/// Column where the text of a finding begins.
const INDENT: usize = 3;
/// Column where a call path begins.
const PATH: usize = 35;
/// Functions at either end of a call path that are shown.
const PATH_ENDS: usize = 4;
/// Columns of an affected caller's name.
const CALLER_WIDTH: usize = 38;

/// The comparison as text, at most 80 columns wide as far as numbers allow.
pub fn findings_text(comparison: &Comparison, color: bool) -> String {
    let style = Style {
        width: Some(WIDTH),
        color,
    };
    let mut text = verdict_text(std::slice::from_ref(comparison), style);
    text.push('\n');
    for (label, value) in [
        ("BENCHMARK", &comparison.benchmark),
        ("POLICY", &comparison.policy),
    ] {
        if let Some(value) = value {
            text += &paragraph(&format!("{label:FACTS$}"), value, FACTS);
        }
    }
    text += &side(
        "BASELINE",
        &comparison.baseline,
        comparison.sample_type.as_ref(),
        style,
    );
    text += &side(
        "CANDIDATE",
        &comparison.candidate,
        comparison.sample_type.as_ref(),
        style,
    );
    for warning in &comparison.warnings {
        text += &paragraph("warning: ", warning, 9);
    }
    for (number, finding) in (1..).zip(&comparison.findings) {
        text.push('\n');
        text += &self::finding(number, finding, style);
    }
    if let Some(functions) = &comparison.functions {
        text += &all(functions, style);
    }
    if let Some(statistics) = &comparison.statistics {
        let _ = writeln!(text, "\n{}", style.bold("How this was tested"));
        for note in notes(comparison, statistics) {
            text += &paragraph("- ", &note, 2);
        }
    }
    text
}

/// The verdict over all comparisons, with its reason: a paragraph.
pub fn verdict_text(comparisons: &[Comparison], style: Style) -> String {
    let verdict = Verdict::over(comparisons);
    let word = verdict_word(verdict);
    let head = format!("{word}{}: ", weakness(is_weak(comparisons)));
    let sentence = paragraph(&head, &reason(comparisons), 0);
    // The mark goes in after the lines are broken, as it takes no columns.
    mark(verdict)(style, word) + sentence.strip_prefix(word).unwrap_or(&sentence)
}

/// What marks a verdict.
pub(super) fn mark(verdict: Verdict) -> fn(Style, &str) -> String {
    match verdict {
        Verdict::Regression => Style::worse,
        Verdict::Clean | Verdict::Insufficient => Style::bold,
    }
}

fn side(label: &str, side: &Side, sample_type: Option<&SampleTypeReport>, style: Style) -> String {
    let name = format!("{}@{}", printable(&side.executable), printable(&side.build));
    let name = style.bold(&shorten(&name, WIDTH - FACTS));
    let indent = " ".repeat(FACTS);
    let facts = paragraph(&indent, &facts(side, sample_type), FACTS);
    format!("{}{name}\n{facts}", style.bold(&format!("{label:FACTS$}")))
}

fn finding(number: usize, finding: &Finding, style: Style) -> String {
    let kind = finding.kind.name();
    let mark = match finding.kind {
        FindingKind::Regression | FindingKind::New => Style::worse,
        FindingKind::Moved => Style::bold,
        FindingKind::Improvement | FindingKind::Gone => Style::better,
    };
    let ignored = finding.ignored.as_ref().map_or("", |_| ", ignored");
    let head = format!("{number}. {kind}{ignored}  ");
    let function = shorten(&printable(&finding.function), WIDTH - display_width(&head));
    let mut text = format!(
        "{number}. {}{ignored}  {}\n",
        mark(style, kind),
        style.bold(&function)
    );

    if let Some(why) = not_counted(finding) {
        text += &paragraph(&" ".repeat(INDENT), &why, INDENT);
    }
    let place = finding.place();
    let place = [Some(&*finding.module), place.as_deref()];
    let place: Vec<&str> = place
        .into_iter()
        .flatten()
        .filter(|name| !name.is_empty())
        .collect();
    if !place.is_empty() {
        let place = shorten(&printable(&place.join(", ")), WIDTH - INDENT);
        let _ = writeln!(text, "{:INDENT$}{}", "", style.dim(&place));
    }
    text += &paragraph(&" ".repeat(INDENT), &finding.reason, INDENT);

    text += &changes(
        [&finding.self_, &finding.attributed_self, &finding.total],
        style,
    );

    if !finding.call_paths.is_empty() {
        let _ = writeln!(text, "{:INDENT$}by call path:", "");
    }
    for path in &finding.call_paths {
        text += &call_path(path);
    }
    if finding.more_call_paths > 0 {
        let more = counted(finding.more_call_paths as u64, "more path");
        let _ = writeln!(text, "{:PATH$}and {more} that changed alike", "");
    }
    if !finding.affected_callers.is_empty() {
        let _ = writeln!(text, "{:INDENT$}inherited by its callers:", "");
    }
    for caller in &finding.affected_callers {
        let name = shorten(&printable(&caller.function), CALLER_WIDTH);
        let padding = CALLER_WIDTH - display_width(&name);
        let _ = writeln!(
            text,
            "{:5}{name}{:padding$} {:>8} -> {:>8}{:>13}",
            "",
            "",
            percent(caller.baseline_share),
            percent(caller.candidate_share),
            ratio(caller.change, caller.candidate_share > 0.0),
        );
    }
    text + &shell::command("   the rest: ", &finding.command, 5)
}

/// What it costs, then the path, as many lines as that takes.
fn call_path(path: &CallPath) -> String {
    let head = format!(
        "{:>12} -> {:>8}{:>9}  ",
        percent(path.baseline_share),
        percent(path.candidate_share),
        ratio(path.change, path.candidate_samples > 0),
    );
    paragraph(&head, &steps(path, PATH_ENDS, WIDTH - PATH - 2), PATH)
}

/// A table of self, attributed self (where it differs) and total.
fn changes([own, attributed, total]: [&Change; 3], style: Style) -> String {
    let heading = format!(
        "{:INDENT$}{:<10}{:>18}{:>18}{:>8}{:>16}{:>7}",
        "", "", "baseline", "candidate", "change", "interval", "q"
    );
    let mut text = style.dim(&heading) + "\n";
    let samples = |change: &Change| (change.baseline_samples, change.candidate_samples);
    if samples(own) == samples(attributed) {
        text += &change("self", attributed);
    } else {
        text += &change("self", own);
        text += &change("attributed", attributed);
    }
    text + &change("total", total)
}

/// Every function that was tested.
fn all(functions: &[TestedFunction], style: Style) -> String {
    let heading = format!("All functions that were tested ({})", functions.len());
    let mut text = format!("\n{}\n", style.bold(&heading));
    for function in functions {
        let name = shorten(&printable(&function.function), WIDTH - INDENT);
        let _ = writeln!(text, "\n{}", style.bold(&name));
        text += &changes(
            [&function.self_, &function.attributed_self, &function.total],
            style,
        );
    }
    text
}

fn change(label: &str, change: &Change) -> String {
    let ratio = ratio(change.change, change.candidate_samples > 0);
    let interval = interval(change);
    let q = q(change);
    format!(
        "{:INDENT$}{label:<10}{:>7}{:>11}{:>8}{:>10}{ratio:>8}{interval:>16}{q:>7}\n",
        "",
        percent(change.baseline_share),
        grouped(change.baseline_samples),
        percent(change.candidate_share),
        grouped(change.candidate_samples),
    )
}
