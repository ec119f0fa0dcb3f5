//! `sto correlate`: ranks metrics over time by how well they explain another.

use crate::args::drawing::Drawn;
use crate::args::quantities::{point, window};
use crate::args::{FilterArgs, InlinedArg, choice};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath, text};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use sto_query::questions::{
    CorrelateOptions, CorrelateRequest, CorrelateTableRequest, Correlator, MAX_ALIGNED,
    correlate_columns,
};
use sto_query::render;
use sto_query::results::RankedMetrics;
use sto_query::sources::BuildRef;

/// Size limit of a table, in bytes: 2,000 metrics of 50,000 rows.
const MAX_TABLE: u64 = 1 << 30;

const EXAMPLES: &str = "\
Examples:
  sto correlate perf.data --target self:parse            Show what explains the cost of a function
  sto correlate v1 --target 'pace = requests / cpu'      Explain the ratio of two recorded metrics
  sto correlate v1 --target requests -o metrics.html     Browse all metrics
  sto correlate v1 v2 --target requests --align requests Use metrics of another run, aligned with
                                                         the time of the first
  sto correlate --series stat.csv --target progress      Explain a column of a table by the others
  sto correlate --series stat.csv --target ipc --window 2..5 --pattern 2:1,3:0.4,5:0.4
                                                         Find columns with this drop, in these rows

A metric of a run is a recorded metric, by its name, or self:FUNCTION, total:FUNCTION, thread:NAME,
module:NAME, label:KEY=VALUE or event:EVENT. NAME = EXPRESSION combines metrics by + - * / and
parentheses; put a name in \" if it has characters other than letters, digits and _.: . Counts are
per second. Times are known for a recording that is named as a file, and for runs that were
ingested with --slices. If a build has several runs, the newest is used.

The first line of a table names the columns. Times are in the column time, t, timestamp or seconds, otherwise
in the first column whose values only grow; without one, rows are taken as equally spaced. Every other column of
numbers is a metric.

Exit status: 0 success, 2 wrong usage or failure, 3 too few rows or slices, or no other metric.";

/// Rank metrics over time by how well they explain another
///
/// Compares every metric of one or more runs with the target by the eight correlators of Automating
/// Vertical Profiling (OOPSLA 2005). The first line shows what explains the target best, and whether that is
/// significant: q is the probability that at least one of the metrics explains a time-shifted target equally
/// well.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorrelateArgs {
    /// Use the metrics of these builds, profiles or files, the target from the first: `[EXE@]BUILD`, ID or PATH
    #[arg(required_unless_present = "series", conflicts_with = "series")]
    selector: Vec<OsString>,

    /// Use the columns of a table: CSV with a row for each time, and names in its first line; `-` reads
    /// standard input
    #[arg(long, value_name = "FILE.csv")]
    series: Option<PathBuf>,

    /// Explain this metric
    #[arg(long, value_name = "METRIC")]
    target: String,

    /// Also compare this metric, which combines others; may be given several times
    #[arg(long, value_name = "NAME = EXPRESSION", conflicts_with = "series")]
    metric: Vec<String>,

    /// Align other runs with the first by dynamic time warping over this metric, which all must have
    /// [default: align by the time since their first samples]
    #[arg(long, value_name = "METRIC", conflicts_with = "series")]
    align: Option<String>,

    /// Cut the time of the first run into at most this many slices [default: 4 samples per slice on average, from
    /// 200 to 1,000 slices]
    #[arg(long, value_name = "COUNT", conflicts_with = "series")]
    #[arg(value_parser = clap::value_parser!(u16).range(4..=MAX_ALIGNED as i64))]
    slices: Option<u16>,

    /// Rank by one correlator [default: the median of the ranks by all]
    #[arg(long, value_parser = choice::<Correlator>(Correlator::ALL.map(Correlator::name)))]
    by: Option<Correlator>,

    /// Split series into this many segments [default: as many as suit the target, up to 20]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(2..=1000))]
    splits: Option<u16>,

    /// Look for metrics shaped like the lines through these points, instead of the target
    #[arg(long, value_name = "T:VALUE,...", value_parser = point, value_delimiter = ',')]
    #[arg(allow_hyphen_values = true)]
    pattern: Vec<(f64, f64)>,

    /// Compare only these windows of time, joined to one series; either end may be left out
    #[arg(long, value_name = "FROM..TO,...", value_parser = window, value_delimiter = ',')]
    #[arg(allow_hyphen_values = true)]
    window: Vec<(Option<f64>, Option<f64>)>,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    limit: LimitArg,

    /// Write a page for browsers to this file, with a plot of each metric over the target, and tools to find and pin
    /// metrics; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &CorrelateArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let ranked = match &args.series {
        Some(path) => rank_columns(args, path)?,
        None => {
            let mut request = CorrelateRequest::default();
            request.named = args.selector.iter().map(BuildRef::from).collect();
            request.filter = args.filter.filter();
            request.inlined = args.inlined.inlined;
            request.options = options(args);
            request.metrics.clone_from(&args.metric);
            request.align.clone_from(&args.align);
            request.slices = args.slices.map(usize::from);
            request.limit = limit(args);
            store.ask(&request)?
        }
    };
    let outcome = if ranked.metrics.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    };
    match &args.output {
        Some(output) => {
            let drawn = Drawn {
                drawing: render::correlate::html(&ranked),
                subjects: ranked.runs.into_iter().map(|run| run.run.subject).collect(),
                new_outliers: None,
            };
            drawn.write(Some(output), &args.format)?;
        }
        None => args.format.print(&ranked, render::correlate::text)?,
    }
    Ok(outcome)
}

fn rank_columns(args: &CorrelateArgs, path: &Path) -> Result<RankedMetrics, CliError> {
    let mut request = CorrelateTableRequest::default();
    request.table = text::read_or_stdin(path, MAX_TABLE).map_err(|source| CliError::ReadFile {
        path: path.to_owned(),
        source,
    })?;
    request.options = options(args);
    request.limit = limit(args);
    correlate_columns(&request).map_err(|source| CliError::Correlate {
        path: path.to_owned(),
        source,
    })
}

/// Returns the maximum number of metrics; a page lists all unless a number is given.
fn limit(args: &CorrelateArgs) -> Option<usize> {
    match args.output {
        Some(_) => args.limit.given(),
        None => args.limit.for_format(&args.format),
    }
}

fn options(args: &CorrelateArgs) -> CorrelateOptions {
    let mut options = CorrelateOptions::default();
    options.target.clone_from(&args.target);
    options.by = args.by;
    options.splits = args.splits.map(usize::from);
    options.pattern.clone_from(&args.pattern);
    options.windows.clone_from(&args.window);
    options
}
