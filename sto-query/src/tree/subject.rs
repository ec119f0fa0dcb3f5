//! Parts of many results: subject, frames and costs.

use super::{RunWindow, View, share};
use crate::select::Selection;
use serde::Serialize;
use sto_core::id::ProfileId;
use sto_core::model::{Frame, FrameKind};
use sto_core::units::{Cost, SampleType};

/// The program, build and profiles that a result is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Subject {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// Ids of the profiles.
    pub profiles: Vec<ProfileId>,
    /// The measured event; `None` if the profiles measured nothing.
    pub sample_type: Option<SampleType>,
    /// Number of samples of that type in all profiles.
    pub samples: u64,
    /// Their value, in the sample type's unit.
    pub value: u64,
    /// Share of the samples of all events that lack some or all callers, from 0 to 1; omitted in
    /// JSON if none does.
    #[serde(skip_serializing_if = "is_none")]
    pub incomplete: f64,
    /// The selected part of the time of each profile; omitted in JSON if all of it is selected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<RunWindow>,
}

impl Subject {
    /// Describes a whole view in one sample type.
    pub fn new(view: &View, sample_type: usize) -> Self {
        let whole = view.self_costs(sample_type).into_iter().sum();
        Subject::with_whole(view, sample_type, whole)
    }

    pub(crate) fn with_whole(view: &View, sample_type: usize, whole: Cost) -> Self {
        let build = &view.selection.build;
        let profiles = &view.selection.profiles;
        Subject {
            executable: build.executable.clone(),
            build: build.version.clone(),
            profiles: profiles.iter().map(|p| p.id).collect(),
            sample_type: view.sample_types.get(sample_type).cloned(),
            samples: whole.samples,
            value: whole.value,
            incomplete: incomplete(&view.selection),
            windows: view.windows.clone(),
        }
    }
}

fn is_none(share: &f64) -> bool {
    *share == 0.0
}

fn incomplete(selection: &Selection) -> f64 {
    let qualities = || selection.profiles.iter().map(|p| &p.profile.quality);
    let samples: u64 = qualities().map(|quality| quality.samples).sum();
    let incomplete: u64 = qualities()
        .map(|quality| quality.truncated + quality.without_stack)
        .sum();
    incomplete as f64 / samples.max(1) as f64
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FrameInfo {
    /// The function's symbol, as in the profile.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// Kind of code.
    pub kind: FrameKind,
    /// Its source file; empty if unknown.
    pub file: String,
}

impl From<Frame<'_>> for FrameInfo {
    fn from(frame: Frame<'_>) -> Self {
        FrameInfo {
            function: frame.symbol.to_owned(),
            module: frame.module.to_owned(),
            kind: frame.kind,
            file: frame.file.to_owned(),
        }
    }
}

/// A cost and its share of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CostShare {
    /// Number of samples.
    pub samples: u64,
    /// Their value, in the sample type's unit.
    pub value: u64,
    /// Share of the whole, from 0 to 1; 0 if the whole is 0.
    pub share: f64,
}

impl CostShare {
    pub(crate) fn new(cost: Cost, whole: Cost) -> Self {
        CostShare {
            samples: cost.samples,
            value: cost.value,
            share: share(cost, whole),
        }
    }
}
