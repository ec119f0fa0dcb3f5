//! What perf's events count.

use crate::units::Unit;

/// The unit of an event's period, by its name: clocks count nanoseconds, all others themselves.
pub(super) fn unit(event: &str) -> Unit {
    match event.split(':').next() {
        Some("cpu-clock" | "task-clock") => Unit::Nanoseconds,
        _ => Unit::Events,
    }
}
