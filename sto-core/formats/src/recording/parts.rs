//! What a recording is made of, and what is wrong with one.

use std::fmt;
use std::sync::Arc;
use sto_model::SampleLabel;
use sto_model::limits::{MAX_NAME, MAX_PROCESS_NAME, cut};
use sto_model::numbers;
use sto_model::units::{Cost, Nanoseconds};
pub use sto_model::{Location, Module, ModuleIx, ModuleKind};

numbers! {
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

/// A limit that is exceeded, or an index that was not handed out: what was found, what was expected, and what
/// to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordingError(String);

impl RecordingError {
    pub(super) fn new(problem: impl Into<String>) -> RecordingError {
        RecordingError(problem.into())
    }
}

/// What was added to a recording, or why it cannot be.
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

/// Checks an index of a table of that name and length.
pub(super) fn within(
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

/// One sample, or several of one stack that the format already summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The stack that was sampled. It has at least one location: where a recording has none,
    /// its reader puts one that says so.
    pub stack: StackIx,
    /// The thread that ran.
    pub thread: ThreadIx,
    /// The event that took the sample.
    pub sample_type: SampleTypeIx,
    /// When, by the recording's clock.
    pub time: Option<Nanoseconds>,
    /// What the sample stands for: for perf one sample and its period.
    pub cost: Cost,
    /// Whether the stack was cut before its root.
    pub truncated: bool,
}

/// A process of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Name of the program it ran: the base name of its main file, else its command name.
    pub program: String,
    /// The file of its main program, where known.
    pub main_module: Option<ModuleIx>,
}

/// A thread of a recording. One whose samples have different labels stands here for each set of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Thread id.
    pub tid: u32,
    /// Its command name.
    pub name: String,
    /// The process it belongs to.
    pub process: ProcessIx,
    /// What its samples are labelled with, in ascending order, none twice.
    pub labels: Arc<[SampleLabel]>,
}

/// The modules that stand for all code of virtual machines' guests: their kernels, and the rest.
#[doc(hidden)]
pub const GUEST: [&str; 2] = ["[guest kernel]", "[guest user]"];

/// As much of a text as a name may have, and a byte more, which shows that there is more. A file may have one
/// long text, and refer to it everywhere.
#[doc(hidden)]
pub fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(MAX_NAME + 1)]
}

/// The name of a process or thread as text, cut where it is too long.
#[doc(hidden)]
pub fn process_name(name: &[u8]) -> String {
    // A byte more than the limit shows that there is something to cut off.
    let kept = &name[..name.len().min(MAX_PROCESS_NAME + 1)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    cut(&mut text, MAX_PROCESS_NAME);
    text
}
