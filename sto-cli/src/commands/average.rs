//! `sto average`: stores the mean of several profiles.

use crate::args::{BenchmarkArg, MatchingArgs};
use crate::runtime::{CliError, FormatArg, Machine, Outcome, StorePath};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sto_query::questions::{AverageRequest, average};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto average v1.0 v1.1 v1.2 --build history   Store the mean of all runs of three builds
  sto diff history v1.3 -o diff.svg            Draw what changed in a build";

/// Store the mean of several profiles as a build of its own
///
/// It can be used like any other build: `sto diff` shows how a build differs from its history.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AverageArgs {
    /// Take the profiles of these builds, or these profiles: `[EXE@]BUILD` or ID
    #[arg(required = true)]
    selectors: Vec<String>,

    /// Name the build that the average is stored as
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    build: String,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &AverageArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = AverageRequest::default();
    request.selectors.clone_from(&args.selectors);
    request.benchmarks.clone_from(&args.benchmark.benchmarks);
    request.build.clone_from(&args.build);
    request.matching = args.matching.options();
    let stored = average(&store_path.open()?, &Machine::here(), &request)?;
    args.format.print(&stored, render::maintain::average)?;
    Ok(Outcome::Clean)
}
