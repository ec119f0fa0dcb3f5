//! `sto open`: a drawing or a page, in the browser.

use crate::commands::{find_regressions, flame};
use crate::runtime::browser;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::store_path::StorePath;
use clap::{Args, Command};
use std::ffi::OsString;
use std::path::Path;

const NOTES: &str = "\
Examples:
  sto open v1                               The flame graph of a build
  sto open @previous @newest                What got slower, as a page
  sto open v1 v2 -- --benchmark startup     With options of find-regressions

The browser is $BROWSER, else what xdg-open or open starts. The file is in a folder for temporary files \
that only you can read; it stays there.

Exit status: 0 it was opened, 2 wrong usage or failure.";

/// Open the flame graph of a build, or the page of a comparison of two, in the browser
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct OpenArgs {
    /// Draw this build, profile or file, or compare the first one with the second
    #[arg(value_name = "SELECTOR", num_args = 1..=2, required = true)]
    selectors: Vec<OsString>,

    /// Pass these options to `sto flame`, or to `sto find-regressions`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

pub(crate) fn run(args: &OpenArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let folder = browser::folder()?;
    let is_pair = args.selectors.len() > 1;
    let file = folder.join(if is_pair {
        "comparison.html"
    } else {
        "flame.svg"
    });
    let drawn = match is_pair {
        true => {
            let mut line = args.line("find-regressions", &file);
            line.extend(["--format", "html"].map(OsString::from));
            find_regressions::run(&parsed(line), store)
        }
        false => flame::run(&parsed(args.line("flame", &file)), store),
    };
    if !file.exists() {
        // Nothing was drawn: too little data, or a failure.
        browser::remove(&folder);
        return drawn;
    }
    drawn?;
    browser::open(&file)?;
    Ok(Outcome::Clean)
}

impl OpenArgs {
    /// The command line that draws into a file.
    fn line(&self, command: &str, file: &Path) -> Vec<OsString> {
        let words = [command.into(), "-o".into(), file.into()].into_iter();
        words
            .chain(self.options.iter().chain(&self.selectors).cloned())
            .collect()
    }
}

/// The arguments of a command; wrong ones end the process with what is wrong, as everywhere.
fn parsed<A: Args>(line: Vec<OsString>) -> A {
    let command = A::augment_args(Command::new("sto"));
    let matches = command.try_get_matches_from(line);
    let args = matches.and_then(|matches| A::from_arg_matches(&matches));
    args.unwrap_or_else(|error| error.exit())
}
