//! The options of a server, and the file that sets them.

use crate::log::LogLine;
use crate::services::{Retention, Scrape};
use crate::token::Token;
use crate::wording::plain;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use sto_core::memory;
use sto_core::units::Bytes;
use sto_query::check::Check;
use sto_query::sources::Environment;
use thiserror::Error;

/// The options of a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Options {
    /// The address to listen on; a port of 0 is a random one. By default, `127.0.0.1:4940`.
    pub listen: SocketAddr,
    /// Names in addresses of this server, besides `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// Accept tokens without TLS, because a proxy in front does TLS.
    pub insecure: bool,
    /// Refuse everything that changes the store.
    pub read_only: bool,
    /// Admit only the browser that opens the link of [`Program::on_ready`](crate::Program::on_ready) first.
    #[serde(skip)]
    pub one_browser: bool,
    /// Format of log lines.
    pub log: LogFormat,
    /// Certificate and key of TLS.
    pub tls: Option<Tls>,
    /// Tokens of clients; without any, every client may read and write.
    #[serde(rename = "token")]
    pub tokens: Vec<Token>,
    /// Limits on clients and requests.
    pub limits: Limits,
    /// How long profiles of services are retained.
    pub retention: Retention,
    /// Programs whose profiles are fetched.
    #[serde(rename = "scrape")]
    pub scrapes: Vec<Scrape>,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogFormat {
    /// A line of text.
    #[default]
    Text,
    /// A JSON object on one line.
    Json,
}

/// Certificate and key of TLS.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Tls {
    /// File with the certificate and those that signed it, as PEM.
    pub certificate: PathBuf,
    /// File with the private key, as PEM.
    pub key: PathBuf,
}

/// Limits on clients and requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Limits {
    /// Number of connections; further ones are closed at once.
    #[serde(deserialize_with = "at_least_one")]
    pub connections: usize,
    /// Size of a request's body in MiB.
    #[serde(deserialize_with = "at_least_one")]
    pub body_mib: u32,
    /// Size that a compressed body may expand to in MiB.
    #[serde(deserialize_with = "at_least_one")]
    pub decoded_mib: u32,
    /// Size of all bodies that are being received in MiB.
    #[serde(deserialize_with = "at_least_one")]
    pub bodies_mib: u32,
    /// Seconds after which a request is given up, with the time to receive it.
    #[serde(deserialize_with = "at_least_one")]
    pub request_seconds: u32,
    /// Seconds after which a question is cancelled.
    #[serde(deserialize_with = "at_least_one")]
    pub question_seconds: u32,
    /// Seconds after which a query in SQL is cancelled.
    #[serde(deserialize_with = "at_least_one")]
    pub sql_seconds: u32,
    /// Seconds without a byte in either direction after which a connection is closed.
    #[serde(deserialize_with = "at_least_one")]
    pub idle_seconds: u32,
}

/// Renders a check for a client. The value says how, in terms of the program that runs the server and of its clients; the
/// answer is passed on.
pub type RenderCheck = Arc<dyn Fn(Check, Value) -> Result<Value, String> + Send + Sync>;

/// Callbacks and resources of the program that runs a server.
#[derive(Clone)]
#[non_exhaustive]
pub struct Program {
    /// Called with the address of the pages when the server accepts connections.
    pub on_ready: Arc<dyn Fn(&str) + Send + Sync>,
    /// Called for each line of the log.
    pub log: Arc<dyn Fn(&LogLine) + Send + Sync>,
    /// Files and work trees that questions may read; none by default.
    pub environment: Option<Arc<dyn Environment>>,
    /// The memory that this process uses.
    pub memory_in_use: Option<MemoryInUse>,
    /// Renders checks for clients; they are refused by default.
    pub render_check: Option<RenderCheck>,
}

impl Default for Program {
    fn default() -> Program {
        Program {
            on_ready: Arc::new(|_| {}),
            log: Arc::new(|_| {}),
            environment: None,
            memory_in_use: None,
            render_check: None,
        }
    }
}

/// A function that returns the number of bytes that this process has allocated.
#[derive(Clone, Copy, Debug)]
pub struct MemoryInUse(pub fn() -> Bytes);

impl MemoryInUse {
    /// Whether so much of the memory limit is used that no further work should begin.
    pub(crate) fn is_scarce(self) -> bool {
        (self.0)().0 > memory::limit().0 / 4 * 3
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: (Ipv4Addr::LOCALHOST, 4940).into(),
            hosts: Vec::new(),
            insecure: false,
            read_only: false,
            one_browser: false,
            log: LogFormat::default(),
            tls: None,
            tokens: Vec::new(),
            limits: Limits::default(),
            retention: Retention::default(),
            scrapes: Vec::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 10_000,
            body_mib: 32,
            decoded_mib: 64,
            bodies_mib: 512,
            request_seconds: 60,
            question_seconds: 30,
            sql_seconds: 1,
            idle_seconds: 75,
        }
    }
}

impl Limits {
    /// Size of a request's body.
    pub(crate) fn body(&self) -> Bytes {
        mib(self.body_mib)
    }

    /// Size that a compressed body may expand to.
    pub(crate) fn decoded(&self) -> Bytes {
        mib(self.decoded_mib)
    }

    /// Size of all bodies that are being received.
    pub(crate) fn bodies(&self) -> Bytes {
        mib(self.bodies_mib)
    }

    pub(crate) fn request_time(&self) -> Duration {
        Duration::from_secs(self.request_seconds.into())
    }

    pub(crate) fn question_time(&self) -> Duration {
        Duration::from_secs(self.question_seconds.into())
    }

    pub(crate) fn sql_time(&self) -> Duration {
        Duration::from_secs(self.sql_seconds.into())
    }

    pub(crate) fn idle_time(&self) -> Duration {
        Duration::from_secs(self.idle_seconds.into())
    }
}

fn mib(count: u32) -> Bytes {
    Bytes(u64::from(count) << 20)
}

/// Deserializes a limit. With a limit of 0, every request would be refused.
fn at_least_one<'de, D: Deserializer<'de>, N>(deserializer: D) -> Result<N, D::Error>
where
    N: Deserialize<'de> + Default + PartialEq,
{
    let number = N::deserialize(deserializer)?;
    if number == N::default() {
        let expected = "a whole number of 1 or more";
        return Err(D::Error::invalid_value(Unexpected::Unsigned(0), &expected));
    }
    Ok(number)
}

/// The reason why a configuration file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct ConfigError {
    /// Line in the file, counted from 1.
    pub line: usize,
    /// The problem, and the expected value.
    pub message: String,
}

impl Options {
    /// Parses the text of a configuration file (TOML).
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not TOML, or has an unknown key or an invalid value.
    pub fn parse(text: &str) -> Result<Options, ConfigError> {
        let invalid = |error: toml::de::Error, path: &str| {
            let at = error.span().map_or(0, |span| span.start);
            let before = text.get(..at).unwrap_or_default();
            ConfigError {
                line: before.matches('\n').count() + 1,
                message: plain(path, error.message()),
            }
        };
        let file = toml::Deserializer::parse(text).map_err(|error| invalid(error, ""))?;
        serde_path_to_error::deserialize(file).map_err(|error| {
            let path = error.path().to_string();
            invalid(error.into_inner(), &path)
        })
    }
}
