//! What every format is read into: samples of stacks of locations.

mod builder;
mod format;
mod logged;
pub(crate) mod over_time;
mod parts;
mod samples;
mod stacks;

pub(crate) use builder::Measured;
pub use builder::RecordingBuilder;
pub use format::{Format, UnknownFormat};
pub(crate) use format::{each_format, known};
pub use logged::LoggedCalls;
pub use parts::{Built, GUEST, beginning, process_name};
pub use parts::{
    Location, LocationIx, Module, ModuleIx, ModuleKind, Process, ProcessIx, RecordingError, Sample,
    SampleTypeIx, StackIx, Thread, ThreadIx,
};
pub(crate) use samples::{Samples, times_of};
pub use stacks::Stacks;
pub use stacks::Walk;

use hashbrown::HashMap;
use parts::within;
use sto_model::id::SourceDigest;
use sto_model::trace::RunCalls;
use sto_model::units::{Bytes, Nanoseconds, SampleType};
use sto_model::{FrameTable, MetricSeries, Origin};

/// A warning about a recording of perf.
pub(crate) const NO_CALL_CHAINS: &str = "No sample has a call chain, so functions have costs of their own, and no callers; record with \
    `perf record -g` or `perf record --call-graph dwarf`.";

/// A recording as its file has it: nothing is resolved yet. Every index in it is of something that it has.
///
/// It is read as its [parts](RecordingParts), and made by [`formats::read`](crate::read()), by a
/// [`RecordingBuilder`], or out of parts that are checked.
#[derive(Debug)]
pub struct Recording {
    parts: RecordingParts,
    /// Its calls one by one, where it is a trace of calls.
    #[allow(dead_code, reason = "moments are found in it")]
    #[doc(hidden)]
    pub logged: Option<Box<LoggedCalls>>,
}

/// What a [`Recording`] is made of, each open to be written; [`Recording::try_from`] checks it.
#[derive(Debug)]
pub struct RecordingParts {
    /// The format it was read from.
    pub format: Format,
    /// Digest of its bytes.
    pub source: SourceDigest,
    /// Size of its bytes.
    pub source_bytes: Bytes,
    /// Where and how it was made.
    pub origin: Origin,
    /// What was measured.
    pub sample_types: Vec<SampleType>,
    /// The processes that samples were taken in.
    pub processes: Vec<Process>,
    /// The threads that samples were taken in.
    pub threads: Vec<Thread>,
    /// The files that code was loaded from.
    pub modules: Vec<Module>,
    /// Distinct locations in code.
    pub locations: Vec<Location>,
    /// Frames of formats that name functions instead of addresses; see [`Location::Named`].
    pub named: FrameTable,
    /// Distinct stacks of locations.
    pub stacks: Stacks,
    /// The samples, in order of time where the recording has time stamps, else of the file.
    pub samples: Vec<Sample>,
    /// Metrics over time that the recording has beside its samples, by the samples' clock; no two of one name.
    pub metrics: Vec<MetricSeries>,
    /// Its calls over time, where it is a trace of calls: its samples are then what these took.
    pub calls: Option<RunCalls<StackIx>>,
    /// Events that were dropped while recording.
    pub lost: u64,
    /// Whole sentences about what a user should know of this recording.
    pub warnings: Vec<String>,
}

impl std::ops::Deref for Recording {
    type Target = RecordingParts;

    fn deref(&self) -> &RecordingParts {
        &self.parts
    }
}

impl TryFrom<RecordingParts> for Recording {
    type Error = RecordingError;

    /// Checks that every index is one of what the recording has.
    ///
    /// # Errors
    /// With where one is that is not: `samples[3].stack`.
    fn try_from(parts: RecordingParts) -> Result<Recording, RecordingError> {
        parts.check()?;
        Ok(Recording {
            parts,
            logged: None,
        })
    }
}

impl Recording {
    /// Changes its parts, and checks them again.
    ///
    /// # Errors
    /// As of [`Recording::try_from`].
    pub fn edit(
        mut self,
        change: impl FnOnce(&mut RecordingParts),
    ) -> Result<Recording, RecordingError> {
        change(&mut self.parts);
        self.parts.try_into()
    }

    /// Its parts, for changes that leave indices and tables as they are.
    #[doc(hidden)]
    pub fn parts_mut(&mut self) -> &mut RecordingParts {
        &mut self.parts
    }
}

impl RecordingParts {
    /// When its first sample was taken, and its last; `None` where none has a time.
    #[doc(hidden)]
    pub fn time_range(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        times_of(&self.samples)
    }

    /// Other names of modules, by their own: where the user names the program, frames carry that instead of
    /// its file's.
    #[doc(hidden)]
    pub fn aliases(&self) -> HashMap<&str, &str> {
        let mut aliases = HashMap::new();
        for module in &self.modules {
            if let Some(alias) = &module.alias {
                aliases.entry(module.file_name()).or_insert(&**alias);
            }
        }
        aliases
    }

    fn check(&self) -> Result<(), RecordingError> {
        let stacks = ("stacks", self.stacks.len());
        let threads = ("threads", self.threads.len());
        let sample_types = ("sample_types", self.sample_types.len());
        let processes = ("processes", self.processes.len());
        let modules = ("modules", self.modules.len());
        let named = ("named", self.named.len());
        let locations = ("locations", self.locations.len());
        for (row, sample) in self.samples.iter().enumerate() {
            for (field, index, table) in [
                ("stack", sample.stack.0, stacks),
                ("thread", sample.thread.0, threads),
                ("sample_type", sample.sample_type.0, sample_types),
            ] {
                within(format_args!("samples[{row}].{field}"), index, table)?;
            }
        }
        for (row, thread) in self.threads.iter().enumerate() {
            let at = format_args!("threads[{row}].process");
            within(at, thread.process.0, processes)?;
        }
        for (row, process) in self.processes.iter().enumerate() {
            if let Some(main) = process.main_module {
                let at = format_args!("processes[{row}].main_module");
                within(at, main.0, modules)?;
            }
        }
        for (row, &location) in self.locations.iter().enumerate() {
            let at = format_args!("locations[{row}]");
            match location {
                Location::Address { module, .. } => within(at, module.0, modules)?,
                Location::Named(frame) => within(at, frame.0, named)?,
                Location::Unmapped => {}
            }
        }
        for stack in self.stacks.iter() {
            for location in self.stacks.own(stack) {
                within(format_args!("stacks[{}]", stack.0), location.0, locations)?;
            }
        }
        Ok(())
    }
}
