//! How often curves of equal builds are reported as different, as text.

use super::{asked, run_of};
use crate::compare::CurveCalibration;
use crate::text::{Cell, Column, Style, Table, format_count, paragraph, percent, printable, title};

/// Returns the calibration as text, with one row per method of comparing curves.
pub fn calibrated(report: &CurveCalibration, style: Style) -> String {
    let head = format!("{}, {}", asked(&report.of), run_of(&report.of));
    let text = style.bold(&title(style, &head)) + "\n";
    let Some(first) = report.ways.first() else {
        let x = printable(&report.of.x);
        let little = format!("TOO LITTLE DATA: it takes two or more runs of each {x}.");
        return text + &paragraph(style, "", &little, 0);
    };
    let times = format_count(first.comparisons.comparisons as u64, "time");
    let sentence = format!(
        "Runs of each {} were dealt to two sides {times}. This often, equal builds were reported as a degradation:",
        printable(&report.of.x)
    );
    let mut table = Table::new(vec![
        Column::number("any function"),
        Column::number("95% interval").with_drop_rank(1),
        Column::number("of functions"),
        Column::text(""),
    ]);
    for way in &report.ways {
        let any = way.comparisons;
        table.add_row(vec![
            Cell::from(percent(any.share)),
            Cell::from(format!("{} to {}", percent(any.low), percent(any.high))),
            Cell::from(percent(way.functions.share)),
            Cell::from(match way.detector {
                None => "compare-models".to_owned(),
                Some(detector) => detector.name().replace('-', " "),
            }),
        ]);
    }
    text + &paragraph(style, "", &sentence, 0) + "\n" + &table.render(style)
}
