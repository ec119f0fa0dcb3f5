//! The call tree over builds, as text and as a page.

mod page;
mod text;

pub use page::html;
pub use text::text;

use super::series::subject;
use crate::history::{Evolution, EvolvedStack};
use crate::render::findings::words::ratio;
use crate::text::{format_count, printable};

/// Formats `demo, 50 runs of 10 builds, 0.1.0 to 0.10.0`.
fn heading(report: &Evolution) -> String {
    let runs = format_count(report.history.runs as u64, "run");
    let builds = format_count(report.builds.len() as u64, "build");
    let history = subject(&report.history, &format!("{runs} of {builds}"));
    match &report.builds[..] {
        [first, .., last] => {
            format!(
                "{history}, {} to {}",
                printable(&first.build),
                printable(&last.build)
            )
        }
        _ => history,
    }
}

/// Formats the change of a stack's cost from the first build to the last.
fn change(stack: &EvolvedStack) -> String {
    match stack.ends() {
        (0.0, last) => ratio(None, last > 0.0),
        (first, last) => ratio(Some(last / first), last > 0.0),
    }
}
