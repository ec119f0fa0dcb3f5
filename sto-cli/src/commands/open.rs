//! `sto open`: a drawing or a page, in the browser.

use crate::cli::Cli;
use crate::runtime::browser;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::store_path::StorePath;
use clap::{Args, Parser};
use std::ffi::OsString;

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
    let (words, name): (&[&str], _) = match args.selectors.len() {
        1 => (&["flame"], "flame.svg"),
        _ => (&["find-regressions", "--format", "html"], "comparison.html"),
    };
    let file = folder.join(name);
    let mut line: Vec<OsString> = vec!["sto".into(), "--store".into()];
    line.push(store.folder.clone().into());
    line.extend(words.iter().map(OsString::from));
    line.extend(args.options.iter().cloned());
    line.extend(["-o".into(), file.clone().into()]);
    line.extend(args.selectors.iter().cloned());
    let cli = Cli::try_parse_from(line).unwrap_or_else(|error| error.exit());
    let drawn = super::run(cli);
    if !file.exists() {
        // Nothing was drawn: too little data, or a failure.
        browser::remove(&folder);
        return drawn;
    }
    drawn?;
    browser::open(&file)?;
    Ok(Outcome::Clean)
}
