//! `sto man`: manual pages.

use crate::cli::Cli;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::write_stdout;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
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

pub(crate) fn run(args: &ManArgs) -> Result<Outcome, CliError> {
    match &args.folder {
        None => {
            let mut page = Vec::new();
            let man = Man::new(Cli::command());
            man.render(&mut page).expect("memory takes every page");
            write_stdout(&page)?;
        }
        Some(folder) => fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
            .map_err(|source| CliError::WriteFile {
                path: folder.clone(),
                source,
            })?,
    }
    Ok(Outcome::Clean)
}
