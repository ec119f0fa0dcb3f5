//! The parts of a recording, and errors in them.

use std::fmt;
use std::sync::Arc;
use sto_model::SampleLabel;
use sto_model::index_types;
use sto_model::limits::{MAX_NAME, MAX_PROCESS_NAME, truncate_text};
use sto_model::units::{Cost, Nanoseconds};
pub use sto_model::{Location, Module, ModuleIx, ModuleKind};

index_types! {
    /// Index of a sample type in [`RecordingParts::sample_types`](super::RecordingParts::sample_types).
    pub SampleTypeIx;
    /// Index of a process in [`RecordingParts::processes`](super::RecordingParts::processes).
    pub ProcessIx;
    /// Index of a thread in [`RecordingParts::threads`](super::RecordingParts::threads).
    pub ThreadIx;
    /// Index of a stack in [`RecordingParts::stacks`](super::RecordingParts::stacks).
    pub StackIx;
    /// Index of a location in [`RecordingParts::locations`](super::RecordingParts::locations).
    pub LocationIx;
}

/// The error for an exceeded limit or an invalid index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordingError(String);

impl RecordingError {
    pub(super) fn new(problem: impl Into<String>) -> RecordingError {
        RecordingError(problem.into())
    }
}

/// The result of adding to a recording.
#[doc(hidden)]
pub type Built<T> = Result<T, RecordingError>;

impl From<String> for RecordingError {
    fn from(problem: String) -> RecordingError {
        RecordingError(problem)
    }
}

impl From<RecordingError> for String {
    fn from(error: RecordingError) -> String {
        error.0
    }
}

/// Checks an index into the table with this name and length.
pub(super) fn check_index(
    at: impl fmt::Display,
    index: u32,
    (table, length): (&str, usize),
) -> Result<(), RecordingError> {
    if (index as usize) < length {
        Ok(())
    } else {
        Err(RecordingError::new(format!(
            "{at}: {index}; expected an index of {table}, which has {length} entries"
        )))
    }
}

/// A sample, or the sum of several samples of one stack if the format sums them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The sampled stack. It has at least one location: if the file has none, the reader adds a
    /// frame that says so.
    pub stack: StackIx,
    /// The sampled thread.
    pub thread: ThreadIx,
    /// The measured event.
    pub sample_type: SampleTypeIx,
    /// The time by the recording's clock.
    pub time: Option<Nanoseconds>,
    /// The cost; for perf, one sample and its period.
    pub cost: Cost,
    /// Whether the stack was cut off before its root.
    pub truncated: bool,
}

/// A process of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Name of the program: the base name of its main file if known, otherwise its command name.
    pub program: String,
    /// The file of the main program, if known.
    pub main_module: Option<ModuleIx>,
}

/// A thread of a recording. A thread whose samples have different labels has one entry per set of
/// labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Thread id.
    pub tid: u32,
    /// The command name.
    pub name: String,
    /// The process of the thread.
    pub process: ProcessIx,
    /// Labels of the samples, in ascending order and distinct.
    pub labels: Arc<[SampleLabel]>,
}

/// Module names for all code of guests of virtual machines: their kernels, and everything else.
#[doc(hidden)]
pub const GUEST_MODULES: [&str; 2] = ["[guest kernel]", "[guest user]"];

/// The beginning of a text: one byte more than a name may have, so that a cut is still noticed. A
/// file may refer to one long text many times.
#[doc(hidden)]
pub fn text_prefix(text: &[u8]) -> &[u8] {
    &text[..text.len().min(MAX_NAME + 1)]
}

/// Converts the name of a process or thread to text and cuts it at the limit.
#[doc(hidden)]
pub fn process_name(name: &[u8]) -> String {
    // One byte more than the limit shows that the name must be cut.
    let kept = &name[..name.len().min(MAX_PROCESS_NAME + 1)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    truncate_text(&mut text, MAX_PROCESS_NAME);
    text
}
