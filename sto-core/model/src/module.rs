//! Modules (the files and memory regions that contain code), and locations in them.

use crate::{FrameIx, GnuBuildId, index_types};

index_types! {
    /// Index of a module in a recording.
    pub ModuleIx;
}

/// The module name of all functions compiled at run time, because their files and addresses differ from
/// run to run.
#[doc(hidden)]
pub const JIT_MODULE: &str = "[jit]";

/// The path of the code that the kernel maps into every process, which is in no file system.
#[doc(hidden)]
pub const VDSO: &str = "[vdso]";

/// The kind of a module, which defines the meaning of addresses in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    /// A file mapped into user space. Addresses are offsets in the file.
    File,
    /// Like [`ModuleKind::File`], but addresses are relative to the load address of the file's first segment.
    Image,
    /// Like [`ModuleKind::File`], but each address is the start of a function and represents that whole
    /// function, without functions inlined at that address.
    FunctionStarts,
    /// The kernel. Addresses are virtual addresses of the recorded kernel.
    Kernel,
    /// A loadable kernel module. Addresses are virtual addresses of the recorded kernel.
    KernelModule,
    /// Memory that is not mapped from a file: `[vsyscall]`, or memory of an unknown process. Addresses are virtual.
    Anonymous,
    /// Memory of a known process that is not mapped from a file and may contain code compiled at run time.
    /// Addresses are virtual.
    ProcessMemory {
        /// Process id.
        pid: u32,
    },
    /// The jitdump file of a process. Addresses are offsets of code in the file.
    JitDump {
        /// Process id.
        pid: u32,
    },
}

/// A file or memory region that contains code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The recorded path: `/usr/lib/libc.so.6`, `[kernel.kallsyms]`, `//anon`.
    pub path: String,
    /// The kind of the module.
    pub kind: ModuleKind,
    /// GNU build id, if recorded.
    pub build_id: Option<GnuBuildId>,
    /// Inode number of the file when it was mapped, if recorded.
    pub inode: Option<u64>,
    /// The recorded virtual address of `_text` (or `_stext`) for the kernel, or of `.text` for a kernel module.
    pub text_address: Option<u64>,
    /// The name used in frames instead of the file name, if the user names the program.
    pub alias: Option<String>,
}

impl Module {
    /// The name used in frames: the alias if there is one, otherwise the file name.
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or_else(|| self.file_name())
    }

    /// Returns `true` if the module's code is in a file whose symbols can be found by its build id.
    #[doc(hidden)]
    pub fn can_have_symbol_file(&self) -> bool {
        match self.kind {
            ModuleKind::File
            | ModuleKind::Image
            | ModuleKind::Kernel
            | ModuleKind::KernelModule => true,
            ModuleKind::FunctionStarts
            | ModuleKind::Anonymous
            | ModuleKind::ProcessMemory { .. }
            | ModuleKind::JitDump { .. } => false,
        }
    }

    /// `[kernel]` for the kernel, `[jit]` for a jitdump, otherwise the base name of the path.
    #[doc(hidden)]
    pub fn file_name(&self) -> &str {
        match self.kind {
            ModuleKind::Kernel => "[kernel]",
            ModuleKind::JitDump { .. } => JIT_MODULE,
            _ => self.path.rsplit('/').next().unwrap_or(&self.path),
        }
    }
}

/// The code location of one frame of a recorded stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// An address in a module, whose meaning depends on [`ModuleKind`].
    ///
    /// It is ready for symbol lookup: return addresses are reduced by one, so that they lie in the
    /// call instruction.
    Address {
        /// The module.
        module: ModuleIx,
        /// Offset in the file or virtual address.
        address: u64,
    },
    /// An address outside of all mappings. Its value is not stored, because it differs from run to run
    /// and broken call chains contain many of them.
    Unmapped,
    /// A frame of the recording's `named` table, for functions whose names are in the recording.
    Named(FrameIx),
}
