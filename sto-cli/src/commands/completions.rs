//! `sto completions`: prints completion scripts for shells.

use crate::complete;
use crate::runtime::output::write_stdout;
use crate::runtime::{CliError, Outcome};
use clap::Args;
use clap_complete::Shell;

const NOTES: &str = "\
Examples:
  source <(sto completions bash)                                  In ~/.bashrc
  source <(sto completions zsh)                                   In ~/.zshrc, after compinit
  sto completions fish > ~/.config/fish/completions/sto.fish      Once, and after upgrades

While you type, the shell asks sto for builds, tags, benchmarks, metrics and functions in the store.";

/// Print the script that lets a shell complete commands, options and names in the store
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct CompletionsArgs {
    /// Print the script for this shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<Outcome, CliError> {
    write_stdout(&complete::registration(args.shell))?;
    Ok(Outcome::Clean)
}
