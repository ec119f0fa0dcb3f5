//! Native programs on disk and in memory: stack unwinding, and the search for files with symbols.
//!
//! This crate is a part of `sto-core`, which re-exports what other tools need.

mod address_space;
#[cfg(feature = "debuginfod")]
mod debuginfod;
#[cfg(not(feature = "debuginfod"))]
#[path = "no_debuginfod.rs"]
mod debuginfod;
pub mod elf;
pub mod find;
mod found;
mod jit_dump;
pub mod jit_files;
pub mod kernel_module;
mod lazy_file;
mod machine;
pub mod mini_debug_info;
mod placements;
mod signed_returns;
mod symbol_folders;
mod unpack;
mod unwind;
mod without_build_id;

pub use address_space::{AddressSpace, Mapping};
pub use jit_dump::{JitDump, JitFunction};
pub use jit_files::{find_jit_dump, jit_dump_path};
pub use lazy_file::LazyFile;
pub use machine::{Machine, UserRegs};
pub use unwind::{Unwind, UnwindFiles};
pub use without_build_id::{find_without_build_id, has_path_or_name, path_from_user};
