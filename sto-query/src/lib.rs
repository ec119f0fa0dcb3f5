//! Questions to stored profiles: what is expensive, and what got slower between two builds.
//!
//! ```text
//! builds, profiles          select       which runs are meant
//!         |  Selection
//!         v
//! tree and columns          tree         loaded stacks, totals, recursion counted once
//!         |  View
//!         v
//! analyses                  top, call tree, history, compare, ...
//!         |  plain data: one result a question
//!         v
//! text, JSON, SVG           render
//! ```
//!
//! [`questions`] and [`check`] go the whole way in one call: from names that [`sources`] finds, in a store or as
//! files, to the result. `tables` (feature `sql`) answers those that are asked in SQL.
//!
//! [`text`] stands below all of them: names, numbers, times and tables as people read them.
//!
//! A request is made by `Default`, and what is to differ is set; options within it end in `..Default::default()`.
//! Requests, errors and most results are `non_exhaustive`: they gain fields and variants. Requests are read and written
//! by serde, and a request in JSON has only what differs. Results are written by serde.
//!
//! The crate knows nothing of the store's tables or of file formats, and never prints.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

pub mod annotate;
pub mod answer;
pub mod average;
pub mod calls;
pub mod check;
pub mod commits;
pub mod compare;
pub mod correlate;
mod error;
pub mod exchange;
pub mod expand;
pub mod functions;
pub mod history;
pub mod hot;
pub mod lake;
pub mod listing;
pub mod maintain;
pub mod models;
pub mod phases;
pub mod places;
pub mod policy;
pub mod potential;
pub mod prune;
pub mod questions;
pub mod render;
pub mod select;
pub mod series;
pub mod show;
pub mod source;
pub mod sources;
pub mod suspects;
#[cfg(feature = "sql")]
pub mod tables;
pub mod text;
pub mod timeline;
pub mod tree;

pub use error::{ExportError, FlameError, QueryError};
#[doc(inline)]
pub use sto_stats as statistics;

#[cfg(test)]
#[path = "../../sto-core/tests/common/missing.rs"]
mod missing;
