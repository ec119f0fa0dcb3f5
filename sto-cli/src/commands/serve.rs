//! `sto serve`: the store over HTTP.

use crate::commands::check_for_client;
use crate::runtime::{CliError, Outcome, StorePath, interrupt, memory, ui};
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use sto_core::store::Store;
use sto_serve::{LogFormat, LogLine, MemoryInUse, NewToken, Options, Program};

const NOTES: &str = "\
Examples:
  sto serve                                 Serve the store to programs and people on this machine
  sto serve --new-token ci >> server.toml   Make a token; the file gets its hash
  sto serve --config server.toml --listen 0.0.0.0:4940
  curl --data-binary @perf.data 'http://127.0.0.1:4940/api/v1/profiles?program=demo&build=v1'
  curl -d '{\"selector\":\"v1\"}' http://127.0.0.1:4940/api/v1/questions/top

On this machine, every user may read and write without a token. Any other address needs tokens and TLS, as \
the configuration file says. Ctrl-C and SIGTERM end it after the requests that have begun.

Exit status: 0 it was ended, 2 wrong usage or failure.";

/// Serve the store over HTTP: pages, answers to questions, and a place to send profiles to
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct ServeArgs {
    /// Listen on this address [default: 127.0.0.1:4940]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Read options, tokens, and TLS from this file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Refuse everything that changes the store
    #[arg(long)]
    read_only: bool,

    /// Accept tokens without TLS, because a proxy in front does TLS
    #[arg(long)]
    insecure: bool,

    /// Make a token, print it on standard error, and the lines for the configuration file on standard output
    #[arg(long, value_name = "NAME", exclusive = true)]
    new_token: Option<String>,
}

pub(crate) fn run(
    args: &ServeArgs,
    store: impl FnOnce() -> Result<StorePath, CliError>,
) -> Result<Outcome, CliError> {
    if let Some(name) = &args.new_token {
        return print_token(name);
    }
    let options = args.options()?;
    let program = program(options.log);
    serve(store()?.open_or_create()?, options, program)
}

/// Serves a store until a signal asks this process to end.
pub(super) fn serve(store: Store, options: Options, program: Program) -> Result<Outcome, CliError> {
    allow_many_connections();
    let stop = interrupt::requested().map_err(sto_serve::ServeError::System)?;
    sto_serve::serve(store, options, program, stop)?;
    Ok(Outcome::Clean)
}

/// Raises the limit on open files as far as the system lets this process: each connection is one.
fn allow_many_connections() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // With the old limit, fewer connections are accepted at the same time.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// A program that writes a log to standard error.
pub(super) fn program(format: LogFormat) -> Program {
    let mut program = Program::default();
    program.log = Arc::new(move |line| log(format, line));
    program.memory_in_use = Some(MemoryInUse(memory::in_use));
    program.render_check = Some(Arc::new(check_for_client::render));
    program
}

fn log(format: LogFormat, line: &LogLine) {
    match format {
        LogFormat::Json => ui::print_json(line),
        _ => ui::print_message("note", &line.to_string()),
    }
}

fn print_token(name: &str) -> Result<Outcome, CliError> {
    let token = NewToken::random().map_err(sto_serve::ServeError::System)?;
    ui::print_message(
        "note",
        &format!("the token, which is shown only now: {}", token.text),
    );
    print!("{}", token.config(name));
    Ok(Outcome::Clean)
}

impl ServeArgs {
    /// The options of the configuration file and the command line.
    fn options(&self) -> Result<Options, CliError> {
        let mut options = match &self.config {
            Some(path) => read_options(path.clone())?,
            None => Options::default(),
        };
        options.listen = self.listen.unwrap_or(options.listen);
        options.read_only |= self.read_only;
        options.insecure |= self.insecure;
        Ok(options)
    }
}

fn read_options(path: PathBuf) -> Result<Options, CliError> {
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(CliError::ReadFile { path, source }),
    };
    Options::parse(&text).map_err(|error| CliError::Config {
        path,
        line: error.line,
        message: error.message,
    })
}
