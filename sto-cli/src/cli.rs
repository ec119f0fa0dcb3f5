//! The command line as a whole: what stands before the subcommand, and the front page of help.

use crate::commands::Command;
use clap::{ColorChoice, Parser};
use std::path::PathBuf;

const NOTES: &str = "\
Examples:
  sto record --build v1 ./demo              Record a run of build v1 with perf, and store it
  sto ingest perf.data --build v1           Store a recording of any profiler
  sto top v1                                Show which functions cost most
  sto flame v1 -o v1.svg                    Draw a flame graph
  sto find-regressions v1 v2                Say what got slower, why, and who is affected
  sto find-regressions old.data new.data    The same of two files, without a store

A selector names profiles. It is [EXE@]BUILD (`v1`, `demo@v1`: all runs of that build), a tag of a \
build (`last-good`), [EXE]@newest, @previous or @newest~N (a build by its age), git:REVISION (the \
build made of that commit), a profile's id or the start of one (`sto ls` shows them), or the path of a file \
of any format that `sto ingest` reads. A build in the store comes before a file of the same name; \
`./NAME` always means the file.

The store is --store, else $STO_STORE, else the nearest .sto/ above the working directory, else what \
the configuration says, else $XDG_DATA_HOME/sto, else ~/.local/share/sto.

Options have defaults, and commands other names, in $XDG_CONFIG_HOME/sto/config.toml, else \
~/.config/sto/config.toml; $STO_CONFIG names another file, or none where it is empty:

  color = \"never\"                    # an option of all commands
  store = \"~/profiles\"               # where nothing nearer names one
  [top]                                # options of `sto top`
  limit = 10
  [alias]
  worst = \"top --by total @newest\"   # sto worst

Text that is longer than the terminal goes through $STO_PAGER, else $PAGER, else `less`; `cat` or nothing \
turns that off.

Exit status: 0 success, 1 regressions found (explain-match: no match), 2 wrong usage or failure, \
3 too little data to say, or nothing found.";

/// Store profiles of programs, and find out what got slower between two builds.
#[derive(Debug, Parser)]
#[command(
    name = "sto",
    version,
    arg_required_else_help = true,
    after_help = NOTES
)]
pub(crate) struct Cli {
    /// Use the store in this folder, or this file that is a store
    #[arg(long, global = true, value_name = "PATH", display_order = 900)]
    pub(crate) store: Option<PathBuf>,

    /// Colour output: auto (on a terminal), always or never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto"
    )]
    #[arg(
        hide_default_value = true,
        hide_possible_values = true,
        display_order = 901
    )]
    pub(crate) color: ColorChoice,

    /// Show no output through a pager
    #[arg(long, global = true, display_order = 902)]
    pub(crate) no_pager: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
