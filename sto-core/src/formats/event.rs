//! What the counts of an event are.

use crate::units::Unit;

/// The unit of an event's periods: nanoseconds for perf's two software clocks (`cpu-clock`,
/// `task-clock`, with or without modifiers as in `cpu-clock:u`), occurrences for every other
/// event.
///
/// Source: the kernel's `kernel/events/core.c`, which runs these two from a high-resolution timer
/// whose period is in nanoseconds.
pub fn units_of_event(event: &str) -> Unit {
    match event.split(':').next() {
        Some("cpu-clock" | "task-clock") => Unit::Nanoseconds,
        _ => Unit::Events,
    }
}
