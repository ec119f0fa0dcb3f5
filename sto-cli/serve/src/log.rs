//! Lines of the log.

use serde::Serialize;
use std::fmt;
use sto_query::text::printable;

/// A line of the log, as text or JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogLine {
    /// The server accepts connections.
    Ready {
        /// The address of its pages.
        address: String,
    },
    /// The server ended as it was asked to.
    Stopped,
    /// A request failed, or took long.
    Request {
        /// The client's token.
        client: String,
        /// The client's IP address.
        address: String,
        /// The method.
        method: String,
        /// The path of its address.
        path: String,
        /// The status of the response.
        status: u16,
        /// The time until the response began.
        milliseconds: u64,
        /// The reason of a failure; empty if it is not known.
        detail: String,
    },
    /// Something that the operator should know.
    Warning {
        /// A sentence.
        message: String,
    },
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogLine::Ready { address } => write!(f, "listening on {address}"),
            LogLine::Stopped => f.write_str("stopped"),
            LogLine::Request {
                client,
                address,
                method,
                path,
                status,
                milliseconds,
                detail,
            } => {
                let (client, path) = (printable(client), printable(path));
                write!(
                    f,
                    "{status} {method} {path} {milliseconds} ms {client} {address}"
                )?;
                if !detail.is_empty() {
                    write!(f, ": {}", printable(detail))?;
                }
                Ok(())
            }
            LogLine::Warning { message } => f.write_str(&printable(message)),
        }
    }
}
