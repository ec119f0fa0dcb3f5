//! `sto average`: several profiles as one.

use crate::args::benchmark::BenchmarkArg;
use crate::args::matching::MatchingArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sto_core::store::Store;
use sto_query::average::{Average, StoredAverage, average};
use sto_query::render;
use sto_query::select::{Selector, select};

const EXAMPLES: &str = "\
Examples:
  sto average v1.0 v1.1 v1.2 --build history   Store the mean of all runs of three builds
  sto diff history v1.3 -o diff.svg            Draw what a build does otherwise";

/// Store the mean of several profiles as a build of its own
///
/// All commands take it like any other build: `sto diff` shows how a build differs from its history.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AverageArgs {
    /// Take the profiles of these builds, or these profiles: `[EXE@]BUILD` or ID
    #[arg(required = true)]
    selectors: Vec<Selector>,

    /// Name the build that the average becomes
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    build: String,

    #[command(flatten)]
    benchmark: BenchmarkArg,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &AverageArgs, place: &StorePath) -> Result<Outcome, CliError> {
    let average = averaged(args, place, &Store::open_snapshot(&place.folder)?)?;
    let store = Store::open(&place.folder)?;
    let added = store.add(&average.build, &average.profile, &average.interned)?;
    let report = StoredAverage::new(&average, &added);
    args.format.print(&report, render::average::text)?;
    Ok(Outcome::Clean)
}

fn averaged(args: &AverageArgs, place: &StorePath, store: &Store) -> Result<Average, CliError> {
    let sources = place.sources();
    let selection = |selector: &Selector| {
        let selection = select(store, &sources.resolved(selector.clone())?)?;
        Ok(selection.of_one_benchmark(args.benchmark.name())?)
    };
    let selections = args.selectors.iter().map(selection);
    let selections: Vec<_> = selections.collect::<Result<_, CliError>>()?;
    Ok(average(
        store,
        &selections,
        &args.build,
        args.matching.options(),
    )?)
}
