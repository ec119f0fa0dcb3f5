//! `sto export-store`: writes chosen profiles into one file.

use crate::runtime::git::{Repository, Shown};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath, ui};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{ExportStoreRequest, LogRequest, export_store};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto export-store v1 v2 -o release.sto      Write all runs of v1 and v2 into one file
  sto merge release.sto                      Add them to another store
  sto export-store --notes                   Write verdicts of commits as git notes

Exit status: 0 success, 2 wrong usage or failure, 3 no commit has a verdict to write.";

/// Write chosen profiles into one file, which `sto merge` adds to another store
///
/// The bytes depend only on the profiles, not on the store they come from.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportStoreArgs {
    /// Write these builds or profiles: `[EXE@]BUILD` or ID [default: everything]
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,

    /// Write this file, which must not exist
    #[arg(short, long, value_name = "FILE", required_unless_present = "notes")]
    output: Option<PathBuf>,

    /// Write the verdict of each measured commit up to HEAD, as `sto log` shows it, as a git note (refs/notes/sto); `git log
    /// --notes=sto` shows them
    #[arg(long)]
    notes: bool,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ExportStoreArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    if let Some(file) = &args.output {
        let mut request = ExportStoreRequest::default();
        request.selectors.clone_from(&args.selectors);
        request.file.clone_from(file);
        let exported = export_store(&store_path.sources(), &request)?;
        args.format
            .print(&exported, render::maintain::export_store)?;
    }
    if args.notes {
        write_notes(store_path)
    } else {
        Ok(Outcome::Clean)
    }
}

/// Writes verdicts as notes into the repository of the working directory.
fn write_notes(store_path: &StorePath) -> Result<Outcome, CliError> {
    let repository = Repository::here()?;
    let mut request = LogRequest::default();
    request.shown = repository.log(&Shown {
        commits: "HEAD",
        path: None,
        limit: None,
    })?;
    request.ancestry = repository.ancestry("HEAD")?;
    let log = store_path.ask(&request)?;
    let mut written = 0;
    for logged in &log.commits {
        if let Some(note) = render::log::note(&log, logged) {
            repository.note(&logged.commit.hash, &note)?;
            written += 1;
        }
    }
    let notes = Repository::NOTES;
    ui::print_message(
        "note",
        &format!("verdicts of {written} commits are in refs/notes/{notes}"),
    );
    Ok(match written {
        0 => Outcome::TooLittleData,
        _ => Outcome::Clean,
    })
}
