//! Programs as they are in files and in memory: what formats need to unwind stacks, and symbols to name them.

#[cfg(feature = "symbols")]
mod address_space;
#[cfg(feature = "debuginfod")]
mod debuginfod;
#[cfg(feature = "symbols")]
pub(crate) mod elf;
#[cfg(feature = "symbols")]
pub(crate) mod find;
#[cfg(feature = "symbols")]
mod jit_dump;
#[cfg(feature = "symbols")]
pub(crate) mod jit_files;
#[cfg(feature = "symbols")]
pub(crate) mod kernel_module;
#[cfg(feature = "symbols")]
mod machine;
#[cfg(feature = "symbols")]
pub(crate) mod mini_debug_info;
#[cfg(feature = "symbols")]
mod placements;
#[cfg(feature = "symbols")]
mod signed_returns;
pub(crate) mod source_path;
#[cfg(feature = "symbols")]
mod unpack;
#[cfg(feature = "symbols")]
mod unwind;
#[cfg(feature = "symbols")]
mod without_build_id;

#[cfg(feature = "symbols")]
pub(crate) use address_space::{AddressSpace, Mapping};
#[cfg(feature = "debuginfod")]
pub use debuginfod::Debuginfod;
#[cfg(feature = "symbols")]
pub(crate) use jit_dump::{JitDump, JitFunction};
#[cfg(feature = "symbols")]
pub(crate) use jit_files::{dump_of, find_dump};
#[cfg(feature = "symbols")]
pub(crate) use machine::{Machine, UserRegs};
pub(crate) use source_path::source_path;
#[cfg(feature = "symbols")]
pub(crate) use unwind::{Unwind, UnwindFiles};
#[cfg(feature = "symbols")]
pub(crate) use without_build_id::add_build_ids;

use crate::files::User;
use crate::model::Granularity;
use std::path::PathBuf;
use std::time::SystemTime;

/// Where symbols are looked for. Everything that depends on the user or the machine is given here.
#[derive(Clone, Debug, Default)]
pub struct SymbolOptions {
    /// Folders that the user names; tried first.
    pub symbol_dirs: Vec<PathBuf>,
    /// Files that the user names for programs and libraries of the recording: its path or base name there, and
    /// where it is. They are believed where the recording has no build id.
    pub by_hand: Vec<(String, PathBuf)>,
    /// The folder of the recording.
    pub recording_dir: Option<PathBuf>,
    /// When the recording was last written: a file without a build id that was written later is another.
    pub recorded: Option<SystemTime>,
    /// perf's cache of files by build id: `~/.debug`.
    pub perf_cache: Option<PathBuf>,
    /// Folders of separate debug files: `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// Servers that are asked for what is not found, or without debug info.
    #[cfg(feature = "debuginfod")]
    pub debuginfod: Option<Debuginfod>,
    /// The running kernel's symbols: `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
    /// The running kernel's notes, which carry its build id: `/sys/kernel/notes`.
    pub kernel_notes: Option<PathBuf>,
    /// Where programs write perf maps: `/tmp`.
    pub perf_maps: Option<PathBuf>,
    /// Whose perf maps and jitdumps are believed where every user may put some, beside those of the user
    /// of the recorded process, while that runs.
    pub believed_users: Vec<User>,
    /// What a frame stands for: a function, or a function at a line.
    pub granularity: Granularity,
}

/// Without files of programs, none has a build id.
#[cfg(not(feature = "symbols"))]
pub(crate) fn add_build_ids(_: &mut crate::recording::Recording, _: &SymbolOptions) {}
