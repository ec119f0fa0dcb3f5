//! `sto lsp`: a language server.

use crate::lsp;
use crate::runtime::{CliError, Outcome, StorePath};
use clap::Args;

const AFTER: &str = "\
Editors start this server in addition to the language's own server, and talk to it over standard input and output \
(Language Server Protocol 3.17). It works for any language whose source files occur in profiles.

Relative paths, and the search for .sto/, start at the folder that is open in the editor.

Exit status: 0 the editor shut it down, 1 the editor left without shutting it down, 2 wrong usage or failure.";

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
