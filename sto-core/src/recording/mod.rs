//! What every format is read into: samples of stacks of locations.

mod builder;
mod format;
mod stacks;

pub(crate) use builder::{Measured, beginning, process_name};
pub use builder::{RecordingBuilder, RecordingError};
pub(crate) use format::known;
pub use format::{Format, UnknownFormat};
pub(crate) use stacks::Walk;
pub use stacks::{StackIx, Stacks};

use crate::id::SourceDigest;
use crate::model::{FrameIx, FrameTable, GnuBuildId, Origin, SampleLabel};
use crate::units::{Bytes, Cost, Nanoseconds, SampleType};
use hashbrown::HashMap;
use std::fmt;
use std::sync::Arc;

/// Index of a sample type in [`RecordingParts::sample_types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleTypeIx(pub u32);

/// Index of a process in [`RecordingParts::processes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessIx(pub u32);

/// Index of a thread in [`RecordingParts::threads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIx(pub u32);

/// Index of a module in [`RecordingParts::modules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleIx(pub u32);

/// Index of a location in [`RecordingParts::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationIx(pub u32);

/// A recording as its file has it: nothing is resolved yet. Every index in it is of something that it has.
///
/// It is read as its [parts](RecordingParts), and made by [`formats::read`](crate::formats::read), by a
/// [`RecordingBuilder`], or out of parts that are checked.
#[derive(Debug)]
pub struct Recording(RecordingParts);

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
    /// Distinct places in code.
    pub locations: Vec<Location>,
    /// Frames of formats that name functions instead of addresses; see [`Location::Named`].
    pub named: FrameTable,
    /// Distinct stacks of locations.
    pub stacks: Stacks,
    /// The samples, in order of time where the recording has time stamps, else of the file.
    pub samples: Vec<Sample>,
    /// Events that were dropped while recording.
    pub lost: u64,
    /// Whole sentences about what a user should know of this recording.
    pub warnings: Vec<String>,
}

impl std::ops::Deref for Recording {
    type Target = RecordingParts;

    fn deref(&self) -> &RecordingParts {
        &self.0
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
        Ok(Recording(parts))
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
        change(&mut self.0);
        self.0.try_into()
    }

    /// Its parts, for changes that leave indices and tables as they are.
    pub(crate) fn parts_mut(&mut self) -> &mut RecordingParts {
        &mut self.0
    }
}

impl RecordingParts {
    /// Other names of modules, by their own: where the user names the program, frames carry that in place of
    /// its file's.
    pub(crate) fn aliases(&self) -> HashMap<&str, &str> {
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
            let at = format_args!("samples[{row}].stack");
            within(at, sample.stack.0, stacks)?;
            let at = format_args!("samples[{row}].thread");
            within(at, sample.thread.0, threads)?;
            let at = format_args!("samples[{row}].sample_type");
            within(at, sample.sample_type.0, sample_types)?;
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

/// Checks an index of a table of that name and length.
fn within(
    at: impl fmt::Display,
    index: u32,
    (table, length): (&str, usize),
) -> Result<(), RecordingError> {
    match (index as usize) < length {
        true => Ok(()),
        false => Err(RecordingError::from(format!(
            "{at}: {index}; expected an index of {table}, which has {length} entries"
        ))),
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

/// The module of every function that was made at run time, wherever its name is from: files and
/// addresses differ from run to run.
pub(crate) const JIT: &str = "[jit]";

/// The modules that stand for all code of virtual machines' guests: their kernels, and the rest.
pub(crate) const GUEST: [&str; 2] = ["[guest kernel]", "[guest user]"];

/// Where the code of a module lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    /// A file mapped in user space; addresses are offsets in the file.
    File,
    /// As [`ModuleKind::File`], but addresses count from where the file's first segment is in memory.
    Image,
    /// The kernel; addresses are virtual addresses of the recorded kernel.
    Kernel,
    /// A loadable kernel module; addresses are virtual addresses of the recorded kernel.
    KernelModule,
    /// Memory without a file (`[vsyscall]`, or any whose process is not told); addresses are virtual.
    Anonymous,
    /// Memory without a file where a process may have made code at run time; addresses are virtual.
    Memory {
        /// Process id.
        pid: u32,
    },
    /// The jitdump of a process; addresses are offsets in it, of the code that it holds.
    JitDump {
        /// Process id.
        pid: u32,
    },
}

/// A file that code was loaded from, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The path that was recorded: `/usr/lib/libc.so.6`, `[kernel.kallsyms]`, `//anon`.
    pub path: String,
    /// What kind of thing it is.
    pub kind: ModuleKind,
    /// GNU build id, where recorded.
    pub build_id: Option<GnuBuildId>,
    /// Inode number of the file when it was mapped, where recorded.
    pub inode: Option<u64>,
    /// For the kernel: the virtual address of its `_text` (or `_stext`) when recorded.
    pub kernel_text: Option<u64>,
    /// The name that frames carry instead of the file's, where the user names the program.
    pub alias: Option<String>,
}

impl Module {
    /// The name that frames carry: the alias, else that of the file.
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or_else(|| self.file_name())
    }

    /// `[kernel]` for the kernel, `[jit]` for a jitdump, else the base name of the file.
    fn file_name(&self) -> &str {
        match self.kind {
            ModuleKind::Kernel => "[kernel]",
            ModuleKind::JitDump { .. } => JIT,
            _ => self.path.rsplit('/').next().unwrap_or(&self.path),
        }
    }
}

/// A place in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// An address in a module; its meaning depends on [`ModuleKind`].
    ///
    /// This is the address to look up: for a return address, one less than what was recorded, so
    /// that it falls into the call.
    Address {
        /// The module.
        module: ModuleIx,
        /// Offset in the file, or virtual address.
        address: u64,
    },
    /// An address that no mapping covers. Which one is not kept: it differs from run to run, and
    /// broken call chains are full of them.
    Unmapped,
    /// A function that the format names: a frame of [`RecordingParts::named`].
    Named(FrameIx),
}
