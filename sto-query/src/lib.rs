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
//! [`questions`] and [`check`] go from names that [`sources`] finds, in a store or as files, to the result in one call.
//! [`results`] has the types that they return, and [`error`] the reasons for which they fail. `tables` (feature `sql`)
//! answers questions in SQL.
//!
//! [`text`] stands below all of them: names, numbers, times and tables as people read them.
//!
//! A request is made by `Default`, and what is to differ is set; options within it end in `..Default::default()`.
//! Requests, errors and most results are `non_exhaustive`: they gain fields and variants. Requests are read and written
//! by serde, and a request in JSON has only what differs. Results are written by serde.
//!
//! The crate knows nothing of the store's tables or of file formats, and never prints.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

mod annotate;
mod answer;
mod average;
mod calls;
pub mod check;
mod commits;
mod compare;
mod correlate;
pub mod error;
mod exchange;
mod expand;
mod functions;
mod history;
mod hot;
#[doc(hidden)]
pub mod internal;
mod listing;
mod maintain;
mod models;
mod phases;
pub mod policy;
mod potential;
mod prune;
pub mod questions;
pub mod render;
pub mod results;
pub mod select;
mod series;
mod show;
mod source;
pub mod sources;
mod suspects;
#[cfg(feature = "sql")]
pub mod tables;
pub mod text;
mod timeline;
mod tree;

pub use error::QueryError;
#[doc(inline)]
pub use sto_lake::{lake, places};
#[doc(inline)]
pub use sto_stats as statistics;
