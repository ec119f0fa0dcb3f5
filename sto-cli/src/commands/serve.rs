//! `sto serve`: the store over HTTP.

use crate::runtime::{CliError, Outcome, StorePath, ui};
use clap::Args;
use std::net::SocketAddr;
use sto_serve::Options;

/// Serve the store over HTTP: pages, questions, and an entrance for profiles
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen on this address [default: 127.0.0.1:4940]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Refuse everything that changes the store
    #[arg(long)]
    read_only: bool,
}

pub(crate) fn run(args: &ServeArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut options = Options::default();
    options.listen = args.listen.unwrap_or(options.listen);
    options.read_only = args.read_only;
    let ready = |address| ui::print_message("note", &format!("listening on http://{address}/"));
    sto_serve::serve(
        store.open_or_create()?,
        options,
        std::future::pending(),
        ready,
    )?;
    Ok(Outcome::Clean)
}
