//! Options for finding symbols.

use crate::runtime::{CliError, environment};
use clap::Args;
use std::path::PathBuf;
use sto_core::ingest::Debuginfod;

#[derive(Debug, Args)]
pub(crate) struct SymbolArgs {
    /// Look for files with symbols in this folder first, or use PATH for the file that the recording calls FILE (a path
    /// or a name), even if the recording has no build id for it; may be given several times
    #[arg(long = "symbol-dir", value_name = "DIR|FILE=PATH")]
    pub(crate) files: Vec<PathBuf>,

    /// Fetch debug info that this machine lacks from these debuginfod servers, separated by spaces; it is cached
    /// where gdb caches it
    #[arg(long, value_name = "URLS")]
    #[cfg_attr(
        feature = "debuginfod",
        arg(env = "DEBUGINFOD_URLS", hide_env_values = true)
    )]
    debuginfod: Option<String>,
}

impl SymbolArgs {
    /// The debuginfod servers to ask.
    pub(crate) fn debuginfod(&self) -> Result<Option<Debuginfod>, CliError> {
        match &self.debuginfod {
            Some(_) if cfg!(not(feature = "debuginfod")) => Err(CliError::WithoutDebuginfod),
            urls => Ok(urls.as_deref().and_then(environment::debuginfod)),
        }
    }
}
