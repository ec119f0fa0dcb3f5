//! `sto compare-models`: compares how cost grows with the input of two builds.

use crate::args::{FilterArgs, InlinedArg, Percent, choice};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::ffi::OsString;
use sto_query::questions::{
    CompareModelsOptions, CompareModelsRequest, Detector, Order, compare_models,
};
use sto_query::render;
use sto_query::results::Verdict;

const AFTER: &str = "\
Examples:
  sto record --build v1 --scale n=1000,2000,4000,8000 --runs 3 ./old {n}
  sto record --build v2 --scale n=1000,2000,4000,8000 --runs 3 ./new {n}
  sto compare-models v1 v2 --x n
  sto compare-models old.pb.gz new.pb.gz --x request_bytes

x is as for `sto model`: a metric or label of the runs, otherwise a number that samples are labelled with, `time`, or an \
argument of calls.

A function is a degradation if its runs differ significantly from the baseline's at the same x, and its \
curve is above the baseline's by --min-effect at the largest x. Two or more runs for each x reveal much smaller changes.

Exit status: 0 no degradation, 1 a degradation, 2 wrong usage or failure, 3 too few runs to compare.";

/// Find functions whose cost grows differently with the input of the runs
///
/// Fits curves to each function's cost by a metric of the runs, as `sto model` does, in two builds; shows which
/// functions changed from one kind of growth to another, by how much, and from which x on.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct CompareModelsArgs {
    /// Compare with this build, profile or file: `[EXE@]BUILD`, ID or PATH
    baseline: OsString,

    /// Judge this build, profile or file: `[EXE@]BUILD`, ID or PATH
    candidate: OsString,

    /// Compare cost by this metric or label of the runs, number that samples are labelled with, `time`, argument of
    /// calls, or their `order`
    #[arg(long, value_name = "NAME")]
    x: String,

    /// Compare only this function: its name, part of it, or `re:` and a regular expression
    #[arg(long, value_name = "FUNCTION")]
    function: Option<String>,

    /// Use each function's self cost, or its total with everything it calls
    #[arg(long, default_value = "total", value_parser = choice::<Order>(["self", "total"]))]
    by: Order,

    /// Report only changes of at least this much at the largest x
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    #[arg(default_value_t = Percent::from_share(CompareModelsOptions::default().min_effect))]
    min_effect: Percent,

    /// Also show what this detector of Perun finds, or all of them; the verdict does not depend on it
    #[arg(long, value_name = "NAME", value_parser = detectors())]
    detector: Vec<String>,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

/// The value of `--detector` that selects all detectors.
const ALL: &str = "all";

fn detectors() -> PossibleValuesParser {
    let names = Detector::ALL.into_iter().map(Detector::name);
    names.chain([ALL]).collect::<Vec<_>>().into()
}

pub(crate) fn run(args: &CompareModelsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = CompareModelsRequest::default();
    request.named = [&args.baseline, &args.candidate].map(Into::into);
    request.filter = args.filter.filter();
    request.x.clone_from(&args.x);
    request.function.clone_from(&args.function);
    request.cost = args.by;
    request.inlined = args.inlined.inlined;
    request.options.min_effect = args.min_effect.share();
    let is_asked = |of: &Detector| {
        args.detector
            .iter()
            .any(|name| name == of.name() || name == ALL)
    };
    request.options.detectors = Detector::ALL.into_iter().filter(is_asked).collect();
    request.limit = args.limit.for_format(&args.format);
    let changes = compare_models(&store.sources(), &request)?;
    args.format.print(&changes, render::models::changes::text)?;
    Ok(match changes.verdict {
        Verdict::Regression => Outcome::Regressions,
        Verdict::Clean => Outcome::Clean,
        _ => Outcome::TooLittleData,
    })
}
