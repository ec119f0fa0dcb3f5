//! One function over the runs of a history, as a table with bars.

use super::header::counted;
use super::numbers::percent;
use super::{Style, display_width, printable};
use crate::report::{ChangePointReport, HistoryReport, PointReport, SeriesReport};
use std::fmt::Write;

/// Columns of a build's name, where the width is limited.
const BUILD_WIDTH: usize = 16;
/// Columns of the bars.
const BAR_WIDTH: usize = 22;
/// Observations that are shown; of a longer series the newest.
const MAX_POINTS: usize = 60;

/// The report as text: one observation a line, oldest first, with its share, the band that the
/// observations before it lead to expect, and a bar; lines between them tell where it changed.
pub fn text(report: &SeriesReport, style: Style) -> String {
    let function = report.functions.first().map_or("", |f| &f.function);
    let runs = counted(report.history.runs as u64, "run");
    let mut text = format!(
        "{}: share of {} of {}\n",
        style.bold(&printable(function)),
        printable(&report.history.sample_type.event),
        subject(&report.history, &runs),
    );
    let hidden = report.points.len().saturating_sub(MAX_POINTS);
    if hidden > 0 {
        let _ = writeln!(
            text,
            "{} before these not shown",
            counted(hidden as u64, "observation")
        );
    }
    let heading = format!(
        "{:16}  {:BUILD_WIDTH$} {:>7}  {:>13}",
        "recorded", "build", "share", "expected"
    );
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    let most = report
        .points
        .iter()
        .map(|point| point.share)
        .fold(0.0, f64::max);
    for (place, point) in report.points.iter().enumerate().skip(hidden) {
        for change in report.changes.iter().filter(|change| change.at == place) {
            let _ = writeln!(text, "{}", style.bold(&changed(change)));
        }
        text += &observation(point, most, style);
    }
    text
}

/// `demo`, or `demo (startup), 12 runs`.
pub(super) fn subject(history: &HistoryReport, runs: &str) -> String {
    let name = printable(&history.executable);
    match &history.benchmark {
        None => format!("{name}, {runs}"),
        Some(benchmark) => format!("{name} ({}), {runs}", printable(benchmark)),
    }
}

/// `2026-11-21 07:05`.
pub(super) fn minute(recorded: Option<&str>) -> String {
    let minute = recorded.and_then(|time| time.get(..16));
    minute.map_or_else(String::new, |time| time.replace('T', " "))
}

fn changed(change: &ChangePointReport) -> String {
    format!(
        "{:16}  changed from {} to {} for good (p {:.0e})",
        "",
        percent(change.before),
        percent(change.after),
        change.p
    )
}

fn observation(point: &PointReport, most: f64, style: Style) -> String {
    let build = printable(&point.run.build);
    let build = style.fit_column(&build, BUILD_WIDTH);
    let padding = BUILD_WIDTH.saturating_sub(display_width(&build));
    let band = match (point.low, point.high) {
        (Some(low), Some(high)) => {
            format!("{:.1}..{:.1}%", low.max(0.0) * 100.0, high * 100.0)
        }
        _ => "-".to_owned(),
    };
    let columns = if most > 0.0 {
        (point.share / most * BAR_WIDTH as f64).round() as usize
    } else {
        0
    };
    let bar = "#".repeat(columns);
    let bar = match point.is_within_band() {
        true => bar,
        false if point.mean.is_some_and(|mean| point.share > mean) => style.worse(&bar),
        false => style.better(&bar),
    };
    let mark = if point.is_within_band() { ' ' } else { '!' };
    format!(
        "{:16}  {build}{:padding$} {:>7}  {band:>13} {mark} {bar}\n",
        minute(point.run.recorded.as_deref()),
        "",
        percent(point.share),
    )
    .trim_end()
    .to_owned()
        + "\n"
}
