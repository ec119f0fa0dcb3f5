//! Profiles of programs as one content-addressed graph of call stacks.
//!
//! Data goes one way through this crate, and its modules stand in that order:
//!
//! ```text
//! perf.data, perf script, folded     formats     bytes -> samples of stacks of locations
//!         |  Recording
//!         v
//! build ids, ELF, DWARF, kallsyms    symbolize   locations -> frames, inlined ones included
//!         |  Symbols
//!         v
//! one tree of dense indices          intern      stacks -> StackTree + a column a sample type
//!         |  Interned
//!         v
//! redb                               store       one profile, one transaction
//! ```
//!
//! [`ingest`] walks the whole way. The crate never prints, never exits and never reads the
//! environment: paths, revisions and folders are arguments.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

pub mod formats;
pub mod id;
pub mod ingest;
pub mod intern;
pub mod limits;
pub mod model;
pub mod store;
pub mod symbolize;
pub mod units;
