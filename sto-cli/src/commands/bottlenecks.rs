//! `sto bottlenecks`: finds functions whose cost correlates with a metric.

use crate::args::{HistoryArgs, choice};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::{BottlenecksRequest, Combination, Measure, Order};
use sto_query::render;

/// Show which functions cost more in runs where a metric is higher
///
/// Correlates the samples of each function with a metric of the runs, such as their
/// time, within each benchmark of each program. A function that rises and falls with the total
/// time is likely to be the cause; q is the probability that this is chance.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 success, 2 wrong usage or failure, 3 too few runs with the metric."
)]
pub(crate) struct BottlenecksArgs {
    /// Correlate with this metric: the name given to `sto ingest --metric`
    #[arg(long, value_name = "NAME")]
    metric: String,

    #[command(flatten)]
    history: HistoryArgs,

    /// Count samples that ended in a function, or all samples whose stack contains it
    #[arg(long, default_value = "self", value_parser = choice::<Order>(["self", "total"]))]
    by: Order,

    /// Correlate values, or ranks
    #[arg(long, default_value = "pearson")]
    #[arg(value_parser = choice::<Measure>(["pearson", "spearman"]))]
    measure: Measure,

    /// Combine several benchmarks by the mean coefficient, or by the one farthest from zero
    #[arg(long, default_value = "mean", value_parser = choice::<Combination>(["mean", "max"]))]
    over: Combination,

    /// Leave out benchmarks, and functions in them, with fewer runs than this
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..))]
    min_runs: u16,

    /// Leave out runs without a function when it is correlated, instead of counting them as zero samples
    #[arg(long)]
    omit_absent: bool,

    /// Show functions that cost less in runs where the metric is higher
    #[arg(long)]
    negative: bool,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &BottlenecksArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = BottlenecksRequest::default();
    request.history = args.history.query()?;
    let options = &mut request.options;
    options.metric.clone_from(&args.metric);
    options.measure = args.measure;
    options.combination = args.over;
    options.of_self = args.by == Order::SelfCost;
    options.min_runs = usize::from(args.min_runs);
    options.omit_absent = args.omit_absent;
    options.negative = args.negative;
    request.limit = args.limit.for_format(&args.format);
    let found = store_path.ask(&request)?;
    args.format.print(&found, render::bottlenecks::text)?;
    Ok(if found.benchmarks.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    })
}
