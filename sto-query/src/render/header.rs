//! The line that says what a report is about.

use super::numbers::{grouped, quantity};
use super::{Style, display_width, printable};
use crate::report::{ProfileReport, Subject};

/// The event of stacks that name none, as folded ones; "samples of samples" would tell nothing.
const NO_EVENT: &str = "samples";

/// `demo@v1: 1,234 samples of cpu-clock (1.23 s) in 2 profiles`.
pub(super) fn header(subject: &Subject, style: Style) -> String {
    let samples = counted(subject.samples, "sample");
    let mut what = format!(": {samples}");
    if let Some(sample_type) = &subject.sample_type {
        if sample_type.event != NO_EVENT {
            what += &format!(" of {}", printable(&sample_type.event));
        }
        if let Some(quantity) = quantity(subject.value, sample_type.unit) {
            what += &format!(" ({quantity})");
        }
    }
    what += &format!(" in {}", counted(subject.profiles.len() as u64, "profile"));
    let name = style.fit(&full_name(subject), display_width(&what));
    style.bold(&(name + &what))
}

/// `1,234 samples of cpu-clock and page-faults`.
pub(super) fn samples_of_events(profile: &ProfileReport) -> String {
    let samples = counted(profile.samples, "sample");
    let names = profile.events.iter().map(|event| printable(&event.event));
    let names: Vec<_> = names.filter(|name| name != NO_EVENT).collect();
    match names[..] {
        [] => samples,
        _ => format!("{samples} of {}", names.join(" and ")),
    }
}

/// `EXE@BUILD`.
pub(super) fn full_name(subject: &Subject) -> String {
    format!(
        "{}@{}",
        printable(&subject.executable),
        printable(&subject.build)
    )
}

/// `1 profile`, `2 profiles`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}
