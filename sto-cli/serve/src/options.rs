//! The options of a server.

use crate::services::{Retention, Scrape};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use sto_core::units::Bytes;

/// The options of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The address to listen on; a port of 0 is a random one. By default, `127.0.0.1:4940`.
    pub listen: SocketAddr,
    /// Refuse everything that changes the store.
    pub read_only: bool,
    /// Size of a request's body.
    pub max_body: Bytes,
    /// Size that a compressed body may expand to.
    pub max_decoded: Bytes,
    /// How long profiles of services are retained.
    pub retention: Retention,
    /// Programs whose profiles are fetched.
    pub scrapes: Vec<Scrape>,
    /// Time after which a question is cancelled.
    pub question_timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: (Ipv4Addr::LOCALHOST, 4940).into(),
            read_only: false,
            max_body: Bytes(32 << 20),
            max_decoded: Bytes(64 << 20),
            retention: Retention::default(),
            scrapes: Vec::new(),
            question_timeout: Duration::from_secs(30),
        }
    }
}
