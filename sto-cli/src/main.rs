//! The `sto` command: arguments in, findings out, exit status.

mod args;
mod cli;
mod commands;
mod help;
mod runtime;

use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = help::laid_out_for_terminal(cli::Cli::command()).get_matches();
    let cli = cli::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    runtime::ui::set_color(cli.color);
    runtime::error::report(commands::run(cli))
}
