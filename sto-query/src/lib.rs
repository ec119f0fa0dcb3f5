//! Analyses of stored profiles: the most expensive functions, regressions between two builds, and more.
//!
//! This program asks whether a new build is slower than the last one:
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//! use sto_query::check::{Baseline, CheckRequest};
//! use sto_query::results::Verdict;
//! use sto_query::sources::{BuildRef, Context, Sources, Surroundings};
//!
//! // A store, which need not exist for questions about files.
//! let sources = Sources::from_folder(Path::new(".sto"));
//! let sources = sources.with_environment(Arc::new(Surroundings::from_git(Path::new("."))));
//! let mut request = CheckRequest::default();
//! request.baseline = Some(Baseline::Any(BuildRef::File("v1.perf.data".into())));
//! request.candidate = BuildRef::File("v2.perf.data".into());
//! let check = sto_query::ask(&sources, &request, &Context::default())?;
//! println!("{}", check.reason);
//! std::process::exit((check.verdict == Verdict::Regression).into());
//! # Ok::<(), sto_query::QueryError>(())
//! ```
//!
//! The [`guide`] goes on from here.
//!
//! ```text
//! builds, profiles          select       selection of runs
//!         |  Selection
//!         v
//! tree and columns          tree         loaded stacks; totals with recursion counted once
//!         |  View
//!         v
//! analyses                  top, call tree, history, compare, ...
//!         |  plain data: one result per query
//!         v
//! text, JSON, SVG           render
//! ```
//!
//! [`ask`] goes from names, which [`sources`] resolves in a store or as files, to the answer in one call; [`questions`]
//! and [`check`] have the requests. [`results`] has the types that they return, and [`error`] their errors. `tables`
//! (feature `sql`) answers queries in SQL.
//!
//! [`text`] is used by all of them: it formats names, numbers, times and tables for people.
//!
//! To make a request, change the fields of its `Default`; options within it end in `..Default::default()`. Requests,
//! errors and most results are `non_exhaustive`, because fields and variants may be added. Requests can be serialized
//! by serde; a request in JSON only needs the fields that differ from the default. Results can be serialized, too.
//!
//! The crate does not depend on the store's tables or on file formats, and never prints.
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
pub mod guide;
mod history;
mod hot;
#[doc(hidden)]
pub mod internal;
mod keys;
mod labelled;
mod listing;
mod maintain;
pub mod manual;
mod models;
mod phases;
pub mod policy;
mod potential;
mod prune;
pub mod questions;
pub mod render;
pub mod results;
mod savings;
mod search;
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
pub use questions::ask;
#[doc(inline)]
pub use sto_lake::{lake, places};
#[doc(inline)]
pub use sto_stats as statistics;
