//! What became of an average, in a line.

use crate::average::StoredAverage;
use crate::text::{Style, counted, printable};

/// `demo@history: the mean of 12 profiles, 2,716 samples on 57 stacks`.
pub fn text(report: &StoredAverage, style: Style) -> String {
    let name = format!(
        "{}@{}",
        printable(&report.executable),
        printable(&report.build)
    );
    let stored = if report.already_stored {
        "; it was stored before"
    } else {
        ""
    };
    format!(
        "{}: the mean of {}, {} on {}{stored}\n",
        style.bold(&name),
        counted(report.of as u64, "profile"),
        counted(report.samples, "sample"),
        counted(report.nodes as u64, "stack"),
    )
}
