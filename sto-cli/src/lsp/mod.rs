//! The language server: what code costs, shown where it is written.
//!
//! ```text
//! standard input
//!      |  wire        messages; what is none is answered, and passed over
//!      v
//! Server ---jobs---> Worker      watches and loads the store, compares builds
//!      ^ <--reports----/
//!      |  costs       what was loaded, and where it is in the documents that are open
//!      v  hints, hovers, ...
//! standard output
//! ```
//!
//! One thread reads, one answers, and one does what takes long.
//!
#![doc = include_str!("lsp.md")]

mod client;
mod costs;
mod hints;
mod hovers;
mod server;
mod settings;
mod text;
mod uri;
mod wire;
mod worker;

pub(crate) use server::serve;
