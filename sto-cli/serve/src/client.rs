//! The client that sent a request.

use std::net::IpAddr;
use std::sync::Arc;

/// The name of a client; an extension of each admitted request and of its response.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The name of its token, `browser`, or `anyone`.
    pub(crate) name: Arc<str>,
}

/// The address of a client, or of a proxy in front; an extension of each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);
