//! The share of a function over the runs of a history, as a table with bars.

use super::header::functions;
use crate::history::{HistorySubject, RunSummary};
use crate::series::{FunctionSeries, LevelShift, Observed, SeriesPoint};
use crate::text::{
    Cell, Column, MIN_NAME_WIDTH, Style, Table, cost, format_count, paragraph, percent, printable,
    title,
};
use std::fmt::Write;

/// Maximum width of a build's name in a terminal.
const BUILD_WIDTH: usize = 16;
/// Width of the bars, and the terminal width below which they shrink to [`MIN_NAME_WIDTH`].
const BAR_WIDTH: usize = 22;
const NARROW: usize = 80;
/// Maximum number of observations to show; the newest are kept.
const MAX_POINTS: usize = 60;

/// Returns the report as text: one observation per line, oldest first, with its share, the range
/// expected from the observations before it, and a bar. Level shifts have lines of their own.
pub fn text(report: &FunctionSeries, style: Style) -> String {
    let mut text = style.bold(&title(style, &sentence(report)));
    let hidden = report.points.len().saturating_sub(MAX_POINTS);
    if hidden > 0 {
        let _ = writeln!(
            text,
            "{} before these not shown",
            format_count(hidden as u64, "observation")
        );
    }
    let most = report
        .points
        .iter()
        .map(|point| point.observed(report.observed))
        .fold(0.0, f64::max);
    let mut table = Table::new(vec![
        Column::text("recorded").with_drop_rank(2),
        Column::text("build").with_max_width(BUILD_WIDTH),
        Column::number(match report.observed {
            Observed::Share => "share",
            Observed::Cost => "cost",
        }),
        Column::number("expected").with_drop_rank(1),
        Column::text(""),
        Column::text(""),
    ]);
    for (at, point) in report.points.iter().enumerate().skip(hidden) {
        for change in report.changes.iter().filter(|change| change.at == at) {
            let indent = style.text_width().min(80) / 5 + 2;
            let lines = paragraph(style, &" ".repeat(indent), &changed(report, change), indent);
            lines
                .lines()
                .for_each(|line| table.add_line(style.bold(line)));
        }
        table.add_row(observation(report, point, most, style));
    }
    text += &format!("\n{}", table.render(style));
    text
}

/// Formats `parse: share of cpu-clock of demo, 12 runs`.
pub(super) fn sentence(report: &FunctionSeries) -> String {
    let name = match &report.keys()[..] {
        [] => "all functions".to_owned(),
        keys => functions(keys),
    };
    let number = match report.observed {
        Observed::Share => "share of",
        Observed::Cost => "cost of a run in",
    };
    let runs = format_count(report.history.runs as u64, "run");
    format!(
        "{name}: {number} {} of {}",
        report.history.sample_type.event,
        subject(&report.history, &runs),
    )
}

/// Formats an observed number, or a mean of some.
pub(super) fn observed(report: &FunctionSeries, number: f64) -> String {
    match report.observed {
        Observed::Share => percent(number),
        Observed::Cost => cost(number, report.history.sample_type.unit),
    }
}

/// Formats `demo, 12 runs` or `demo (startup), 12 runs`.
pub(super) fn subject(history: &HistorySubject, runs: &str) -> String {
    let name = printable(&history.executable);
    match &history.benchmark {
        None => format!("{name}, {runs}"),
        Some(benchmark) => format!("{name} ({}), {runs}", printable(benchmark)),
    }
}

/// Formats `2026-11-21 07:05 v2`, or `5 runs of v2, the last 2026-11-21 07:05`.
pub(super) fn judged_runs(newest: &RunSummary, runs: usize) -> String {
    let (recorded, build) = (minute(newest.recorded.as_deref()), printable(&newest.build));
    match runs {
        1 => format!("{recorded} {build}"),
        _ => format!("{runs} runs of {build}, the last {recorded}"),
    }
}

/// Returns a warning if a level shift rests on a single run.
pub(super) fn single_run_warning(change: &LevelShift) -> &'static str {
    match change.runs {
        1 => ", rests on one run",
        _ => "",
    }
}

/// Formats `2026-11-21 07:05`.
pub(super) fn minute(recorded: Option<&str>) -> String {
    let minute = recorded.and_then(|time| time.get(..16));
    minute.map_or_else(String::new, |time| time.replace('T', " "))
}

fn changed(report: &FunctionSeries, change: &LevelShift) -> String {
    format!(
        "level shift from {} to {} (p {:.0e}{})",
        observed(report, change.before),
        observed(report, change.after),
        change.p,
        single_run_warning(change),
    )
}

fn observation(report: &FunctionSeries, point: &SeriesPoint, most: f64, style: Style) -> Vec<Cell> {
    let number = point.observed(report.observed);
    let band = match (point.low, point.high, report.observed) {
        (Some(low), Some(high), Observed::Share) => {
            format!("{:.1}..{:.1}%", low * 100.0, high * 100.0)
        }
        (Some(low), Some(high), Observed::Cost) => {
            format!("{}..{}", observed(report, low), observed(report, high))
        }
        _ => "-".to_owned(),
    };
    let width = match style.width {
        Some(width) if width < NARROW => MIN_NAME_WIDTH,
        _ => BAR_WIDTH,
    };
    let columns = if most > 0.0 {
        (number / most * width as f64).round() as usize
    } else {
        0
    };
    let bar = Cell::from("#".repeat(columns));
    let is_within = point.is_within_band(report.observed);
    vec![
        Cell::from(minute(point.run.recorded.as_deref())),
        Cell::from(&point.run.build),
        Cell::from(observed(report, number)),
        Cell::from(band),
        Cell::from(if is_within { "" } else { "!" }),
        match point.mean {
            _ if is_within => bar,
            Some(mean) if number > mean => bar.with_style(Style::worse),
            _ => bar.with_style(Style::better),
        },
    ]
}
