//! `sto man`: prints manual pages.

use crate::help::man::pages;
use crate::runtime::output::{write_file, write_stdout};
use crate::runtime::{CliError, Outcome};
use clap::{Args, Command};
use std::fs;
use std::path::PathBuf;

/// Print the manual page, or write one for every command into a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sto man | man -l -\n  sto man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write sto.1, sto-ingest.1 and so on into this folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, line: Command) -> Result<Outcome, CliError> {
    let pages = pages(line).expect("memory takes every page");
    let Some(folder) = &args.folder else {
        write_stdout(&pages[0].roff)?;
        return Ok(Outcome::Clean);
    };
    fs::create_dir_all(folder).map_err(|source| CliError::WriteFile {
        path: folder.clone(),
        source,
    })?;
    for page in pages {
        write_file(&folder.join(page.file_name), &page.roff)?;
    }
    Ok(Outcome::Clean)
}
