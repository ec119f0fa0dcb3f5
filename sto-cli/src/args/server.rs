//! The server that answers in place of the local store.

use crate::runtime::server::Server;
use crate::runtime::{CliError, text};
use clap::Args;
use std::path::PathBuf;

/// Maximum size of a file with a token, in bytes.
const MAX_TOKEN: u64 = 4096;

/// A server that answers in place of the local store.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Ask this server instead of the local store. Its token is in $STO_TOKEN or in --token-file
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// Read the server's token from this file
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,
}

impl ServerArgs {
    /// Returns the server, if one is named.
    pub(crate) fn server(&self) -> Result<Option<Server>, CliError> {
        let Some(url) = &self.server else {
            return Ok(None);
        };
        let token = match &self.token_file {
            Some(path) => {
                let read = text::read(path, MAX_TOKEN);
                let token = read.map_err(|source| CliError::ReadFile {
                    path: path.clone(),
                    source,
                })?;
                Some(token.trim().to_owned())
            }
            None => std::env::var("STO_TOKEN").ok(),
        };
        Server::new(url, token).map(Some)
    }
}
