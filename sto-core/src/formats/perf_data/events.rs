//! The events that a recording sampled.

use super::check::Mode;
use super::read_format::read_formats;
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
    /// The events of a file whose shape was checked.
    pub(super) fn of(file: &PerfFile, bytes: &[u8], mode: Mode) -> Events {
        let mut events = Events {
            sample_types: Vec::new(),
            layouts: Vec::new(),
            is_monotonic: false,
        };
        let read_formats = read_formats(bytes, mode);
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
            let read = read_formats.get(number).copied();
            let read = read.unwrap_or(attr.read_format.bits());
            events.layouts.push(Layout::of(attr, read));
            events.is_monotonic = matches!(attr.clock, PerfClock::ClockId(ClockId::Monotonic));
        }
        events
    }

    pub(super) fn have_stacks(&self) -> bool {
        self.layouts.iter().any(Layout::has_stacks)
    }

    pub(super) fn rely_on_frame_pointers(&self) -> bool {
        let mut with_stacks = self.layouts.iter().filter(|layout| layout.has_stacks());
        with_stacks.all(Layout::relies_on_frame_pointers)
    }
}
