//! The store over HTTP: answers for programs, pages for people, and endpoints that profiles are sent to.
//!
//! The crate adds transport, access rights and pages, and no analysis: every answer is one call of
//! [`sto_query::ask`].
//!
//! ```text
//! requests            server       connections, limits, shutdown
//!     |               access       tokens, the Host header, headers of every response
//!     v
//! senders   querier   questions   pages   status        one folder for each kind of client
//!     |         |         |         |       |
//!     v         v         |         |       |
//!    wire: calls of Connect and gRPC    |       |
//!     |                   |         |       |
//!     v                   v         v       v
//! intake    shared: the open store, and the limits of one request
//! ```
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

mod access;
mod answers;
mod body;
mod checks;
mod client;
mod clock;
mod compression;
mod connection;
mod downloads;
mod intake;
mod log;
mod monitor;
mod openapi;
mod options;
mod pages;
mod parse;
mod problem;
mod pull;
mod querier;
mod questions;
mod room;
mod senders;
mod server;
mod services;
mod shared;
mod status;
mod tls;
mod token;
mod turn;
mod verdicts;
mod wire;
mod wording;

pub use log::LogLine;
pub use options::{
    ConfigError, Limits, LogFormat, MemoryInUse, Options, Program, RenderCheck, Tls,
};
pub use server::{ServeError, serve};
pub use services::{Retention, Scrape, ScrapeType};
pub use tls::TlsError;
pub use token::{NewToken, Scope, Token};
