//! Programs as they are in files and in memory: what formats need to unwind stacks, and symbols to name them.

mod address_space;
pub(crate) mod elf;
pub(crate) mod find;
mod jit_dump;
pub(crate) mod jit_files;
mod options;
mod placements;
pub(crate) mod source_path;
mod unwind;

pub(crate) use address_space::{AddressSpace, Mapping};
pub(crate) use find::add_build_ids;
pub(crate) use jit_dump::{JitDump, JitFunction};
pub(crate) use jit_files::{dump_of, find_dump};
pub use options::SymbolOptions;
pub(crate) use source_path::source_path;
pub(crate) use unwind::{UnwindFiles, Unwinder, UserRegs};
