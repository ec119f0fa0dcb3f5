//! Hints: remedies for errors and warnings, for which each program names its own command or option.

use serde::{Deserialize, Serialize};

/// A remedy for an error or warning, or a next step after a result.
///
/// Messages describe it in general terms. The command adds the option that does it, a server the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Hint {
    /// Read a truncated file up to where it is complete.
    AllowTruncated,
    /// Specify the format of a file.
    NameFormat,
    /// Specify the time in the recording at which a trace begins.
    TraceStart,
    /// Allow compressed data to expand to more bytes.
    RaiseMaxInput,
    /// Specify the build.
    NameBuild,
    /// Use another store.
    OtherStore,
    /// Create a store by ingesting a recording.
    MakeStore,
    /// Keep at least one time slice.
    KeepSlices,
    /// Read or store the recording with costs by time slice.
    SliceTime,
    /// Keep every call of a call trace.
    KeepCalls,
    /// Do not divide time into slices.
    WholeTime,
    /// Specify folders of files with symbols.
    SymbolFolder,
    /// Look up the names of functions that had none when their profiles were stored.
    Symbolize,
    /// Add a profile to the store.
    AddProfile,
    /// List the builds and their runs.
    ListBuilds,
    /// List the phases of a run and their times.
    ListPhases,
    /// List the runs and their properties.
    ListRuns,
    /// Specify the program.
    NameProgram,
    /// Specify the benchmark.
    NameBenchmark,
    /// Add a metric to runs.
    AttachMetric,
    /// Compare two builds.
    Check,
    /// Compare two builds and show all details.
    CheckInFull,
    /// Compact the store.
    Compact,
    /// Count inlined functions separately.
    CountInlined,
    /// Show how the functions of two builds are matched.
    ExplainMatch,
    /// Output JSON.
    Json,
    /// Output a JSON report with the result for each file.
    JsonReport,
    /// Compare the cost of runs that did the same work.
    PerRun,
    /// Remove a run.
    RemoveRun,
    /// Tag a build.
    SetTag,
    /// Show everything.
    ShowAll,
    /// Specify folders of source files.
    SourceFolder,
    /// List the most expensive functions, with inlined functions separately.
    TopInlined,
    /// Compare runs that did different amounts of work.
    UnequalWork,
}

/// A message about the input, or a part of one, with an optional remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Notice {
    /// The text, which is complete without the hint.
    pub text: String,
    /// The remedy, if there is one.
    pub hint: Option<Hint>,
}

impl Notice {
    /// Creates a notice with a hint.
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
