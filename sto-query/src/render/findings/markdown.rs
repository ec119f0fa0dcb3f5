//! Findings as Markdown, for step summaries and comments on GitHub, GitLab and similar services.

use super::curves::{self, Curve};
use super::metrics;
use super::notes::notes;
use super::steps::steps;
use super::words::{
    Assumed, Costs, MAX_IN_FULL, ROWS, RankedFinding, UNDECIDED, assumptions, basis, facts, group,
    has_weak_evidence, ignore_reason, interval, is_weak, label, q, rank_findings, ratio, reason,
    side_name, verdict_word, warnings, weakness,
};
use crate::compare::{Comparison, Finding, Verdict};
use crate::text::{Command, Words, format_count, percent, printable, shorten};
use std::fmt::Write;
use sto_core::Hint;

/// Maximum size in bytes. A comment on GitHub has at most 65,536 characters, a step summary 1 MiB.
/// This leaves room for text that a workflow adds.
const MAX_BYTES: usize = 60_000;
/// Bytes reserved for the truncation notice.
const RESERVED: usize = 500;
/// Maximum number of rows in a table.
const MAX_ROWS: usize = 50;
/// Maximum width of a name. The command contains the full name.
const NAME_WIDTH: usize = 120;
/// Maximum number of functions at either end of a call path.
const PATH_ENDS: usize = 8;

/// Returns the comparisons as Markdown of at most 60,000 bytes: the verdict, a table of findings,
/// and the details of each finding, collapsed. Regressions come first. Whatever does not fit is
/// counted.
pub fn markdown(comparisons: &[Comparison], words: Words) -> String {
    let mut page = Page {
        text: verdict(comparisons),
        words,
    };
    let warnings = warnings(comparisons);
    let warnings_left_out = page.pieces(warnings.iter().map(|warning| {
        let benchmark = code(label(warning.comparison));
        format!("- Warning ({benchmark}): {}\n", prose(warning.text))
    }));
    if !warnings.is_empty() {
        page.text.push('\n');
    }
    let is_one = comparisons.len() == 1;
    if !is_one {
        let head = "| benchmark | verdict | |\n|---|---|---|\n";
        let rows = comparisons.iter().map(benchmark_row);
        page.table(head, rows, "benchmark");
    }
    let (heading, line) = if is_one {
        ("", "")
    } else {
        (" benchmark |", "---|")
    };
    let metrics: Vec<_> = comparisons
        .iter()
        .flat_map(|comparison| {
            let rows = metrics::rows(comparison).into_iter();
            rows.map(move |row| metric_row(comparison, &row, is_one))
        })
        .collect();
    if !metrics.is_empty() {
        let head = format!(
            "| each run |{heading} before | now | change | | |\n|---|{line}---:|---:|---:|---|---|\n"
        );
        page.table(&head, metrics.into_iter(), "metric");
    }
    let curves: Vec<String> = comparisons.iter().flat_map(curves).collect();
    let curves_left_out = page.pieces(curves.iter().cloned());
    if !curves.is_empty() {
        page.text.push('\n');
    }
    let findings = rank_findings(comparisons);
    let mut rows_left = ROWS;
    let mut shown = findings.clone();
    shown.retain(|ranked| {
        let left = &mut rows_left[group(ranked.finding)];
        let is_shown = *left > 0;
        *left = left.saturating_sub(1);
        is_shown
    });
    if !findings.is_empty() {
        let head = format!(
            "| |{heading} function | a run | share before | share now | change | interval | q |\n\
             |---|{line}---|---:|---:|---:|---:|---:|---:|\n"
        );
        let rows: Vec<String> = shown.iter().map(|&f| finding_row(f, is_one)).collect();
        page.table(&head, rows.into_iter(), "finding");
    }
    let more = findings.len() - shown.len();
    if more > 0 {
        let more = format_count(more as u64, "more finding");
        let _ = writeln!(
            page.text,
            "… and {more}{}.\n",
            words.hint_phrase(", which `", Hint::CheckInFull, "` lists")
        );
    }
    for comparison in comparisons {
        for Assumed { found, head } in assumptions(comparison, words) {
            let named = |finding: &&Finding| {
                let change = basis(finding);
                let is_now = change.candidate_samples > 0;
                let function = code(&finding.short_name);
                format!("{function} ({})", ratio(change.change, is_now))
            };
            let mut names: Vec<String> = found.iter().take(UNDECIDED).map(named).collect();
            if found.len() > UNDECIDED {
                names.push(format!("{} more", found.len() - UNDECIDED));
            }
            page.pieces(std::iter::once(format!(
                "- {} {}\n",
                prose(&head),
                names.join(", ")
            )));
        }
    }
    let in_full = shown.into_iter().filter(|f| group(f.finding) == 0);
    let in_full: Vec<RankedFinding> = in_full.take(MAX_IN_FULL).collect();
    let left_out = [
        (warnings_left_out, "warning"),
        (curves_left_out, "function whose growth changed"),
        (
            page.pieces(in_full.into_iter().map(details)),
            "finding in detail",
        ),
        (
            page.pieces(
                comparisons
                    .iter()
                    .map(|comparison| how_tested(comparison, words)),
            ),
            "description of how it was tested",
        ),
    ];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let left_out: Vec<String> = left_out
        .map(|(count, what)| format!("{what}: {count}"))
        .collect();
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        let _ = writeln!(
            page.text,
            "Left out, as the page would be too long: {left_out}.{}",
            words.hint_phrase(" `", Hint::Check, "` prints all.")
        );
    }
    page.text
}

/// Markdown with a size limit.
struct Page {
    text: String,
    words: Words,
}

impl Page {
    /// Adds the pieces that fit, and returns the number of those that do not.
    fn pieces(&mut self, pieces: impl Iterator<Item = String>) -> usize {
        let mut left_out = 0;
        for piece in pieces {
            if self.text.len() + piece.len() + RESERVED <= MAX_BYTES {
                self.text += &piece
            } else {
                left_out += 1
            }
        }
        left_out
    }

    fn table(&mut self, head: &str, rows: impl ExactSizeIterator<Item = String>, noun: &str) {
        self.text += head;
        let beyond = rows.len().saturating_sub(MAX_ROWS);
        let left_out = self.pieces(rows.take(MAX_ROWS)) + beyond;
        if left_out > 0 {
            let more = format_count(left_out as u64, &format!("more {noun}"));
            let _ = writeln!(
                self.text,
                "\n… and {more}{}.",
                self.words.hint_phrase(", which `", Hint::Check, "` lists")
            );
        }
        self.text.push('\n');
    }
}

fn verdict(comparisons: &[Comparison]) -> String {
    let word = verdict_word(Verdict::combine(comparisons));
    let sentence = prose(&reason(comparisons));
    let mut text = format!(
        "## sto: {word}{}\n\n{sentence}\n\n",
        weakness(is_weak(comparisons))
    );
    if let [comparison] = comparisons {
        let _ = writeln!(
            text,
            "Baseline {}, candidate {}.\n",
            code(&side_name(&comparison.baseline)),
            code(&side_name(&comparison.candidate)),
        );
    }
    text
}

fn benchmark_row(comparison: &Comparison) -> String {
    format!(
        "| {} | {}{} | {} |\n",
        code(label(comparison)),
        verdict_word(comparison.verdict),
        weakness(has_weak_evidence(comparison)),
        prose(&comparison.reason),
    )
}

/// Returns a list item for each function whose growth of cost changed.
fn curves(comparison: &Comparison) -> Vec<String> {
    let item = |curve: Curve| {
        let benchmark = match &comparison.benchmark {
            Some(benchmark) => format!(" ({})", code(benchmark)),
            None => String::new(),
        };
        let reason = prose(&curve.change.reason);
        format!("- **{}**{benchmark}: {reason}\n", curve.word)
    };
    curves::changed(comparison).into_iter().map(item).collect()
}

/// Returns the cell with the benchmark, if there are several comparisons.
fn benchmark_cell(comparison: &Comparison, is_one: bool) -> String {
    if is_one {
        String::new()
    } else {
        format!(" {} |", code(label(comparison)))
    }
}

fn metric_row(comparison: &Comparison, row: &metrics::Row, is_one: bool) -> String {
    format!(
        "| {} |{} {} | {} | {} | {} | {} |\n",
        prose(&row.name),
        benchmark_cell(comparison, is_one),
        row.baseline,
        row.candidate,
        row.change,
        row.evidence,
        metrics::word(row.outcome),
    )
}

fn finding_row(
    RankedFinding {
        comparison,
        finding,
    }: RankedFinding<'_>,
    is_one: bool,
) -> String {
    let change = basis(finding);
    format!(
        "| {}{} |{} {} | {} | {} | {} | {} | {} | {} |\n",
        finding.kind.name(),
        finding.ignored.as_ref().map_or("", |_| ", ignored"),
        benchmark_cell(comparison, is_one),
        code(&finding.short_name),
        Costs::new(comparison).before_and_now(change),
        percent(change.baseline_share),
        percent(change.candidate_share),
        ratio(change.change, change.candidate_samples > 0),
        interval(change),
        q(change),
    )
}

fn details(
    RankedFinding {
        comparison,
        finding,
    }: RankedFinding<'_>,
) -> String {
    let benchmark = match &comparison.benchmark {
        Some(benchmark) => format!(" in benchmark {}", tag(benchmark)),
        None => String::new(),
    };
    let mut text = format!(
        "<details><summary>{}: {}{benchmark}</summary>\n\n{}{}\n\n",
        finding.kind.name(),
        tag(&finding.short_name),
        prose(&finding.reason),
        weakness(finding.weak),
    );
    if let Some(why) = ignore_reason(finding) {
        let _ = writeln!(text, "It {}.\n", prose(&why));
    }
    if let Some(location) = finding.location() {
        let _ = writeln!(text, "Source: {}\n", code(&location));
    }
    if !finding.call_paths.is_empty() {
        text += "| before | now | change | call path |\n|---:|---:|---:|---|\n";
    }
    for path in &finding.call_paths {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            percent(path.baseline_share),
            percent(path.candidate_share),
            ratio(path.change, path.candidate_samples > 0),
            code_of_any_length(&steps(path, PATH_ENDS, NAME_WIDTH)),
        );
    }
    if finding.more_call_paths > 0 {
        let more = format_count(finding.more_call_paths as u64, "more path");
        let _ = writeln!(text, "\n… and {more} with a similar change.");
    }
    text + &shell("\n", &finding.command) + "</details>\n\n"
}

fn how_tested(comparison: &Comparison, words: Words) -> String {
    let mut text = format!(
        "<details><summary>What was compared, and how: {}</summary>\n\n",
        tag(label(comparison))
    );
    let sample_type = comparison.sample_type.as_ref();
    for (word, side) in [
        ("Baseline", &comparison.baseline),
        ("Candidate", &comparison.candidate),
    ] {
        let name = code(&side_name(side));
        let _ = writeln!(
            text,
            "- {word} {name}: {}",
            prose(&facts(side, sample_type))
        );
    }
    let statistics = comparison.statistics.iter();
    for note in statistics.flat_map(|statistics| notes(comparison, statistics, words)) {
        let _ = writeln!(text, "- {}", prose(&note));
    }
    text + &shell("\nTo repeat it:\n\n", &comparison.command) + "</details>\n\n"
}

/// Formats a name as code, without markup or mentions.
fn code(name: &str) -> String {
    code_of_any_length(&shorten(&printable(name), NAME_WIDTH))
}

fn code_of_any_length(name: &str) -> String {
    // A table cell ends at `|` even in code, and backslashes are handled inconsistently.
    let is_literal = !name.contains(['`', '|', '\\']) && !name.trim().is_empty();
    if is_literal {
        format!("`{name}`")
    } else {
        html(name)
    }
}

/// Formats a name as code in HTML, for summaries, in which Markdown is not parsed.
fn tag(name: &str) -> String {
    html(&shorten(&printable(name), NAME_WIDTH))
}

fn html(name: &str) -> String {
    let mut html = "<code>".to_owned();
    name.chars()
        .for_each(|character| push_literal(&mut html, character));
    html + "</code>"
}

/// Escapes a sentence that contains names: no markup, links or mentions.
fn prose(sentence: &str) -> String {
    let sentence = shorten(&printable(sentence), 4 * NAME_WIDTH);
    let mut text = String::new();
    let mut characters = sentence.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let is_in_word = next.is_alphanumeric() && text.ends_with(char::is_alphanumeric);
        match character {
            '(' | ')' | '\'' => text.push(character),
            '_' if is_in_word => text.push(character),
            ':' if next == ' ' || next.is_ascii_digit() => text.push(character),
            _ => push_literal(&mut text, character),
        }
    }
    text
}

/// Adds a character, as an entity if Markdown or HTML could interpret it. Links and mentions are
/// recognised even in entities: an HTML comment interrupts them.
fn push_literal(text: &mut String, character: char) {
    const PARTED: &str = "<!-- -->";
    let is_first = text.is_empty();
    match character {
        '.' if text.to_ascii_lowercase().ends_with("www") => text.extend([PARTED, "."]),
        '.' if text.bytes().all(|byte| byte.is_ascii_digit()) => text.extend([PARTED, "."]),
        ',' | ';' | '%' | '.' => text.push(character),
        '-' if !is_first => text.push(character),
        character if character.is_ascii_punctuation() => {
            let _ = write!(text, "&#{};", u32::from(character));
            if "@#".contains(character) {
                text.push_str(PARTED);
            }
        }
        character => text.push(character),
    }
}

/// Returns a command in a fence longer than any row of backticks in it, if there is a command.
fn shell(head: &str, command: &Command) -> String {
    let Some(command) = command.line() else {
        return String::new();
    };
    let runs = command.split(|c| c != '`').map(str::len);
    let fence = "`".repeat((runs.max().unwrap_or(0) + 1).max(3));
    format!("{head}{fence}sh\n{command}\n{fence}\n")
}
