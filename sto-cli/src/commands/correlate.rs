//! `sto correlate`: which metrics over time explain another.

use crate::args::choice;
use crate::args::quantities::{point, window};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, text};
use clap::Args;
use std::path::PathBuf;
use sto_query::correlate::Correlator;
use sto_query::questions::{CorrelateTableRequest, correlate_columns};
use sto_query::render;

/// Longest table, in bytes: 2,000 metrics of 50,000 rows.
const MAX_TABLE: u64 = 1 << 30;

const EXAMPLES: &str = "\
Examples:
  sto correlate --series stat.csv --target progress      Say what explains it, by all correlators
  sto correlate --series stat.csv --target ipc --by dtw  The same by dynamic time warping alone
  sto correlate --series stat.csv --target ipc --window 2..5 --pattern 2:1,3:0.4,5:0.4
                                                         What looks like this drop, in these rows

The first line names the columns. Times are in the column time, t, timestamp or seconds, else in the
first whose values only grow; without one, rows are taken as equally spaced. Every other column of
numbers is a metric.

Exit status: 0 success, 2 wrong usage or failure, 3 too few rows, or no other metric.";

/// Rank metrics over time by how well they explain another
///
/// Compares every column of a CSV file with the target by the eight correlators of Automating Vertical
/// Profiling (OOPSLA 2005). The first line says what explains the target best, and whether that is more than
/// chance: q is how likely a target shifted in time is explained as well, corrected for the number of
/// metrics.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorrelateArgs {
    /// The metrics: CSV with a row for each time, and names in its first line; `-` reads standard input
    #[arg(long, value_name = "FILE.csv")]
    series: PathBuf,

    /// Explain this metric
    #[arg(long, value_name = "METRIC")]
    target: String,

    /// Rank by one correlator [default: the median of the ranks by all]
    #[arg(long, value_parser = choice::<Correlator>(Correlator::ALL.map(Correlator::name)))]
    by: Option<Correlator>,

    /// Split series into this many segments [default: as many as suit the target, up to 20]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(2..=1000))]
    splits: Option<u16>,

    /// Look for lines through these points, drawn in place of the target
    #[arg(long, value_name = "T:VALUE,...", value_parser = point, value_delimiter = ',')]
    #[arg(allow_hyphen_values = true)]
    pattern: Vec<(f64, f64)>,

    /// Compare only rows from one time to another; either may be left out
    #[arg(long, value_name = "FROM..TO", value_parser = window, allow_hyphen_values = true)]
    window: Option<(Option<f64>, Option<f64>)>,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &CorrelateArgs) -> Result<Outcome, CliError> {
    let path = || args.series.clone();
    let mut request = CorrelateTableRequest::default();
    request.table =
        text::read_or_stdin(&args.series, MAX_TABLE).map_err(|source| CliError::ReadFile {
            path: path(),
            source,
        })?;
    let options = &mut request.options;
    options.target.clone_from(&args.target);
    options.by = args.by;
    options.splits = args.splits.map(usize::from);
    options.pattern.clone_from(&args.pattern);
    (options.from, options.to) = args.window.unwrap_or_default();
    request.limit = args.limit.of(&args.format);
    let ranked = correlate_columns(&request).map_err(|source| CliError::Correlate {
        path: path(),
        source,
    })?;
    args.format.print(&ranked, render::correlate::text)?;
    Ok(match ranked.metrics.is_empty() {
        true => Outcome::TooLittleData,
        false => Outcome::Clean,
    })
}
