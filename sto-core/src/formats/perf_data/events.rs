//! The events that a recording sampled.

use super::sample::Layout;
use crate::formats::units_of_event;
use crate::limits::{MAX_NAME, cut};
use crate::units::SampleType;
use linux_perf_data::PerfFile;
use linux_perf_data::linux_perf_event_reader::{ClockId, PerfClock};

/// The events of a recording, in the order of its attributes.
pub(super) struct Events {
    pub(super) sample_types: Vec<SampleType>,
    pub(super) layouts: Vec<Layout>,
    /// Whether times are of `CLOCK_MONOTONIC`: `perf record -k mono`.
    pub(super) is_monotonic: bool,
}

impl Events {
    pub(super) fn of(file: &PerfFile) -> Events {
        let mut events = Events {
            sample_types: Vec::new(),
            layouts: Vec::new(),
            is_monotonic: false,
        };
        for (number, description) in file.event_attributes().iter().enumerate() {
            let mut name = match description.name() {
                Some(name) => name.to_owned(),
                None => format!("event-{number}"),
            };
            cut(&mut name, MAX_NAME);
            let attr = description.attributes();
            events.sample_types.push(SampleType {
                unit: units_of_event(&name),
                event: name,
            });
            events.layouts.push(Layout::of(attr));
            events.is_monotonic = matches!(attr.clock, PerfClock::ClockId(ClockId::Monotonic));
        }
        events
    }

    pub(super) fn have_stacks(&self) -> bool {
        self.layouts.iter().any(Layout::has_stacks)
    }
}
