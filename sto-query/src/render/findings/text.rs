//! A comparison as text: the verdict, a table of the changes, then causes with the callers that
//! inherit them.

use super::curves::{self, Weight};
use super::details::{Detail, brief, details, mark_of};
use super::metrics;
use super::notes::notes;
use super::words::{
    Assumed, Costs, MAX_IN_FULL, ROWS, UNDECIDED, assumptions, facts, group, ignore_reason,
    is_weak, measured, q, ratio, reason, side_name, verdict_word, weakness,
};
use crate::check::Check;
use crate::compare::{Change, Comparison, Finding, Side, TestedFunction, Verdict};
use crate::render::models::changes;
use crate::render::scores::other_name;
use crate::text::{Cell, Column, Style, Table, format_count, paragraph, printable};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::units::SampleType;

/// Column at which the facts of a side begin.
const FACTS: usize = 11;
/// Indentation of the reason why a finding in a table does not count.
const INDENT: usize = 3;
/// Maximum number of regressions for which a short text shows all counts. If there are more, only
/// the table has their counts.
const MAX_WITH_COUNTS: usize = 3;

/// Maximum width of a benchmark's name.
const LONGEST_NAME: usize = 30;

/// Returns a check as text. A single comparison is formatted by [`findings_text`].
pub fn check_text(check: &Check, style: Style, detail: Detail) -> String {
    if let [only] = &check.comparisons[..] {
        return findings_text(only, style, detail);
    }
    let mut text = verdict_text(&check.comparisons, style);
    text.push('\n');
    text += &verdicts(&check.comparisons).render(style);
    for comparison in &check.comparisons {
        let heading = format!("=== {} ===", printable(comparison.benchmark_name()));
        text += &format!("\n{}\n\n", style.bold(&style.shorten_to_fit(&heading, 0)));
        text += &findings_text(comparison, style, detail);
    }
    text
}

/// Returns a row for each benchmark, with the most likely cause of each regression.
fn verdicts(comparisons: &[Comparison]) -> Table {
    let mut table = Table::new(vec![
        Column::text("verdict"),
        Column::text("benchmark").with_max_width(LONGEST_NAME),
        Column::text("cause"),
    ]);
    for comparison in comparisons {
        let mut worse = comparison.findings.iter().filter(|of| of.is_regression());
        let cause = worse.next().map(|finding| &*finding.function);
        let mut grown = curves::changed(comparison).into_iter();
        let grown = grown.find(|curve| curve.weight == Weight::Error);
        let cause = cause.or(grown.map(|curve| &*curve.change.function));
        let cause = cause
            .filter(|_| comparison.verdict == Verdict::Regression)
            .unwrap_or("");
        table.add_row(vec![
            Cell::from(verdict_word(comparison.verdict)).with_style(mark(comparison.verdict)),
            Cell::from(comparison.benchmark_name()),
            Cell::function(cause),
        ]);
    }
    table
}

/// Returns the comparison as text.
pub fn findings_text(comparison: &Comparison, style: Style, detail: Detail) -> String {
    let mut text = verdict_text(std::slice::from_ref(comparison), style);
    text.push('\n');
    match &*metrics::table(comparison, style) {
        "" => {}
        table => text += &format!("{table}\n"),
    }
    for (label, value) in [
        ("BENCHMARK", &comparison.benchmark),
        ("POLICY", &comparison.policy),
    ] {
        if let Some(value) = value {
            text += &paragraph(style, &format!("{label:FACTS$}"), value, FACTS);
        }
    }
    let sample_type = comparison.sample_type.as_ref();
    for (label, side) in [
        ("BASELINE", &comparison.baseline),
        ("CANDIDATE", &comparison.candidate),
    ] {
        text += &self::side(label, side, sample_type, style, detail);
    }
    for warning in &comparison.warnings {
        text += &paragraph(style, "warning: ", warning, 9);
    }
    if let Some(curves) = &comparison.curves {
        let heading = format!("Cost by {}", printable(&curves.candidate.x));
        let functions = changes::functions(curves, style);
        text += &format!("\n{}\n{functions}", style.bold(&heading));
    }
    let left_out = Findings::new(comparison).write(&mut text, style, detail);
    text += &undecided(comparison, style);
    if let Some(functions) = &comparison.functions {
        text += &all(functions, style);
    }
    if detail == Detail::Full
        && let Some(statistics) = &comparison.statistics
    {
        let _ = writeln!(text, "\n{}", style.bold("How this was tested"));
        for note in notes(comparison, statistics, style.words) {
            text += &paragraph(style, "- ", &note, 2);
        }
    }
    if !left_out.is_empty() {
        text.push('\n');
        let left_out = format!(
            "Not shown: {}.{}",
            left_out.join(", "),
            style.words.hint_phrase(" ", Hint::ShowAll, " shows all.")
        );
        text += &paragraph(style, "", &left_out, 0);
    }
    text
}

/// Returns the verdict over all comparisons, with its reason, as a paragraph.
pub fn verdict_text(comparisons: &[Comparison], style: Style) -> String {
    let verdict = Verdict::combine(comparisons);
    let word = verdict_word(verdict);
    let head = format!("{word}{}: ", weakness(is_weak(comparisons)));
    let sentence = paragraph(style, &head, &reason(comparisons), 0);
    // The style is applied after wrapping, as escape sequences have no width.
    mark(verdict)(style, word) + sentence.strip_prefix(word).unwrap_or(&sentence)
}

/// Returns the style of a verdict.
pub(super) fn mark(verdict: Verdict) -> fn(Style, &str) -> String {
    match verdict {
        Verdict::Regression => Style::worse,
        Verdict::Clean | Verdict::Insufficient => Style::bold,
    }
}

fn side(
    label: &str,
    side: &Side,
    sample_type: Option<&SampleType>,
    style: Style,
    detail: Detail,
) -> String {
    let name = side_name(side);
    if detail == Detail::Short {
        let facts = measured(side, sample_type).join(", ");
        let text = paragraph(
            style,
            &format!("{label:FACTS$}"),
            &format!("{name}, {facts}"),
            FACTS,
        );
        return text.replacen(label, &style.bold(label), 1);
    }
    let name = style.bold(&style.shorten_to_fit(&name, FACTS));
    let facts = facts(side, sample_type);
    let facts = paragraph(style, &" ".repeat(FACTS), &facts, FACTS);
    format!("{}{name}\n{facts}", style.bold(&format!("{label:FACTS$}")))
}

/// A finding with its number in the comparison.
type Numbered<'a> = (usize, &'a Finding);

/// The findings of a comparison, grouped by kind.
struct Findings<'a> {
    worse: Vec<Numbered<'a>>,
    /// Moved costs, improvements, and ignored findings.
    others: [Vec<Numbered<'a>>; 3],
    costs: Costs,
}

impl<'a> Findings<'a> {
    fn new(comparison: &'a Comparison) -> Self {
        let mut findings = Findings {
            worse: Vec::new(),
            others: Default::default(),
            costs: Costs::new(comparison),
        };
        for numbered in (1..).zip(&comparison.findings) {
            match group(numbered.1) {
                0 => findings.worse.push(numbered),
                other => findings.others[other - 1].push(numbered),
            }
        }
        findings
    }

    /// Writes tables and details, and returns notes on what they omit.
    fn write(&self, text: &mut String, style: Style, detail: Detail) -> Vec<String> {
        let most = match detail {
            Detail::Short => ROWS,
            Detail::Full => [usize::MAX; 4],
        };
        let [moved, better, ignored] = &self.others;
        let groups = [&self.worse, moved, better, ignored];
        let shown = |ix: usize| &groups[ix][..groups[ix].len().min(most[ix])];
        let others = (1..4).flat_map(shown).copied().collect::<Vec<_>>();
        // A single finding needs no table, as its details follow.
        if self.worse.len() > 1 {
            let heading = format!(
                "{} got worse",
                format_count(self.worse.len() as u64, "function")
            );
            *text += &format!("\n{}\n", style.bold(&heading));
            *text += &table(shown(0), self.costs, style);
        }
        if !others.is_empty() {
            let names = ["moved", "got better", "ignored"];
            let counts = names
                .iter()
                .zip(&self.others)
                .filter(|(_, group)| !group.is_empty());
            let counts: Vec<String> = counts
                .map(|(name, group)| format!("{} {name}", group.len()))
                .collect();
            *text += &format!("\n{}\n", style.bold(&counts.join(", ")));
            *text += &table(&others, self.costs, style);
        }
        let in_full = match detail {
            Detail::Short => self.worse.iter().take(MAX_IN_FULL).copied().collect(),
            Detail::Full => groups.into_iter().flatten().copied().collect::<Vec<_>>(),
        };
        for (number, finding) in &in_full {
            text.push('\n');
            *text += &if detail == Detail::Short && self.worse.len() > MAX_WITH_COUNTS {
                brief(*number, finding, self.costs, style)
            } else {
                details(*number, finding, self.costs, style, detail)
            };
        }
        let mut left_out = Vec::new();
        let names = ["got worse", "moved", "got better", "are ignored"];
        for ((name, group), most) in names.iter().zip(groups).zip(most) {
            let more = group.len().saturating_sub(most);
            if more > 0 {
                left_out.push(format!("{more} more that {name}"));
            }
        }
        if detail == Detail::Short {
            left_out.push("how this was tested".to_owned());
        }
        left_out
    }
}

/// Returns a row for each finding: its kind, then the cost of a run, the share and the change of the
/// count that it is based on.
fn table(findings: &[Numbered], costs: Costs, style: Style) -> String {
    let mut table = Table::new(vec![
        Column::number("#").with_drop_rank(2),
        Column::text("kind"),
        Column::number(costs.of).with_drop_rank(1),
        Column::number("share").with_drop_rank(3),
        Column::number("change"),
        Column::number("q").with_drop_rank(4),
        Column::text("function"),
    ]);
    for (number, finding) in findings {
        let basis = super::words::basis(finding);
        let other = match (&finding.moved_from, &finding.moved_to) {
            (Some(from), _) => other_name("was", &from.function, style),
            (None, Some(to)) => other_name("now", &to.function, style),
            (None, None) => String::new(),
        };
        let function =
            Cell::function(&finding.function).with_prefix_and_suffix(String::new(), other);
        table.add_row(vec![
            Cell::from(number.to_string()),
            Cell::from(finding.kind.name()).with_style(mark_of(finding.kind)),
            Cell::from(costs.before_and_now(basis)),
            Cell::from(before_and_now(basis)),
            Cell::from(ratio(basis.change, basis.candidate_samples > 0)),
            Cell::from(q(basis)),
            function,
        ]);
        if let Some(why) = ignore_reason(finding) {
            let why = paragraph(style, &" ".repeat(INDENT), &format!("It {why}"), INDENT);
            why.lines().for_each(|line| table.add_line(line.to_owned()));
        }
    }
    table.render(style)
}

/// Returns the changes that were found under one assumption only, and the option that decides.
fn undecided(comparison: &Comparison, style: Style) -> String {
    let costs = Costs::new(comparison);
    let mut text = String::new();
    for Assumed { found, head, .. } in assumptions(comparison, style.words) {
        text += &format!("\n{}", paragraph(style, "", &head, 0));
        let numbered: Vec<Numbered> = (1..).zip(found.iter().take(UNDECIDED).copied()).collect();
        text += &table(&numbered, costs, style);
        if found.len() > UNDECIDED {
            let more = format_count((found.len() - UNDECIDED) as u64, "more function");
            text += &paragraph(style, "", &format!("and {more}"), 0);
        }
    }
    text
}

/// Formats the shares of the two sides: ` 6.8 → 41.8%`.
fn before_and_now(change: &Change) -> String {
    format!(
        "{:>4.1} → {:>4.1}%",
        change.baseline_share * 100.0,
        change.candidate_share * 100.0
    )
}

/// Returns a table of all tested functions.
fn all(functions: &[TestedFunction], style: Style) -> String {
    let heading = format!("All functions that were tested ({})", functions.len());
    let mut table = Table::new(vec![
        Column::number("self").with_drop_rank(1),
        Column::number("change").with_drop_rank(1),
        Column::number("q").with_drop_rank(1),
        Column::number("total"),
        Column::number("change"),
        Column::number("q").with_drop_rank(2),
        Column::text("function"),
    ]);
    for function in functions {
        let mut cells = Vec::new();
        for change in [&function.self_, &function.total] {
            cells.push(Cell::from(before_and_now(change)));
            cells.push(Cell::from(ratio(
                change.change,
                change.candidate_samples > 0,
            )));
            cells.push(Cell::from(q(change)));
        }
        cells.push(Cell::function(&function.function));
        table.add_row(cells);
    }
    format!("\n{}\n{}", style.bold(&heading), table.render(style))
}
