//! `sto lsp`: a language server.

use crate::lsp;
use crate::runtime::{CliError, Outcome, StorePath};
use clap::Args;

const AFTER: &str = "\
An editor starts it, in addition to the language's own server, for files of any language that profiles have sources \
for, and talks to it over standard input and output (Language Server Protocol 3.17).

Relative paths start at the folder that is open in the editor, and so does the search for .sto/.

Exit status: 0 the editor shut it down, 1 the editor went away, 2 wrong usage or failure.";

/// Show the cost of code in the editor, as a language server
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct LspArgs {
    /// Accepted because many editors pass it; standard input and output are always used
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(
    _: &LspArgs,
    store: impl FnOnce() -> Result<StorePath, CliError>,
) -> Result<Outcome, CliError> {
    lsp::serve(store)
}
