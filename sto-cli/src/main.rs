//! The `sto` command: arguments in, findings out, exit status.

mod args;
mod cli;
mod commands;
mod runtime;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    runtime::error::report(commands::run(cli))
}
