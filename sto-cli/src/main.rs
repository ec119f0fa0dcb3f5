//! The `sto` command: arguments in, findings out, exit status.

mod about;
mod by;
mod changes;
mod cli;
mod commands;
mod drawing;
mod environment;
mod error;
mod findings;
mod history;
mod in_order;
mod inputs;
mod interrupt;
mod judged;
mod matching;
mod output;
mod percent;
mod perf;
mod policy;
mod quantities;
mod select;
mod sources;
mod store_path;
mod ui;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    error::report(commands::run(cli))
}
