//! The reliability of comparisons of a benchmark, as text.

use super::header::header;
use crate::compare::{Calibration, FalseReports, ReportedMetric};
use crate::text::{Cell, Column, Style, Table, format_count, paragraph, percent, printable};

/// Maximum number of falsely reported functions to list.
const LISTED: usize = 5;
const TOO_LITTLE: &str = "TOO LITTLE DATA";

/// Returns the calibration as text: the false-positive rate of comparisons of equal builds, and the
/// smallest change that comparisons detect.
pub fn text(calibration: &Calibration, style: Style) -> String {
    let mut text = header(&calibration.subject, style) + "\n\n";
    match calibration.false_reports {
        Some(false_reports) => {
            text += &reports(calibration, false_reports, style);
            text += &visible(calibration, style);
        }
        None => {
            let little = format!(
                "{TOO_LITTLE}: {} with samples, and it takes {} to compare the build with itself.",
                format_count(calibration.runs as u64, "run"),
                calibration.runs_needed,
            );
            let little = paragraph(style, "", &little, 0);
            text += &little.replacen(TOO_LITTLE, &style.bold(TOO_LITTLE), 1);
        }
    }
    text
}

fn reports(calibration: &Calibration, reports: FalseReports, style: Style) -> String {
    let sentence = format!(
        "Compared with itself, {} a side, it reports a function in {} of {} ({})",
        format_count(calibration.runs_a_side as u64, "run"),
        reports.reports,
        format_count(reports.comparisons as u64, "comparison"),
        interval(reports),
    );
    let text = paragraph(style, "", &sentence, 0);
    let mut table = Table::new(vec![Column::number("reports"), Column::text("function")]);
    for reported in calibration.reported.iter().take(LISTED) {
        table.add_row(vec![
            Cell::from(reported.comparisons.to_string()),
            Cell::function(&reported.function),
        ]);
    }
    if let Some(more @ 1..) = calibration.reported.len().checked_sub(LISTED) {
        let more = format_count(more as u64, "more function");
        table.add_line(format!("and {more}"));
    }
    text + &table.render(style) + &metrics(calibration, style)
}

/// Formats how often metrics of whole runs are reported falsely.
fn metrics(calibration: &Calibration, style: Style) -> String {
    let metric = |metric: &ReportedMetric| {
        let reports = metric.false_reports;
        let sentence = format!(
            "It reports {} in {} of {} ({})",
            printable(&metric.name),
            reports.reports,
            reports.comparisons,
            interval(reports),
        );
        paragraph(style, "", &sentence, 0)
    };
    calibration.metrics.iter().map(metric).collect()
}

fn interval(reports: FalseReports) -> String {
    format!(
        "{}, 95% interval {} to {}",
        percent(reports.share),
        percent(reports.low),
        percent(reports.high),
    )
}

fn visible(calibration: &Calibration, style: Style) -> String {
    let mut text = String::new();
    if calibration.visible.is_empty() {
        return text;
    }
    let heading = "Growth that is detected in 9 of 10 comparisons:";
    text += &format!("\n{}\n", paragraph(style, "", heading, 0));
    let mut table = Table::new(vec![
        Column::number("share").with_drop_rank(1),
        Column::number("growth"),
        Column::text("function"),
    ]);
    for visible in &calibration.visible {
        table.add_row(vec![
            Cell::from(percent(visible.share)),
            Cell::from(growth(visible.change)),
            Cell::function(&visible.function),
        ]);
    }
    text += &table.render(style);
    text
}

/// Formats a growth, rounded up: `+12%`, or `12x` from a tenfold growth on.
fn growth(change: Option<f64>) -> String {
    match change {
        None => "not found".to_owned(),
        Some(change) if change >= 10.0 => format!("{:.0}x", change.ceil()),
        Some(change) => format!("+{:.0}%", ((change - 1.0) * 100.0).ceil()),
    }
}
