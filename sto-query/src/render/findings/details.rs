//! One finding as text: its reason, its counts, the call paths to it, and the callers that inherit
//! it.

use super::steps::{callers, steps};
use super::words::{Costs, ignore_reason, interval, q, ratio};
use crate::compare::FindingKind;
use crate::compare::{AffectedCaller, CallPath, Change, Finding};
use crate::functions;
use crate::text::{
    Cell, Column, Style, Table, display_width, format_count, paragraph, percent, printable, shell,
};
use std::fmt::Write;
use std::iter::zip;

/// How detailed a text report is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// A table of the changes, and the most important findings in full: a screen or two at most.
    #[default]
    Short,
    /// Every finding in full, and how it was tested.
    Full,
}

/// Returns the style of a finding's kind.
pub(super) fn mark_of(kind: FindingKind) -> fn(Style, &str) -> String {
    match kind {
        FindingKind::Regression | FindingKind::New => Style::worse,
        FindingKind::Moved | FindingKind::Replaced => Style::bold,
        FindingKind::Improvement | FindingKind::Gone => Style::better,
    }
}

/// Column at which the text of a finding begins.
const INDENT: usize = 3;
/// Minimum change of a call path in a brief text, as a part of the change of the first path.
const MIN_PATH_CHANGE: f64 = 0.2;
/// Maximum width of a name in a list of names.
const LONGEST_NAME: usize = 36;
/// Maximum number of callers in a short text.
const CALLERS: usize = 3;
/// Maximum number of functions at either end of a call path in a full text.
const PATH_ENDS: usize = 8;
/// Width from which on there is room for costs with their units next to names.
const ROOM_FOR_COSTS: usize = 60;
/// Column at which call paths and callers begin.
const PATH_INDENT: usize = 5;

/// Returns a finding with its number in the comparison.
pub(super) fn details(
    number: usize,
    finding: &Finding,
    costs: Costs,
    style: Style,
    detail: Detail,
) -> String {
    let mut text = head(number, finding, style);
    text += &changes(finding, costs, style);
    let shares = Shares::new(finding, costs, style);
    text += &call_paths(finding, shares, style, detail);
    text += &affected(&finding.affected_callers, shares, style, detail);
    // The commands of other findings differ only in the function.
    if number == 1 || detail == Detail::Full {
        text += &command_line(finding, style);
    }
    text
}

/// Like [`details`], without the counts, for one of several findings in a table.
pub(super) fn brief(number: usize, finding: &Finding, costs: Costs, style: Style) -> String {
    let mut text = head(number, finding, style);
    let paths = &finding.call_paths;
    let change = |path: &CallPath| (path.candidate_share - path.baseline_share).abs();
    let most = paths.first().map_or(0.0, change);
    let shown = paths
        .iter()
        .filter(|path| change(path) >= MIN_PATH_CHANGE * most);
    let shown: Vec<CallPath> = shown.cloned().collect();
    text += &match &shown[..] {
        [path] if path.stack.len() < 2 => String::new(),
        [_] => {
            let head = format!("{}called by ", " ".repeat(INDENT));
            let width = style
                .width
                .map_or(usize::MAX, |width| width.saturating_sub(head.len()));
            format!(
                "{head}{}\n",
                callers(&shown, width, style.full_names).concat()
            )
        }
        _ => path_table(
            &shown,
            Shares::new(finding, costs, style),
            style,
            Detail::Short,
        )
        .render(style),
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
        let name = style.name_up_to(function, LONGEST_NAME);
        format!("{name} ({})", ratio(*change, *candidate_share > 0.0))
    });
    let mut names: Vec<String> = names.collect();
    if all.len() > most.len() {
        names.push(format_count((all.len() - most.len()) as u64, "more caller"));
    }
    if !names.is_empty() {
        let indent = " ".repeat(INDENT);
        let head = format!("{indent}inherited by ");
        text += &paragraph(style, &head, &names.join(", "), PATH_INDENT);
    }
    if number == 1 {
        text += &command_line(finding, style);
    }
    text
}

/// Returns the kind, the function, its location, and the reason.
fn head(number: usize, finding: &Finding, style: Style) -> String {
    let kind = finding.kind.name();
    let ignored = finding.ignored.as_ref().map_or("", |_| ", ignored");
    let head = format!("{number}. {kind}{ignored}  ");
    let function = if style.full_names {
        printable(&finding.function).into_owned()
    } else {
        style.shorten_to_fit(&printable(&finding.short_name), display_width(&head))
    };
    let mut text = format!(
        "{number}. {}{ignored}  {}\n",
        mark_of(finding.kind)(style, kind),
        style.bold(&function)
    );

    let indent = " ".repeat(INDENT);
    if let Some(why) = ignore_reason(finding) {
        text += &paragraph(style, &indent, &why, INDENT);
    }
    let location = finding.location();
    let location = [Some(&*finding.module), location.as_deref()]
        .into_iter()
        .flatten();
    let location: Vec<&str> = location.filter(|name| !name.is_empty()).collect();
    if !location.is_empty() {
        let location = style.shorten_to_fit(&printable(&location.join(", ")), INDENT);
        let _ = writeln!(text, "{indent}{}", style.dim(&location));
    }
    text += &paragraph(style, &indent, &finding.reason, INDENT);
    text
}

fn command_line(finding: &Finding, style: Style) -> String {
    shell::command(style, "   the rest: ", &finding.command, PATH_INDENT)
}

/// Returns a table of self, attributed self if it differs, and total.
fn changes(finding: &Finding, costs: Costs, style: Style) -> String {
    let Finding {
        self_,
        attributed_self: attributed,
        total,
        ..
    } = finding;
    let mut table = Table::new(vec![
        Column::text(""),
        Column::number("before"),
        Column::number(costs.of).with_drop_rank(2),
        Column::number("now"),
        Column::number(costs.of).with_drop_rank(2),
        Column::number("change").with_drop_rank(1),
        Column::number("interval").with_drop_rank(3),
        Column::text("q"),
    ])
    .with_indent(INDENT);
    let samples = |change: &Change| (change.baseline_samples, change.candidate_samples);
    let mut row = |label: &str, change: &Change| {
        table.add_row(vec![
            Cell::from(label),
            Cell::from(percent(change.baseline_share)),
            Cell::from(costs.format(change.baseline_cost)),
            Cell::from(percent(change.candidate_share)),
            Cell::from(costs.format(change.candidate_cost)),
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

/// Formats the shares of paths and callers as costs, which is what their changes compare.
#[derive(Clone, Copy)]
struct Shares {
    costs: Costs,
    /// Costs of whole runs of the baseline and the candidate; `None` if the finding does not show
    /// both, as for a new function.
    wholes: Option<(f64, f64)>,
}

/// The side whose costs a share is of.
enum Whole {
    Baseline,
    Candidate,
}

impl Shares {
    fn new(finding: &Finding, costs: Costs, style: Style) -> Shares {
        let Change {
            baseline_share,
            candidate_share,
            baseline_cost,
            candidate_cost,
            ..
        } = finding.total;
        let is_on_both_sides = baseline_share > 0.0 && candidate_share > 0.0;
        let has_room = style.width.is_none_or(|width| width >= ROOM_FOR_COSTS);
        let wholes = baseline_cost
            .zip(candidate_cost)
            .filter(|_| is_on_both_sides && has_room);
        Shares {
            costs,
            wholes: wholes.map(|(baseline, candidate)| {
                (baseline / baseline_share, candidate / candidate_share)
            }),
        }
    }

    fn format(self, share: f64, side: Whole) -> String {
        match (self.wholes, side) {
            (None, _) => percent(share),
            (Some((whole, _)), Whole::Baseline) | (Some((_, whole)), Whole::Candidate) => {
                self.costs.format(Some(share * whole))
            }
        }
    }
}

fn call_paths(finding: &Finding, shares: Shares, style: Style, detail: Detail) -> String {
    let mut table = path_table(&finding.call_paths, shares, style, detail);
    if finding.more_call_paths > 0 {
        let more = format_count(finding.more_call_paths as u64, "more path");
        table.add_line(format!("and {more} with a similar change"));
    }
    table.render(style)
}

fn path_table(paths: &[CallPath], shares: Shares, style: Style, detail: Detail) -> Table {
    let mut table = Table::new(vec![
        Column::number("before"),
        Column::number("now"),
        Column::number("change").with_drop_rank(1),
        Column::text("called by"),
    ])
    .with_indent(PATH_INDENT);
    let numbers = paths.iter().map(|path| {
        [
            shares.format(path.baseline_share, Whole::Baseline),
            shares.format(path.candidate_share, Whole::Candidate),
            ratio(path.change, path.candidate_samples > 0),
        ]
    });
    let numbers: Vec<[String; 3]> = numbers.collect();
    let widest = ["before", "now", "change"]
        .iter()
        .enumerate()
        .map(|(ix, head)| {
            let cells = numbers.iter().map(|row| display_width(&row[ix]));
            cells.max().unwrap_or(0).max(head.len())
        });
    // Columns are two spaces apart.
    let taken = PATH_INDENT + widest.map(|width| width + 2).sum::<usize>();
    let width = style
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(taken));
    let short = callers(paths, width, style.full_names);
    for ((path, [before, now, change]), short) in zip(zip(paths, numbers), short) {
        // Less than half of a sample a run.
        if before == "0" && now == "0" {
            continue;
        }
        table.add_row(vec![
            Cell::from(before),
            Cell::from(now),
            Cell::from(change),
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
                .for_each(|line| table.add_line(line.trim_start().to_owned()));
        }
    }
    table
}

/// Returns the callers that inherit the change; in a short text, those that it affects most.
fn affected(all: &[AffectedCaller], shares: Shares, style: Style, detail: Detail) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut table = Table::new(vec![
        Column::number("before"),
        Column::number("now"),
        Column::number("change").with_drop_rank(1),
        Column::text("inherited by its callers"),
    ])
    .with_indent(PATH_INDENT);
    let shown = most_affected(all, detail);
    for caller in shown.iter().map(|&ix| &all[ix]) {
        table.add_row(vec![
            Cell::from(shares.format(caller.baseline_share, Whole::Baseline)),
            Cell::from(shares.format(caller.candidate_share, Whole::Candidate)),
            Cell::from(ratio(caller.change, caller.candidate_share > 0.0)),
            Cell::function(&caller.function),
        ]);
    }
    let more = all.len() - shown.len();
    if more > 0 {
        table.add_line(format!("and {}", format_count(more as u64, "more caller")));
    }
    table.render(style)
}

/// Returns the indices of the callers to show, innermost first.
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
    // The sort is stable: of equals, the innermost come first.
    shown.sort_by(|a, b| change(b).total_cmp(&change(a)));
    shown.truncate(most);
    shown.sort_unstable();
    shown
}
