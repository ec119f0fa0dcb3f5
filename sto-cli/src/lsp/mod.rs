//! The language server: what code costs, shown where it is written.
//!
//! ```text
//! standard input
//!      |  wire        messages; what is none is answered, and passed over
//!      v
//! Server ---jobs---> Worker      watches and loads the store, compares builds
//!      ^ <--reports----/
//!      |  costs       what was loaded
//!      |  documents   where that is in the texts that are open
//!      v  hints, hovers, lenses, findings, symbols, calls
//! standard output
//! ```
//!
//! One thread reads, one answers, and one does what takes long.
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
