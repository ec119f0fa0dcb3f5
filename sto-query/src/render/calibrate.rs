//! What comparisons with a benchmark are worth, as text.

use super::header::{counted, header};
use super::numbers::percent;
use super::{Style, display_width, printable};
use crate::compare::{Calibration, FalseReports};
use std::fmt::Write;

/// Functions of false reports that are listed; how many more there are is told.
const LISTED: usize = 5;

/// The calibration as text: how often comparisons of equal builds report anything, and how large a
/// change they find.
pub fn text(calibration: &Calibration, style: Style) -> String {
    let mut text = header(&calibration.subject, style) + "\n\n";
    match calibration.false_reports {
        Some(false_reports) => {
            text += &reports(calibration, false_reports, style);
            text += &visible(calibration, style);
        }
        None => {
            let _ = writeln!(
                text,
                "{}: {} with samples, and it takes {} to compare the build with itself.",
                style.bold("TOO LITTLE DATA"),
                counted(calibration.runs as u64, "run"),
                calibration.runs_needed,
            );
        }
    }
    text
}

fn reports(calibration: &Calibration, reports: FalseReports, style: Style) -> String {
    let mut text = format!(
        "Compared with itself, {} a side, it reports anything in {} of {} ({})\n",
        counted(calibration.runs_a_side as u64, "run"),
        style.bold(&reports.reports.to_string()),
        counted(reports.comparisons as u64, "comparison"),
        interval(reports),
    );
    for reported in calibration.reported.iter().take(LISTED) {
        let name = printable(&reported.function);
        let _ = writeln!(
            text,
            "{:>8}  {}",
            reported.comparisons,
            style.fit(&name, 10)
        );
    }
    if let Some(more @ 1..) = calibration.reported.len().checked_sub(LISTED) {
        let more = counted(more as u64, "more function");
        let _ = writeln!(text, "          {}", style.dim(&more));
    }
    text
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
    text += "\nWhat has to grow by how much to be found in 9 of 10 comparisons:\n\n";
    let heading = format!("{:>8} {:>9}  function", "share", "growth");
    let function_column = display_width(&heading) - "function".len();
    let _ = writeln!(text, "{}", style.bold(&heading));
    for visible in &calibration.visible {
        let name = printable(&visible.function);
        let _ = writeln!(
            text,
            "{:>8} {:>9}  {}",
            percent(visible.share),
            growth(visible.change),
            style.fit(&name, function_column),
        );
    }
    text
}

/// `+12%`, rounded up; above a tenfold, `12x`.
fn growth(change: Option<f64>) -> String {
    match change {
        None => "not found".to_owned(),
        Some(change) if change >= 10.0 => format!("{:.0}x", change.ceil()),
        Some(change) => format!("+{:.0}%", ((change - 1.0) * 100.0).ceil()),
    }
}
