//! `sto lsp`: a language server.

use crate::lsp;
use crate::runtime::{CliError, Outcome, StorePath};
use clap::Args;

const AFTER: &str = "\
An editor starts it, beside the language's own server, for files of any language that profiles have sources \
for, and talks to it over standard input and output (Language Server Protocol 3.17).

Relative paths are those of the folder that is open in the editor, and so is the .sto/ that is found.

Exit status: 0 the editor shut it down, 1 the editor went away, 2 wrong usage or failure.";

/// Show in the editor what code costs, as a language server
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct LspArgs {
    /// Accepted, as many editors say so: it is the only way
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(
    _: &LspArgs,
    store: impl FnOnce() -> Result<StorePath, CliError>,
) -> Result<Outcome, CliError> {
    lsp::serve(store)
}
