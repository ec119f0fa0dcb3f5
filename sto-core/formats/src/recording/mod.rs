//! The result of every reader: samples of stacks of locations.

mod builder;
mod format;
mod logged;
pub(crate) mod over_time;
mod parts;
mod samples;
mod stacks;

pub use builder::RecordingBuilder;
pub(crate) use builder::SampleKey;
pub use format::{Format, UnknownFormat};
pub(crate) use format::{each_format, known};
pub use logged::LoggedCalls;
pub use parts::{Built, GUEST_MODULES, process_name, text_prefix};
pub use parts::{
    Location, LocationIx, Module, ModuleIx, ModuleKind, Process, ProcessIx, RecordingError, Sample,
    SampleTypeIx, StackIx, Thread, ThreadIx,
};
pub(crate) use samples::{Samples, times_of};
pub use stacks::Stacks;
pub use stacks::Walk;

use hashbrown::HashMap;
use parts::check_index;
use sto_model::id::RecordingDigest;
use sto_model::trace::RunCalls;
use sto_model::units::{Bytes, Nanoseconds, SampleType};
use sto_model::{FrameTable, MetricSeries, Origin};

/// Warning about a perf recording without call chains.
pub(crate) const NO_CALL_CHAINS: &str = "No sample has a call chain, so functions only have self costs and no callers; record with \
    `perf record -g` or `perf record --call-graph dwarf`.";

/// A recording as read from its file, before symbolization. All its indices are valid.
///
/// It dereferences to its [parts](RecordingParts). It is made by [`read`](crate::read()), by a
/// [`RecordingBuilder`], or from parts, which are checked.
#[derive(Debug)]
pub struct Recording {
    parts: RecordingParts,
    /// The individual calls, if this is a call trace.
    #[allow(dead_code, reason = "moments are found in it")]
    #[doc(hidden)]
    pub logged: Option<Box<LoggedCalls>>,
}

/// The parts of a [`Recording`], all writable. [`Recording::try_from`] checks them.
#[derive(Debug)]
pub struct RecordingParts {
    /// The format it was read from.
    pub format: Format,
    /// Digest of the source's bytes.
    pub source: RecordingDigest,
    /// Size of the source.
    pub source_bytes: Bytes,
    /// The machine and command of the recording.
    pub origin: Origin,
    /// The measured events.
    pub sample_types: Vec<SampleType>,
    /// The sampled processes, and the recorded one.
    pub processes: Vec<Process>,
    /// The process that the user recorded, if it is known. All others are processes that it started.
    pub recorded: Option<ProcessIx>,
    /// The sampled threads.
    pub threads: Vec<Thread>,
    /// The files that code was loaded from.
    pub modules: Vec<Module>,
    /// Distinct code locations.
    pub locations: Vec<Location>,
    /// Frames, for formats that name functions instead of addresses; see [`Location::Named`].
    pub named: FrameTable,
    /// Distinct stacks of locations.
    pub stacks: Stacks,
    /// The samples, in order of time if the recording has times, otherwise in the file's order.
    pub samples: Vec<Sample>,
    /// Metrics over time, by the samples' clock. Their names are distinct.
    pub metrics: Vec<MetricSeries>,
    /// The calls over time, if this is a call trace; the samples are then their durations.
    pub calls: Option<RunCalls<StackIx>>,
    /// Number of events lost while recording.
    pub lost: u64,
    /// Warnings for the user, as whole sentences.
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

    /// Checks that every index is valid.
    ///
    /// # Errors
    /// Returns an error with the path of the first invalid index: `samples[3].stack`.
    fn try_from(parts: RecordingParts) -> Result<Recording, RecordingError> {
        parts.check()?;
        Ok(Recording {
            parts,
            logged: None,
        })
    }
}

impl Recording {
    /// Changes the parts and checks them again.
    ///
    /// # Errors
    /// Returns an error if an index is invalid, like [`Recording::try_from`].
    pub fn edit(
        mut self,
        change: impl FnOnce(&mut RecordingParts),
    ) -> Result<Recording, RecordingError> {
        change(&mut self.parts);
        self.parts.try_into()
    }

    /// The parts, for changes that keep indices and tables valid.
    #[doc(hidden)]
    pub fn parts_mut(&mut self) -> &mut RecordingParts {
        &mut self.parts
    }
}

impl RecordingParts {
    /// The times of the first and last sample; `None` if no sample has a time.
    #[doc(hidden)]
    pub fn time_range(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        times_of(&self.samples)
    }

    /// Aliases of modules by file name: if the user names the program, its frames carry that name
    /// instead.
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
                check_index(format_args!("samples[{row}].{field}"), index, table)?;
            }
        }
        for (row, thread) in self.threads.iter().enumerate() {
            let at = format_args!("threads[{row}].process");
            check_index(at, thread.process.0, processes)?;
        }
        for (row, process) in self.processes.iter().enumerate() {
            if let Some(main) = process.main_module {
                let at = format_args!("processes[{row}].main_module");
                check_index(at, main.0, modules)?;
            }
        }
        if let Some(recorded) = self.recorded {
            check_index("recorded", recorded.0, processes)?;
        }
        for (row, &location) in self.locations.iter().enumerate() {
            let at = format_args!("locations[{row}]");
            match location {
                Location::Address { module, .. } => check_index(at, module.0, modules)?,
                Location::Named(frame) => check_index(at, frame.0, named)?,
                Location::Unmapped => {}
            }
        }
        for stack in self.stacks.iter() {
            for location in self.stacks.own_locations(stack) {
                check_index(format_args!("stacks[{}]", stack.0), location.0, locations)?;
            }
        }
        Ok(())
    }
}
