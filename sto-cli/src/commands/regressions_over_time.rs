//! `sto regressions-over-time`: compares the functions of one run with previous runs.

use crate::args::{HistoryArgs, JudgedArgs, Percent};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath, WINDOW_EXIT_STATUS};
use clap::Args;
use sto_query::questions::RegressionsRequest;
use sto_query::render;

/// Show which functions of a run differ from the prediction of previous runs
///
/// The functions that explain why a run costs more come first, in the order of `sto find-regressions`.
/// The others follow by what a run costs more.
///
/// The score of a function is how many standard deviations its samples are above their mean in
/// previous runs; a run without the function counts as zero samples. Level shifts of a function's samples
/// over all runs are listed below it: an old step, or a slow drift.
#[derive(Debug, Args)]
#[command(after_help = WINDOW_EXIT_STATUS)]
pub(crate) struct RegressionsOverTimeArgs {
    #[command(flatten)]
    history: HistoryArgs,

    #[command(flatten)]
    judged: JudgedArgs,

    /// Leave out functions with less than this percentage of every run in the window
    #[arg(long, value_name = "PERCENT", default_value = "0.5", value_parser = Percent::part)]
    min_share: Percent,

    /// Show functions with at least this score, and those with a level shift [default: 2 in text, all in JSON]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    min_score: Option<f64>,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(
    args: &RegressionsOverTimeArgs,
    store_path: &StorePath,
) -> Result<Outcome, CliError> {
    let mut request = RegressionsRequest::default();
    request.history = args.history.query()?;
    request.judged = args.judged.request();
    request.min_share = Some(args.min_share.share());
    request.min_score = args.min_score.or(args.format.is_text().then_some(2.0));
    request.limit = args.limit.for_format(&args.format);
    let scores = store_path.ask(&request)?;
    args.format.print(&scores, render::scores::text)?;
    let windows = scores.by_benchmark().map(|scores| scores.window);
    Ok(Outcome::from_window(windows.min().unwrap_or_default()))
}
