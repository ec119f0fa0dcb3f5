//! Programs that have enough runs in the store.

use super::args::RecordArgs;
use super::plan::Program;
use crate::runtime::{CliError, StorePath, ui};
use sto_query::internal::commits::runs_of_version;

/// Removes the programs of which the build that the user named already has as many runs as requested.
pub(super) fn skip_recorded(
    programs: &mut Vec<Program>,
    args: &RecordArgs,
    store_path: &StorePath,
) -> Result<(), CliError> {
    let builds = store_path.open_or_create()?.snapshot()?.builds()?;
    let about = args.recording.about.options();
    let all = programs.len();
    programs.retain(|program| {
        let mut options = about.clone();
        program.values.describe(&mut options);
        let words = program.command.iter();
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        runs_of_version(&builds, &options, &words.join(" ")) < args.runs as usize
    });
    print_skipped(all - programs.len(), all, "commands", args.runs);
    Ok(())
}

/// Notes how many commits or commands are not recorded, if there are any.
pub(super) fn print_skipped(skipped: usize, all: usize, what: &str, runs: u32) {
    if skipped > 0 {
        let runs = match runs {
            1 => "a run".to_owned(),
            _ => format!("{runs} runs"),
        };
        let text = format!("{skipped} of {all} {what} have {runs} or more already");
        ui::print_message("note", &text);
    }
}
