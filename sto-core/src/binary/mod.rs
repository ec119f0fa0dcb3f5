//! Programs as they are in files and in memory: what formats need to unwind stacks, and symbols to name them.

#[cfg(feature = "symbols")]
mod address_space;
#[cfg(feature = "symbols")]
pub(crate) mod elf;
#[cfg(feature = "symbols")]
pub(crate) mod find;
#[cfg(feature = "symbols")]
mod jit_dump;
#[cfg(feature = "symbols")]
pub(crate) mod jit_files;
mod options;
#[cfg(feature = "symbols")]
mod placements;
pub(crate) mod source_path;
#[cfg(feature = "symbols")]
mod unwind;

#[cfg(feature = "symbols")]
pub(crate) use address_space::{AddressSpace, Mapping};
#[cfg(feature = "symbols")]
pub(crate) use find::add_build_ids;
#[cfg(feature = "symbols")]
pub(crate) use jit_dump::{JitDump, JitFunction};
#[cfg(feature = "symbols")]
pub(crate) use jit_files::{dump_of, find_dump};
pub use options::SymbolOptions;
pub(crate) use source_path::source_path;
#[cfg(feature = "symbols")]
pub(crate) use unwind::{UnwindFiles, Unwinder, UserRegs};

/// Without files of programs, none has a build id.
#[cfg(not(feature = "symbols"))]
pub(crate) fn add_build_ids(_: &mut crate::recording::Recording, _: Option<std::time::SystemTime>) {
}
