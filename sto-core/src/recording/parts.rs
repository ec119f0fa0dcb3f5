//! What a recording is made of, and what is wrong with one.

use crate::limits::{MAX_NAME, MAX_PROCESS_NAME, cut};
use crate::model::{FrameIx, GnuBuildId, SampleLabel};
use crate::number::numbers;
use crate::units::{Cost, Nanoseconds};
use std::fmt;
use std::sync::Arc;

numbers! {
    /// Index of a sample type in [`RecordingParts::sample_types`](super::RecordingParts::sample_types).
    pub SampleTypeIx;
    /// Index of a process in [`RecordingParts::processes`](super::RecordingParts::processes).
    pub ProcessIx;
    /// Index of a thread in [`RecordingParts::threads`](super::RecordingParts::threads).
    pub ThreadIx;
    /// Index of a module in [`RecordingParts::modules`](super::RecordingParts::modules).
    pub ModuleIx;
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
pub(crate) type Built<T> = Result<T, RecordingError>;

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
    match (index as usize) < length {
        true => Ok(()),
        false => Err(RecordingError::new(format!(
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
    /// As [`ModuleKind::File`], but addresses are those at which functions begin, and stand for these functions
    /// alone: not for what was inlined there.
    Functions,
    /// The kernel; addresses are virtual addresses of the recorded kernel.
    Kernel,
    /// A loadable kernel module; addresses are virtual addresses of the recorded kernel.
    KernelModule,
    /// Memory without a file (`[vsyscall]`, or any whose process is not known); addresses are virtual.
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
    /// For the kernel: the virtual address of its `_text` (or `_stext`) when recorded; for one of its modules that of its
    /// `.text`.
    pub text_address: Option<u64>,
    /// The name that frames carry instead of the file's, where the user names the program.
    pub alias: Option<String>,
}

impl Module {
    /// The name that frames carry: the alias, else that of the file.
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or_else(|| self.file_name())
    }

    /// Whether its code is in a file by whose build id another one with its symbols can be found.
    pub(crate) fn is_file(&self) -> bool {
        match self.kind {
            ModuleKind::File
            | ModuleKind::Image
            | ModuleKind::Kernel
            | ModuleKind::KernelModule => true,
            ModuleKind::Functions
            | ModuleKind::Anonymous
            | ModuleKind::Memory { .. }
            | ModuleKind::JitDump { .. } => false,
        }
    }

    /// `[kernel]` for the kernel, `[jit]` for a jitdump, else the base name of the file.
    pub(super) fn file_name(&self) -> &str {
        match self.kind {
            ModuleKind::Kernel => "[kernel]",
            ModuleKind::JitDump { .. } => JIT,
            _ => self.path.rsplit('/').next().unwrap_or(&self.path),
        }
    }
}

/// What code a frame of a stack ran.
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
    /// A function that the format names: a frame of [`RecordingParts::named`](super::RecordingParts::named).
    Named(FrameIx),
}

/// As much of a text as a name may have, and a byte more, which shows that there is more. A file may have one
/// long text, and refer to it everywhere.
pub(crate) fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(MAX_NAME + 1)]
}

/// The name of a process or thread as text, cut where it is too long.
pub(crate) fn process_name(name: &[u8]) -> String {
    // A byte more than the limit shows that there is something to cut off.
    let kept = &name[..name.len().min(MAX_PROCESS_NAME + 1)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    cut(&mut text, MAX_PROCESS_NAME);
    text
}
