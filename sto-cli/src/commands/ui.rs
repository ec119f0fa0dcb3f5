//! `sto ui`: the store, or files, in the browser.

use super::ingest::is_no_profile;
use super::serve::{program, serve};
use crate::args::inputs::{self, Input};
use crate::runtime::error::sentence;
use crate::runtime::{CliError, Machine, Outcome, StorePath, browser, ui};
use clap::Args;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_core::ingest::{IngestError, IngestOptions, InternError};
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_query::sources::Environment;
use sto_serve::{LogFormat, Options};

const NOTES: &str = "\
Examples:
  sto ui                                    Look at the store
  sto ui perf.data old.pb.gz                Look at files, without storing them

Without PATH, the store must exist: `sto record` and `sto ingest` make one.

The pages are served to this browser only, on a port of this machine: the link works once. Nothing is loaded \
from elsewhere. Ctrl-C ends it. The browser is $BROWSER, otherwise the one that xdg-open or open starts.

Exit status: 0 it was ended, 2 wrong usage or failure.";

/// Look at the store, or at files, in the browser
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct UiArgs {
    /// Look at these files, and all profiles in these folders, instead of the store
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Only print the link
    #[arg(long)]
    no_browser: bool,
}

pub(crate) fn run(args: &UiArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let shown = match &args.paths[..] {
        [] => store.open()?,
        paths => read(paths)?,
    };
    let mut options = Options::default();
    options.listen = (Ipv4Addr::LOCALHOST, 0).into();
    options.one_browser = true;
    // One person may wait longer than one of many.
    options.limits.sql_seconds = options.limits.question_seconds;
    let mut program = program(LogFormat::Text);
    program.environment = Some(Arc::new(Machine::here()));
    let with_browser = !args.no_browser;
    program.on_ready = Arc::new(move |link| {
        ui::print_message(
            "note",
            &format!("open {link} (it works once), and end with Ctrl-C"),
        );
        if with_browser && let Err(error) = browser::open_link(link) {
            ui::print_message("note", &sentence(&error));
        }
    });
    serve(shown, options, program)
}

/// Reads files into a store in memory; each is a build.
fn read(paths: &[PathBuf]) -> Result<Store, CliError> {
    let store = Store::in_memory()?;
    let inputs = inputs::expand(paths)?;
    for (input, name) in inputs.iter().zip(build_names(&inputs)) {
        for file in input.pieces() {
            match read_file(&store, &file, name.clone()) {
                Err(IngestError::Format(error)) if input.is_found && is_no_profile(&error) => {}
                read => read?,
            }
        }
    }
    if store.snapshot()?.builds()?.is_empty() {
        let folders = paths.iter().map(|path| path.display().to_string());
        return Err(CliError::NoProfiles {
            folders: folders.collect(),
        });
    }
    Ok(store)
}

/// The names of the files without their folders, unless two are equal.
fn build_names(inputs: &[Input]) -> Vec<String> {
    let file_name = |input: &Input| Some(input.path.file_name()?.to_string_lossy().into_owned());
    let short: BTreeSet<String> = inputs.iter().filter_map(file_name).collect();
    let is_distinct = short.len() == inputs.len();
    inputs
        .iter()
        .map(|input| match file_name(input) {
            Some(name) if is_distinct && !input.is_stdin() => name,
            _ => input.name(),
        })
        .collect()
}

/// Reads a file, with its course over time if it has time stamps.
fn read_file(store: &Store, file: &Path, build: String) -> Result<(), IngestError> {
    let mut options = IngestOptions {
        version: Some(build),
        slices: SliceCount::new(1000),
        ..IngestOptions::default()
    };
    let machine = Machine::here();
    let mut read = machine.read(store, file, options.clone());
    if let Err(IngestError::Intern {
        source: InternError::NoTime { .. },
        ..
    }) = &read
    {
        options.slices = SliceCount::new(1);
        read = machine.read(store, file, options);
    }
    read.map(drop)
}
