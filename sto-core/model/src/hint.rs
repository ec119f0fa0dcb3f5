//! What can be done about an error or a warning, or next, for the program that shows it to name.

use serde::{Deserialize, Serialize};

/// What can be done about an error or a warning, or next with an answer. Texts say so in general; a command adds
/// which of its options does it, a server which of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Hint {
    /// Take what there is of a file that was cut off.
    AllowTruncated,
    /// Name the format of a file.
    NameFormat,
    /// Say at what time of a recording a trace begins.
    TraceStart,
    /// Allow compressed data to expand to more.
    RaiseMaxInput,
    /// Name the build.
    NameBuild,
    /// Use another store.
    OtherStore,
    /// Make a store, by ingesting.
    MakeStore,
    /// Keep slices of time, one at least.
    KeepSlices,
    /// Keep costs by slices of time: read the file, or store it with them.
    SliceTime,
    /// Keep every call of a trace of calls.
    KeepCalls,
    /// Do not cut time into slices.
    WholeTime,
    /// Say in which folders files with symbols are.
    SymbolFolder,
    /// Look for names of functions that had none when their profiles were stored.
    Symbolize,
    /// Add a profile to the store.
    AddProfile,
    /// List the builds with their runs.
    ListBuilds,
    /// List the phases of a run with their times.
    ListPhases,
    /// List the runs with what is known of them.
    ListRuns,
    /// Name the program.
    NameProgram,
    /// Name the benchmark.
    NameBenchmark,
    /// Give runs a metric.
    AttachMetric,
    /// Compare two builds.
    Check,
    /// Compare two builds, and show all that there is to say of it.
    CheckInFull,
    /// Compact the store.
    Compact,
    /// Count inlined functions separately.
    CountInlined,
    /// See how functions of two builds are matched.
    ExplainMatch,
    /// Ask for the answer as JSON.
    Json,
    /// Ask for JSON of what became of each file.
    JsonReport,
    /// Remove a run.
    RemoveRun,
    /// Give a build a tag.
    SetTag,
    /// Ask for all that there is to say.
    ShowAll,
    /// Say in which folders sources are.
    SourceFolder,
    /// List the functions that cost most, with inlined ones separately.
    TopInlined,
}

/// A sentence about what was read, or a part of one, with what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Notice {
    /// The text, complete without the hint.
    pub text: String,
    /// What can be done about it, if it says that something can.
    pub hint: Option<Hint>,
}

impl Notice {
    /// A notice that a hint belongs to.
    pub fn new(text: impl Into<String>, hint: Hint) -> Notice {
        Notice {
            text: text.into(),
            hint: Some(hint),
        }
    }
}

impl<T: Into<String>> From<T> for Notice {
    fn from(text: T) -> Notice {
        Notice {
            text: text.into(),
            hint: None,
        }
    }
}
