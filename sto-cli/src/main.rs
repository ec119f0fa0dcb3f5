//! The `sto` command: parses arguments, runs a subcommand, and returns its exit status.

mod args;
mod cli;
mod commands;
mod complete;
mod help;
mod lsp;
mod runtime;

use clap::{CommandFactory, FromArgMatches};
use runtime::config::Config;
use runtime::error::{self, CliError, Outcome};
use runtime::{memory, pager, panics, store_path, threads, ui};
use rustix::process::{Resource, getrlimit};
use std::env;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

/// Minimum stack size of a command in bytes.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let limit = getrlimit(Resource::Stack).current;
    if limit.is_none_or(|limit| limit >= STACK as u64) {
        return report();
    }
    let mut command = thread::Builder::new();
    if env::var_os("RUST_MIN_STACK").is_none() {
        command = command.stack_size(STACK);
    }
    match command.spawn(report).map(JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(panic)) => resume_unwind(panic),
        // The system allows no further thread.
        Err(_) => report(),
    }
}

/// Runs the command, reports its error, and returns its exit status.
fn report() -> ExitCode {
    panics::hide_reader_panics();
    if complete::answer_request(cli::Cli::command) {
        return ExitCode::SUCCESS;
    }
    error::report(panics::catch(run))
}

fn run() -> Result<Outcome, CliError> {
    let config = Config::load()?;
    let command = config.add_defaults(help::for_terminal(cli::Cli::command()))?;
    let args = config.expand_alias(env::args_os(), &command);
    let color = cli::color_of(&args, &command);
    let matches = command.try_get_matches_from(args);
    let cli = matches.and_then(|matches| cli::Cli::from_arg_matches(&matches));
    let cli = cli.unwrap_or_else(|error| help::exit(&error, color));
    memory::set_limit(cli.max_memory);
    ui::set_colors(cli.color, config.colors);
    if cli.full_names {
        ui::show_full_names();
    }
    if cli.no_pager {
        pager::turn_off();
    }
    let store = || {
        // Only commands that use a store have work for several threads.
        threads::start();
        let found = store_path::find(cli.store, config.store, &config.safe_stores)?;
        memory::set_subject(&found.folder);
        Ok(found)
    };
    commands::run(cli.command, store, cli::Cli::command)
}
