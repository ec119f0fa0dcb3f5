//! The sampled events of a recording.

use super::attributes::{Attributes, attributes};
use super::check::Mode;
use super::sample::Layout;
use crate::error::FormatError;
use crate::names::units_of_event;
use hashbrown::HashMap;
use linux_perf_data::linux_perf_event_reader::{
    ClockId, HardwareEventId, PerfClock, PerfEventType, SoftwareCounterType,
};
use linux_perf_data::{Feature, PerfFile};
use std::ops::Range;
use std::path::Path;
use sto_binary::Machine;
use sto_model::bytes::u32_at;
use sto_model::files::ReadAt;
use sto_model::limits::{MAX_NAME, truncate_text};
use sto_model::units::SampleType;

/// The tracepoint of context switches.
pub(super) const SCHED_SWITCH: &str = "sched:sched_switch";

/// The events of a recording, in the order of their attributes.
pub(super) struct Events {
    pub(super) sample_types: Vec<SampleType>,
    pub(super) layouts: Vec<Layout>,
    /// Index of the tracepoint of context switches, if it was sampled.
    pub(super) sched_switch: Option<u32>,
    /// Index of the event of each id.
    pub(super) of_id: HashMap<u64, u32>,
    /// Whether times are from `CLOCK_MONOTONIC` (`perf record -k mono`).
    pub(super) is_monotonic: bool,
}

impl Events {
    /// The events of a checked file. Returns an error if their samples cannot be read.
    pub(super) fn new(
        path: &Path,
        file: &PerfFile,
        bytes: &dyn ReadAt,
        mode: Mode,
        machine: Machine,
    ) -> Result<Events, FormatError> {
        let mut events = Events {
            sample_types: Vec::new(),
            sched_switch: None,
            layouts: Vec::new(),
            of_id: HashMap::new(),
            is_monotonic: false,
        };
        let announced = attributes(bytes, mode);
        let group_desc = file.feature_section_data(Feature::GROUP_DESC);
        let counting = count_branches(&announced, group_desc.unwrap_or_default());
        for (number, description) in file.event_attributes().iter().enumerate() {
            let attr = description.attributes();
            let mut name = match description.name().or_else(|| generic_name(attr.type_)) {
                Some(name) => name.to_owned(),
                None => format!("event-{number}"),
            };
            // The same event with other settings keeps them, to be told apart.
            let is_new = |name: &String| !events.sample_types.iter().any(|of| of.event == *name);
            let generic = || without_settings(&name).filter(is_new);
            if let Some(generic) = without_core_type(&name).or_else(generic) {
                name = generic;
            }
            if name == SCHED_SWITCH {
                events.sched_switch = Some(number as u32);
            }
            truncate_text(&mut name, MAX_NAME);
            events.sample_types.push(SampleType {
                unit: units_of_event(&name),
                event: name,
            });
            let ids = description.ids().iter();
            events.of_id.extend(ids.map(|&id| (id, number as u32)));
            let announced = announced.get(number);
            if let Some(problem) = announced.and_then(Attributes::problem) {
                return Err(FormatError::Unsupported {
                    path: path.into(),
                    problem: format!("event {number}: {problem}"),
                });
            }
            let read = announced.map_or(attr.read_format.bits(), |event| event.read_format);
            let counts_branches = counting.get(number) == Some(&true);
            let layout = Layout::new(machine, attr, read, counts_branches);
            events.layouts.push(layout);
            events.is_monotonic = matches!(attr.clock, PerfClock::ClockId(ClockId::Monotonic));
        }
        Ok(events)
    }

    pub(super) fn have_stacks(&self) -> bool {
        self.layouts.iter().any(Layout::has_stacks)
    }

    pub(super) fn save_stacks(&self) -> bool {
        self.layouts.iter().any(Layout::saves_stacks)
    }

    pub(super) fn rely_on_frame_pointers(&self) -> bool {
        let mut with_stacks = self.layouts.iter().filter(|layout| layout.has_stacks());
        with_stacks.all(Layout::relies_on_frame_pointers)
    }
}

/// Returns perf's name of an event, for old files without names. Source: `evsel__hw_names` and
/// `evsel__sw_names` in `tools/perf/util/evsel.c`.
fn generic_name(event: PerfEventType) -> Option<&'static str> {
    use HardwareEventId as Hardware;
    use SoftwareCounterType as Software;
    Some(match event {
        PerfEventType::Hardware(event, _) => match event {
            Hardware::CpuCycles => "cycles",
            Hardware::Instructions => "instructions",
            Hardware::CacheReferences => "cache-references",
            Hardware::CacheMisses => "cache-misses",
            Hardware::BranchInstructions => "branches",
            Hardware::BranchMisses => "branch-misses",
            Hardware::BusCycles => "bus-cycles",
            Hardware::StalledCyclesFrontend => "stalled-cycles-frontend",
            Hardware::StalledCyclesBackend => "stalled-cycles-backend",
            Hardware::RefCpuCycles => "ref-cycles",
            _ => return None,
        },
        PerfEventType::Software(event) => match event {
            Software::CpuClock => "cpu-clock",
            Software::TaskClock => "task-clock",
            Software::PageFaults => "page-faults",
            Software::ContextSwitches => "context-switches",
            Software::CpuMigrations => "cpu-migrations",
            Software::PageFaultsMin => "minor-faults",
            Software::PageFaultsMaj => "major-faults",
            Software::AlignmentFaults => "alignment-faults",
            Software::EmulationFaults => "emulation-faults",
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns the name of an event that the kernel counts separately on each type of core of a hybrid
/// processor: `cycles:P` of `cpu_core/cycles/P` and `cpu_atom/cycles/P`.
fn without_core_type(event: &str) -> Option<String> {
    let types = ["cpu_core/", "cpu_atom/", "cpu_lowpower/"];
    let event = types.iter().find_map(|core| event.strip_prefix(core))?;
    let (name, modifiers) = event.rsplit_once('/')?;
    Some(match modifiers {
        "" => name.to_owned(),
        modifiers => format!("{name}:{modifiers}"),
    })
}

/// Returns the name of an event without the settings by which it was sampled: `cpu-clock` of
/// `cpu-clock/freq=997/`. Those of a PMU's events, such as `cpu/event=0x3c/`, say what is counted.
fn without_settings(event: &str) -> Option<String> {
    const SETTINGS: [&str; 4] = ["freq=", "period=", "call-graph=", "stack-size="];
    let (name, settings) = event.strip_suffix('/')?.split_once('/')?;
    let is_setting = |term: &str| SETTINGS.iter().any(|setting| term.starts_with(setting));
    settings.split(',').all(is_setting).then(|| name.to_owned())
}

/// Whether the samples of each event have branch counters. All events of a group have them if one
/// of the group asks for them (`is_branch_counters_group` of `arch/x86/events/perf_event.h`).
fn count_branches(events: &[Attributes], group_desc: &[u8]) -> Vec<bool> {
    let mut counting: Vec<bool> = events.iter().map(Attributes::counts_branches).collect();
    for group in groups(group_desc) {
        let group = counting.get_mut(group).unwrap_or_default();
        let counts = group.contains(&true);
        group.fill(counts);
    }
    counting
}

/// The groups in `HEADER_GROUP_DESC` of `tools/perf/util/header.c`: the number of groups with two
/// or more events, then the name, first event and length of each.
fn groups(section: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let number = |at: usize| u32_at(section, at).map(|number| number as usize);
    let mut at = 4;
    let group = move || {
        let after_name = at + 4 + number(at)?;
        let (first, events) = (number(after_name)?, number(after_name + 4)?);
        at = after_name + 8;
        Some(first..first + events)
    };
    std::iter::from_fn(group).take(number(0).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_counted_and_not_how() {
        for (recorded, name) in [
            ("cpu_core/cycles/P", Some("cycles:P")),
            ("cpu_atom/cycles/", Some("cycles")),
            ("cpu-clock/freq=997/", Some("cpu-clock")),
            ("page-faults/call-graph=no,period=100/", Some("page-faults")),
            ("cpu/event=0x3c,period=100/", None),
            ("cycles:P", None),
            ("intel_pt//", None),
        ] {
            let found = without_core_type(recorded).or_else(|| without_settings(recorded));
            assert_eq!(found.as_deref(), name, "{recorded}");
        }
    }
}
