//! The language server: shows costs in the source code.
//!
//! ```text
//! standard input
//!      |  wire        messages; invalid ones are answered with an error and skipped
//!      v
//! Server ---jobs---> Worker      watches and loads the store, compares builds
//!      ^ <--reports----/
//!      |  costs       the loaded data
//!      |  documents   costs by line of the open documents
//!      v  hints, hovers, lenses, findings, symbols, calls
//! standard output
//! ```
//!
//! One thread reads messages, one answers them, and one does the slow work.
//!
#![doc = include_str!("lsp.md")]

mod calls;
mod client;
mod commands;
mod costs;
mod documents;
mod findings;
mod hints;
mod hovers;
mod lenses;
mod outgoing;
mod server;
mod session;
mod settings;
mod symbols;
mod text;
mod uri;
mod wire;
mod worker;

pub(crate) use session::serve;
