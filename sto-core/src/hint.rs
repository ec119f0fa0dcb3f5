//! What can be done about an error or a warning, for the program that shows it to name.

/// What can be done about an error or a warning. Its text says so in general; a command adds which of its options
/// does it, a server which of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Take what there is of a file that was cut off.
    AllowTruncated,
    /// Name the format of a file.
    NameFormat,
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
    /// Do not cut time into slices.
    WholeTime,
    /// Say in which folders files with symbols are.
    SymbolFolder,
    /// Add a profile to the store.
    AddProfile,
    /// List the builds with their runs.
    ListBuilds,
    /// List the runs with what is known of them.
    ListRuns,
    /// Name the program.
    NameProgram,
    /// Name the benchmark.
    NameBenchmark,
    /// Give runs a metric.
    AttachMetric,
}

/// A sentence about what was read, or a part of one, with what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The text, complete without the hint.
    pub text: String,
    /// What can be done about it, if it says that something can.
    pub hint: Option<Hint>,
}

impl Notice {
    pub(crate) fn new(text: impl Into<String>, hint: Hint) -> Notice {
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
