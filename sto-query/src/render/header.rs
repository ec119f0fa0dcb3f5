//! The heading of a report: program, build, samples and time ranges.

use crate::listing::ProfileSummary;
use crate::text::names::distinct_names;
use crate::text::{
    Style, format_count, group_digits, list_names, percent, printable, quantity, seconds,
    short_name, title,
};
use crate::tree::{RunWindow, Subject};
use std::fmt::Write;
use sto_core::Hint;
use sto_core::units::Cost;

/// Event of stacks that don't name one, such as folded stacks. It is not shown, as "samples of
/// samples" would be redundant.
const NO_EVENT: &str = "samples";

/// Share of samples without complete callers from which on the heading mentions them.
const MANY_INCOMPLETE: f64 = 0.2;

/// Explains what self includes if inlined frames were removed from the stacks.
pub(super) fn inlined_note(style: Style) -> String {
    let separately = style
        .words
        .hint_phrase("; ", Hint::CountInlined, " counts that separately");
    format!("Self includes what was inlined into a function{separately}.")
}

/// Returns the heading of a report: `demo@v1: 1,234 samples of cpu-clock (1.23 s) in 2 profiles`,
/// and on further lines the time range if only a part of the runs was selected, and how many samples
/// lack callers if these are many.
pub(super) fn header(subject: &Subject, style: Style) -> String {
    let mut text = first_line(subject, style);
    if let Some(taken) = window_text(&subject.windows) {
        text += &format!("\n{}", title(style, &taken).trim_end());
    }
    if subject.incomplete >= MANY_INCOMPLETE {
        let share = percent(subject.incomplete);
        let lacking = format!("{share} of samples lack some or all of their callers.");
        text += &format!("\n{}", title(style, &lacking).trim_end());
    }
    text
}

/// Returns the first line of a [header].
pub(super) fn first_line(subject: &Subject, style: Style) -> String {
    let samples = format_count(subject.samples, "sample");
    let mut what = format!(": {samples}");
    if let Some(sample_type) = &subject.sample_type {
        if sample_type.event != NO_EVENT {
            what += &format!(" of {}", printable(&sample_type.event));
        }
        if let Some(quantity) = quantity(subject.value, sample_type.unit) {
            what += &format!(" ({quantity})");
        }
    }
    what += &format!(
        " in {}",
        format_count(subject.profiles.len() as u64, "profile")
    );
    let line = title(style, &format!("{}{what}", full_name(subject)));
    style.bold(line.trim_end())
}

/// Describes the selected time ranges of runs: `2.500 s to 4.000 s of 10.200 s`.
pub(in crate::render) fn window_text(windows: &[RunWindow]) -> Option<String> {
    let part = |window: &RunWindow| {
        let part = format!("{} to {}", seconds(window.from), seconds(window.to));
        if window.rest {
            format!("all but {part}")
        } else {
            part
        }
    };
    let (first, others) = windows.split_first()?;
    let of = format!("{} of {}", part(first), seconds(first.duration));
    Some(match others.len() as u64 {
        0 => of,
        more if others.iter().all(|other| part(other) == part(first)) => {
            format!(
                "{of}, and the same of {}",
                format_count(more, "more profile")
            )
        }
        more => format!("{of}, and a part of {}", format_count(more, "more profile")),
    })
}

/// Formats `1,234 samples of cpu-clock`. The events of a profile with several are listed by
/// [`write_events`].
pub(super) fn samples_of_event(profile: &ProfileSummary) -> String {
    let samples = format_count(profile.samples, "sample");
    match &profile.events[..] {
        [only] if only.event != NO_EVENT => format!("{samples} of {}", printable(&only.event)),
        _ => samples,
    }
}

/// Writes one line per event, `641 of cpu-clock (643 ms)`, if a profile has several.
pub(super) fn write_events(text: &mut String, profile: &ProfileSummary, totals: &[Cost]) {
    if profile.events.len() == 1 {
        return;
    }
    let numbers = totals.iter().map(|total| group_digits(total.samples));
    let numbers: Vec<String> = numbers.collect();
    let width = numbers.iter().map(String::len).max().unwrap_or(0);
    for ((event, total), number) in profile.events.iter().zip(totals).zip(numbers) {
        let value = quantity(total.value, event.unit);
        let value = value.map_or(String::new(), |value| format!(" ({value})"));
        let event = printable(&event.event);
        let _ = writeln!(text, "    {number:>width$} of {event}{value}");
    }
}

/// Formats `EXE@BUILD`.
pub(super) fn full_name(subject: &Subject) -> String {
    format!(
        "{}@{}",
        printable(&subject.executable),
        printable(&subject.build)
    )
}

/// Names the functions that a report is about: `parse`, or `3 functions (a, b, c)`.
pub(super) fn functions(names: &[&str]) -> String {
    const NAMED: usize = 5;
    if let [only] = names {
        return short_name(&printable(only));
    }
    let all = format_count(names.len() as u64, "function");
    let names = distinct_names(names.iter().copied());
    format!("{all} ({})", printable(&list_names(&names, NAMED)))
}
