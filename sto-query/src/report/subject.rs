//! The parts that reports share: what they are about, frames, costs.

use crate::tree::{View, share};
use serde::Serialize;
use sto_core::model::Frame;
use sto_core::units::{Cost, SampleType, Unit};

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subject {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// Ids of the profiles.
    pub profiles: Vec<String>,
    /// What was measured; `None` where the profiles measured nothing.
    pub sample_type: Option<SampleTypeReport>,
    /// Number of samples of that type in all profiles.
    pub samples: u64,
    /// Their value, in the sample type's unit.
    pub value: u64,
}

impl Subject {
    /// All of a view, in one sample type.
    pub fn of(view: &View, sample_type: usize) -> Self {
        let whole = view.self_costs(sample_type).into_iter().sum();
        Subject::new(view, sample_type, whole)
    }

    pub(crate) fn new(view: &View, sample_type: usize, whole: Cost) -> Self {
        let build = &view.selection.build;
        let profiles = &view.selection.profiles;
        Subject {
            executable: build.executable.clone(),
            build: build.version.clone(),
            profiles: profiles.iter().map(|p| p.id.to_string()).collect(),
            sample_type: view
                .sample_types
                .get(sample_type)
                .map(SampleTypeReport::from),
            samples: whole.samples,
            value: whole.value,
        }
    }
}

/// A sample type: an event and the unit of its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleTypeReport {
    /// The event: `cpu-clock`, `cycles`.
    pub event: String,
    /// The unit.
    #[serde(serialize_with = "unit_name")]
    pub unit: Unit,
}

impl From<&SampleType> for SampleTypeReport {
    fn from(sample_type: &SampleType) -> Self {
        SampleTypeReport {
            event: sample_type.event.clone(),
            unit: sample_type.unit,
        }
    }
}

fn unit_name<S: serde::Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(unit.name())
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameReport {
    /// The function: its symbol as the profile has it.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// How it came to run: `user`, `kernel`, `inlined`, ...
    pub kind: &'static str,
    /// Its source file; empty if unknown.
    pub file: String,
}

impl From<Frame<'_>> for FrameReport {
    fn from(frame: Frame<'_>) -> Self {
        FrameReport {
            function: frame.symbol.to_owned(),
            module: frame.module.to_owned(),
            kind: frame.kind.name(),
            file: frame.file.to_owned(),
        }
    }
}

/// What the samples of an event cost together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EventTotal {
    /// Number of samples.
    pub samples: u64,
    /// Their value, in the event's unit.
    pub value: u64,
}

impl From<Cost> for EventTotal {
    fn from(cost: Cost) -> Self {
        EventTotal {
            samples: cost.samples,
            value: cost.value,
        }
    }
}

/// A cost and its share of everything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// Number of samples.
    pub samples: u64,
    /// Their value, in the sample type's unit.
    pub value: u64,
    /// Share of the whole, from 0 to 1; see [`share`].
    pub share: f64,
}

impl CostReport {
    pub(crate) fn new(cost: Cost, whole: Cost) -> Self {
        CostReport {
            samples: cost.samples,
            value: cost.value,
            share: share(cost, whole),
        }
    }
}
