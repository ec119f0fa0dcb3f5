//! The events that a recording sampled.

use super::sample::Layout;
use crate::formats::units_of_event;
use crate::limits::{MAX_NAME, cut};
use crate::units::SampleType;
use linux_perf_data::PerfFile;
use linux_perf_data::linux_perf_event_reader::{BranchSampleFormat, SampleFormat};

/// The events of a recording, in the order of its attributes.
pub(super) struct Events {
    pub(super) sample_types: Vec<SampleType>,
    pub(super) layouts: Vec<Layout>,
    last_branches: bool,
}

impl Events {
    pub(super) fn of(file: &PerfFile) -> Events {
        let mut events = Events {
            sample_types: Vec::new(),
            layouts: Vec::new(),
            last_branches: false,
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
            events.last_branches |= attr.sample_format.contains(SampleFormat::BRANCH_STACK)
                && attr
                    .branch_sample_format
                    .contains(BranchSampleFormat::CALL_STACK);
        }
        events
    }

    pub(super) fn have_stacks(&self) -> bool {
        self.layouts.iter().any(Layout::has_stacks)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let lbr = "recorded with `--call-graph lbr`: the branch records are not read, so user \
                   frames are missing; record with `--call-graph dwarf` or `fp` instead";
        if self.last_branches {
            vec![lbr.to_owned()]
        } else {
            Vec::new()
        }
    }
}
