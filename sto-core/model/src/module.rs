//! Modules: the files and memory that code was loaded from, and places in them.

use crate::{FrameIx, GnuBuildId, numbers};

numbers! {
    /// Index of a module in a recording.
    pub ModuleIx;
}

/// The module of every function that was made at run time, wherever its name is from: files and
/// addresses differ from run to run.
#[doc(hidden)]
pub const JIT: &str = "[jit]";

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
    #[doc(hidden)]
    pub fn is_file(&self) -> bool {
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
    #[doc(hidden)]
    pub fn file_name(&self) -> &str {
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
    /// A function that the format names: a frame of its `named` table.
    Named(FrameIx),
}
