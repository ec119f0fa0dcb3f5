//! One finding as text: what happened, its counts, how it is reached and who inherits it.

use super::steps::{callers, steps};
use super::words::{interval, not_counted, q, ratio};
use crate::compare::FindingKind;
use crate::compare::{AffectedCaller, CallPath, Change, Finding};
use crate::functions;
use crate::text::names::shorten_name;
use crate::text::{
    Cell, Column, Style, Table, counted, display_width, grouped, paragraph, percent, printable,
    shell,
};
use std::fmt::Write;
use std::iter::zip;

/// How much text says of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What changed as a table, and in full what matters most: a screen or two, however much changed.
    #[default]
    Short,
    /// Every finding in full, and how it was tested.
    Full,
}

/// What marks a kind of finding.
pub(super) fn mark_of(kind: FindingKind) -> fn(Style, &str) -> String {
    match kind {
        FindingKind::Regression | FindingKind::New => Style::worse,
        FindingKind::Moved | FindingKind::Replaced => Style::bold,
        FindingKind::Improvement | FindingKind::Gone => Style::better,
    }
}

/// Column where the text of a finding begins.
const INDENT: usize = 3;
/// Part of the change on the first path that another must have to stand in a brief text.
const A_PART_OF_IT: f64 = 0.2;
/// Columns of a name in a row of names.
const LONGEST_NAME: usize = 36;
/// Callers that a short text has.
const CALLERS: usize = 3;
/// Functions at either end of a call path that a full text has.
const PATH_ENDS: usize = 8;
/// Column where paths and callers begin.
const PATH_INDENT: usize = 5;

/// The finding with its number in the comparison.
pub(super) fn details(number: usize, finding: &Finding, style: Style, detail: Detail) -> String {
    let mut text = head(number, finding, style);
    text += &changes(finding, style);
    text += &call_paths(finding, style, detail);
    text += &affected(&finding.affected_callers, style, detail);
    // The command is alike for the others.
    if number == 1 || detail == Detail::Full {
        text += &the_rest(finding, style);
    }
    text
}

/// The same of one among several, of which a table has the counts.
pub(super) fn brief(number: usize, finding: &Finding, style: Style) -> String {
    let mut text = head(number, finding, style);
    let paths = &finding.call_paths;
    let change = |path: &CallPath| (path.candidate_share - path.baseline_share).abs();
    let most = paths.first().map_or(0.0, change);
    let shown = paths
        .iter()
        .filter(|path| change(path) >= A_PART_OF_IT * most);
    let shown: Vec<CallPath> = shown.cloned().collect();
    text += &match &shown[..] {
        [path] if path.stack.len() < 2 => String::new(),
        [_] => {
            let head = format!("{}called by ", " ".repeat(INDENT));
            let width = style
                .width
                .map_or(usize::MAX, |width| width.saturating_sub(head.len()));
            format!("{head}{}\n", callers(&shown, width).concat())
        }
        _ => path_table(&shown, style, Detail::Short).render(style),
    };
    let all = &finding.affected_callers;
    let most = most_affected(all, Detail::Short);
    let names = most.iter().map(|&ix| {
        let AffectedCaller {
            function,
            candidate_share,
            change,
            ..
        } = &all[ix];
        let name = shorten_name(&printable(function), LONGEST_NAME);
        format!("{name} ({})", ratio(*change, *candidate_share > 0.0))
    });
    let mut names: Vec<String> = names.collect();
    if all.len() > most.len() {
        names.push(counted((all.len() - most.len()) as u64, "more caller"));
    }
    if !names.is_empty() {
        let indent = " ".repeat(INDENT);
        let head = format!("{indent}inherited by ");
        text += &paragraph(style, &head, &names.join(", "), PATH_INDENT);
    }
    if number == 1 {
        text += &the_rest(finding, style);
    }
    text
}

/// What it is, where, and what happened.
fn head(number: usize, finding: &Finding, style: Style) -> String {
    let kind = finding.kind.name();
    let ignored = finding.ignored.as_ref().map_or("", |_| ", ignored");
    let head = format!("{number}. {kind}{ignored}  ");
    let function = style.fit(&printable(&finding.function), display_width(&head));
    let mut text = format!(
        "{number}. {}{ignored}  {}\n",
        mark_of(finding.kind)(style, kind),
        style.bold(&function)
    );

    let indent = " ".repeat(INDENT);
    if let Some(why) = not_counted(finding) {
        text += &paragraph(style, &indent, &why, INDENT);
    }
    let location = finding.location();
    let location = [Some(&*finding.module), location.as_deref()]
        .into_iter()
        .flatten();
    let location: Vec<&str> = location.filter(|name| !name.is_empty()).collect();
    if !location.is_empty() {
        let location = style.fit(&printable(&location.join(", ")), INDENT);
        let _ = writeln!(text, "{indent}{}", style.dim(&location));
    }
    text += &paragraph(style, &indent, &finding.reason, INDENT);
    text
}

fn the_rest(finding: &Finding, style: Style) -> String {
    shell::command(style, "   the rest: ", &finding.command, PATH_INDENT)
}

/// Self, attributed self where it differs, and total.
fn changes(finding: &Finding, style: Style) -> String {
    let Finding {
        self_,
        attributed_self: attributed,
        total,
        ..
    } = finding;
    let mut table = Table::new(vec![
        Column::text(""),
        Column::number("before"),
        Column::number("samples").dispensable(2),
        Column::number("now"),
        Column::number("samples").dispensable(2),
        Column::number("change").dispensable(1),
        Column::number("interval").dispensable(3),
        Column::text("q"),
    ])
    .indented(INDENT);
    let samples = |change: &Change| (change.baseline_samples, change.candidate_samples);
    let mut row = |label: &str, change: &Change| {
        table.row(vec![
            Cell::from(label),
            Cell::from(percent(change.baseline_share)),
            Cell::from(grouped(change.baseline_samples)),
            Cell::from(percent(change.candidate_share)),
            Cell::from(grouped(change.candidate_samples)),
            Cell::from(ratio(change.change, change.candidate_samples > 0)),
            Cell::from(interval(change)),
            Cell::from(q(change)),
        ]);
    };
    row("self", self_);
    if samples(self_) != samples(attributed) {
        row("attributed", attributed);
    }
    row("total", total);
    table.render(style)
}

fn call_paths(finding: &Finding, style: Style, detail: Detail) -> String {
    let mut table = path_table(&finding.call_paths, style, detail);
    if finding.more_call_paths > 0 {
        let more = counted(finding.more_call_paths as u64, "more path");
        table.line(format!("and {more} that changed alike"));
    }
    table.render(style)
}

fn path_table(paths: &[CallPath], style: Style, detail: Detail) -> Table {
    let mut table = Table::new(vec![
        Column::number("before"),
        Column::number("now"),
        Column::number("change").dispensable(1),
        Column::text("called by"),
    ])
    .indented(PATH_INDENT);
    // Two columns between any two.
    let taken = PATH_INDENT + "100.00%  100.00%  +100.0%  ".len();
    let width = style
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(taken));
    let short = callers(paths, width);
    for (path, short) in zip(paths, short) {
        table.row(vec![
            Cell::from(percent(path.baseline_share)),
            Cell::from(percent(path.candidate_share)),
            Cell::from(ratio(path.change, path.candidate_samples > 0)),
            Cell::from(match detail {
                Detail::Short => short,
                Detail::Full => String::new(),
            }),
        ]);
        if detail == Detail::Full {
            let indent = " ".repeat(PATH_INDENT);
            let width = style
                .width
                .map_or(usize::MAX, |_| style.text_width() - PATH_INDENT - 2);
            let whole = paragraph(style, &indent, &steps(path, PATH_ENDS, width), PATH_INDENT);
            whole
                .lines()
                .for_each(|line| table.line(line.trim_start().to_owned()));
        }
    }
    table
}

/// Of a short text those that the change means most to.
fn affected(all: &[AffectedCaller], style: Style, detail: Detail) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut table = Table::new(vec![
        Column::number("before"),
        Column::number("now"),
        Column::number("change").dispensable(1),
        Column::text("inherited by its callers"),
    ])
    .indented(PATH_INDENT);
    let shown = most_affected(all, detail);
    for caller in shown.iter().map(|&ix| &all[ix]) {
        table.row(vec![
            Cell::from(percent(caller.baseline_share)),
            Cell::from(percent(caller.candidate_share)),
            Cell::from(ratio(caller.change, caller.candidate_share > 0.0)),
            Cell::from(&caller.function),
        ]);
    }
    let more = all.len() - shown.len();
    if more > 0 {
        table.line(format!("and {}", counted(more as u64, "more caller")));
    }
    table.render(style)
}

/// Places of the callers that a text has, innermost first.
fn most_affected(all: &[AffectedCaller], detail: Detail) -> Vec<usize> {
    let most = match detail {
        Detail::Short => CALLERS,
        Detail::Full => usize::MAX,
    };
    let change = |&ix: &usize| (all[ix].candidate_share - all[ix].baseline_share).abs();
    let is_library =
        |caller: &AffectedCaller| functions::is_library(&caller.function, &caller.module);
    let mut shown: Vec<usize> = (0..all.len()).collect();
    if detail == Detail::Short && !all.iter().all(is_library) {
        shown.retain(|&ix| !is_library(&all[ix]));
    }
    // Stable, so that of equals the innermost stand first.
    shown.sort_by(|a, b| change(b).total_cmp(&change(a)));
    shown.truncate(most);
    shown.sort_unstable();
    shown
}
