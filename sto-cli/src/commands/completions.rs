//! `sto completions`: completion scripts for shells.

use crate::cli::Cli;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::write_stdout;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sto completions bash > ~/.local/share/bash-completion/completions/sto"
)]
pub(crate) struct CompletionsArgs {
    /// Complete in this shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<Outcome, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sto", &mut script);
    write_stdout(&script)?;
    Ok(Outcome::Clean)
}
