//! Programs in files and in memory: what formats need to unwind stacks, and what symbols are found by.
//!
//! `sto-core` re-exports what other tools link; this crate is one of its parts.

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
mod unpack;
mod unwind;
mod without_build_id;

pub use address_space::{AddressSpace, Mapping};
pub use jit_dump::{JitDump, JitFunction};
pub use jit_files::{dump_of, find_dump};
pub use lazy_file::LazyFile;
pub use machine::{Machine, UserRegs};
pub use unwind::{Unwind, UnwindFiles};
pub use without_build_id::{by_hand, find_without_build_id, is_called};
