//! The argument `--timeout` of commands that connect to a server.

use super::quantities::time_limit;
use crate::runtime::destination::machine;
use clap::Args;
use std::ffi::OsStr;
use std::time::Duration;
use sto_query::places::{Machine, Place, PlaceError};

/// How long to wait for a server.
#[derive(Debug, Args)]
pub(crate) struct TimeoutArg {
    /// Give up a server that sends nothing for this time: `30s`, `5m`
    #[arg(long, value_name = "TIME", value_parser = time_limit, default_value = "30s")]
    timeout: Duration,
}

impl TimeoutArg {
    /// Parses the address of a place, which is accessed with this timeout.
    pub(crate) fn place(&self, address: &OsStr) -> Result<Place, PlaceError> {
        let machine = Machine {
            timeout: self.timeout,
            ..machine()
        };
        Place::parse(address, &machine)
    }
}
