//! `sto series`: follows one function over the runs of a program.

use crate::args::{HistoryArgs, choice};
use crate::runtime::output::write_file;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{Observation, SeriesRequest};
use sto_query::render;

/// Follow a function over the runs of a program
///
/// Shows its share of each run, oldest first, the band of two standard deviations around the prediction of
/// previous runs, and level shifts of the share. A run outside its band is marked with `!`.
#[derive(Debug, Args)]
pub(crate) struct SeriesArgs {
    /// Follow this function: its name, part of it, or `re:` and a regular expression
    function: String,

    #[command(flatten)]
    history: HistoryArgs,

    /// Treat each run as one observation, or all runs of a build together
    #[arg(long, default_value = "run", value_parser = choice::<Observation>(["run", "build"]))]
    by: Observation,

    /// Predict from this many previous observations
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..))]
    window: u16,

    /// Draw the series into this SVG file instead
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &SeriesArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = SeriesRequest::default();
    request.function.clone_from(&args.function);
    request.history = args.history.query()?;
    request.by = args.by;
    request.window = usize::from(args.window);
    let series = store_path.ask(&request)?;
    match &args.output {
        Some(path) => write_file(path, render::series_svg::svg(&series).as_bytes())?,
        None => args.format.print(&series, render::series::text)?,
    }
    Ok(Outcome::Clean)
}
