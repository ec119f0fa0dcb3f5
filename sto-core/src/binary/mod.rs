//! Programs as they are in files and in memory: what formats need to unwind stacks, and symbols to name them.

mod address_space;
#[cfg(feature = "debuginfod")]
mod debuginfod;
#[cfg(not(feature = "debuginfod"))]
#[path = "no_debuginfod.rs"]
mod debuginfod;
pub(crate) mod elf;
pub(crate) mod find;
mod jit_dump;
pub(crate) mod jit_files;
pub(crate) mod kernel_module;
mod lazy_file;
mod machine;
pub(crate) mod mini_debug_info;
mod placements;
mod signed_returns;
mod unpack;
mod unwind;
mod without_build_id;

pub(crate) use address_space::{AddressSpace, Mapping};
pub(crate) use jit_dump::{JitDump, JitFunction};
pub(crate) use jit_files::{dump_of, find_dump};
pub(crate) use lazy_file::LazyFile;
pub(crate) use machine::{Machine, UserRegs};
pub(crate) use unwind::{Unwind, UnwindFiles};
pub(crate) use without_build_id::add_build_ids;
