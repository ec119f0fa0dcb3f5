//! `sto open`: opens a drawing or a page in the browser.

use crate::args::drawing::draw_flame;
use crate::args::{EventArg, FindingsOutputArgs, StacksArgs};
use crate::commands::find_regressions::{JudgementArgs, report};
use crate::commands::findings::Names;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath, browser};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use sto_query::check::{Baseline, CheckRequest};
use sto_query::questions::FlameRequest;

const NOTES: &str = "\
Examples:
  sto open v1                               The flame graph of a build
  sto open v1 --inverted                    The flame graph, starting from the leaves
  sto open @previous @newest                What got slower, as a page
  sto open v1 v2 --min-effect 25            A comparison with another threshold

The browser is $BROWSER, otherwise the one that xdg-open or open starts. The file is in a temporary folder \
that only you can read; it is not removed.

Exit status: 0 it was opened, 2 wrong usage or failure.";

/// Open the flame graph of a build, or a comparison of two builds, in the browser
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
#[command(mut_group("StacksArgs", |group| group.conflicts_with("candidate")))]
#[command(mut_group("PolicyArg", |group| group.requires("candidate")))]
#[command(mut_group("ThresholdArgs", |group| group.requires("candidate")))]
#[command(mut_group("MatchingArgs", |group| group.requires("candidate")))]
pub(crate) struct OpenArgs {
    /// Draw this build, profile or file: `[EXE@]BUILD`, ID or PATH
    #[arg(value_name = "SELECTOR")]
    first: OsString,

    /// Judge this one, compared with the first
    candidate: Option<OsString>,

    /// Take only runs of this benchmark; `*` stands for any text; may be given several times
    #[arg(long = "benchmark", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    benchmarks: Vec<String>,

    #[command(flatten)]
    event: EventArg,

    #[command(flatten, next_help_heading = "Options of a flame graph")]
    stacks: StacksArgs,

    #[command(flatten, next_help_heading = "Options of a comparison")]
    judgement: JudgementArgs,
}

pub(crate) fn run(args: &OpenArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let folder = browser::folder()?;
    match args.write(store, &folder) {
        Ok(file) => browser::open(&file)?,
        Err(error) => {
            browser::remove(&folder);
            return Err(error);
        }
    }
    Ok(Outcome::Clean)
}

impl OpenArgs {
    /// Writes the drawing or page into a folder, and returns its path.
    fn write(&self, store: &StorePath, folder: &Path) -> Result<PathBuf, CliError> {
        let Some(candidate) = &self.candidate else {
            let file = folder.join("flame.svg");
            let mut request = FlameRequest::default();
            request.named = (&self.first).into();
            request.filter.event.clone_from(&self.event.event);
            request.filter.benchmarks.clone_from(&self.benchmarks);
            request.stacks = self.stacks.stacks();
            let drawn = draw_flame(store.ask(&request)?, self.stacks.options())?;
            drawn.write(Some(&file), &FormatArg::text())?;
            return Ok(file);
        };
        let file = folder.join("comparison.html");
        let mut request = CheckRequest::default();
        request.baseline = Some(Baseline::Any((&self.first).into()));
        request.candidate = candidate.into();
        request.event.clone_from(&self.event.event);
        request.benchmarks.clone_from(&self.benchmarks);
        self.judgement.ask(&mut request)?;
        let names = Names::new((Some(&self.first), Some(candidate)), &request);
        report(
            store,
            request,
            names,
            &FindingsOutputArgs::page(file.clone()),
        )?;
        Ok(file)
    }
}
