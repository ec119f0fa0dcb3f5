//! The command line as a whole: the options before the subcommand, and the front page of help.

use crate::args::quantities::bytes;
use crate::commands::Command;
use clap::{ColorChoice, Parser, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use sto_core::units::Bytes;

const NOTES: &str = "\
Examples:
  sto record --build v1 ./demo              Record a run of build v1 with perf, and store it
  sto ingest perf.data --build v1           Store a recording of any profiler
  sto top v1                                Show which functions cost most
  sto flame v1 -o v1.svg                    Draw a flame graph
  sto find-regressions v1 v2                Show what got slower, why, and which callers are affected
  sto find-regressions old.data new.data    Compare two files, without a store

A selector names profiles. It is [EXE@]BUILD (`v1`, `demo@v1`: all runs of that build), a tag of a \
build (`last-good`), [EXE]@newest, @previous or @newest~N (a build by its age), git:REVISION (the \
build made of that commit), git:FROM..TO (all builds made of commits in that range, where a command takes \
several), a profile's id or the start of one (`sto ls` shows them), or the path of a file \
of any format that `sto ingest` reads. A build in the store comes before a file of the same name; \
`./NAME` always means the file.

The store is --store, otherwise $STO_STORE, otherwise the nearest .sto/ above the working directory, otherwise the one \
named in the configuration, otherwise $XDG_DATA_HOME/sto, otherwise ~/.local/share/sto.

A configuration file can set defaults of options, aliases of commands, and the colours of text: `sto help \
config`.

Text that is longer than the terminal goes through $STO_PAGER, otherwise $PAGER, otherwise `less`; set it to `cat` or \
to nothing to turn paging off.

Exit status: 0 success, 1 regressions found (explain-match: no match), 2 wrong usage or failure, \
3 too little data for a verdict, or nothing found.";

/// Store profiles of programs, and find out what got slower between two builds.
#[derive(Debug, Parser)]
#[command(
    name = "sto",
    version,
    arg_required_else_help = true,
    after_help = NOTES
)]
pub(crate) struct Cli {
    /// Use the store in this folder or file
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

    /// Never send output through a pager
    #[arg(long, global = true, display_order = 902)]
    pub(crate) no_pager: bool,

    /// Show names of functions in full, with type arguments, parameters and hashes
    #[arg(long, global = true, display_order = 903)]
    pub(crate) full_names: bool,

    /// Use at most SIZE of memory (4GiB) [default: $STO_MAX_MEMORY, otherwise a quarter of the machine's memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = bytes, display_order = 904)]
    #[arg(env = "STO_MAX_MEMORY", hide_env = true)]
    pub(crate) max_memory: Option<Bytes>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Returns the value of `--color` on a command line that may be invalid, or the default.
pub(crate) fn color_of(args: &[OsString], command: &clap::Command) -> ColorChoice {
    let words: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let values = words.iter().zip(words.iter().skip(1).chain([&""]));
    let values = values.filter_map(|(word, next)| match word.strip_prefix("--color")? {
        "" => Some(*next),
        value => value.strip_prefix('='),
    });
    let usual = command.get_arguments().find(|arg| arg.get_id() == "color");
    let usual = usual.and_then(|arg| arg.get_default_values().first()?.to_str());
    let value = values.last().or(usual);
    let choice = value.and_then(|value| ColorChoice::from_str(value, false).ok());
    choice.unwrap_or(ColorChoice::Auto)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn colour_is_known_even_if_the_rest_is_invalid() {
        let color = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            color_of(&args, &Cli::command())
        };
        assert_eq!(color("sto tpo --color never"), ColorChoice::Never);
        assert_eq!(
            color("sto --color=always top --nosuch"),
            ColorChoice::Always
        );
        assert_eq!(color("sto top --color"), ColorChoice::Auto);
        assert_eq!(color("sto top --color blue"), ColorChoice::Auto);
    }
}
