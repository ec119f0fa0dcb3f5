//! `sto report`: writes a page about the suspect functions of a run.

use crate::args::{HistoryArgs, JudgedArgs, Percent};
use crate::runtime::{CliError, Outcome, StorePath, WORDS, next_steps, output, ui};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::SuspectsRequest;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto report --benchmark startup -o report.html
  sto report --benchmark startup --at 3f2a --window 20 -o report.html

Exit status: 0 success, 2 wrong usage or failure, 3 fewer than two previous runs.";

/// Write a page about the functions of a run that differ from the prediction of previous runs
///
/// The page is one self-contained file: the runs over time, each suspect with its history and the
/// contexts that explain it, and a flame graph of the run against the average of the previous runs.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    history: HistoryArgs,

    #[command(flatten)]
    judged: JudgedArgs,

    /// Leave out functions with less than this percentage of every run in the window
    #[arg(long, value_name = "PERCENT", default_value = "0.5", value_parser = Percent::part)]
    min_share: Percent,

    /// Treat functions with at least this score as suspects
    #[arg(long, value_name = "SCORE", default_value_t = 2.0, value_parser = positive)]
    min_score: f64,

    /// Show at most this many suspects
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,

    /// Write the page to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &ReportArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let judged = args.judged.request();
    let mut request = SuspectsRequest::default();
    request.history = args.history.query()?;
    request.at = judged.at;
    request.options.window = judged.window;
    request.options.min_share = args.min_share.share();
    request.options.min_score = args.min_score;
    request.options.limit = args.limit;
    let mut found = store_path.ask(&request)?;
    next_steps::add_suspect_commands(&mut found, &store_path.option());
    let outcome = match found.expected {
        Some(_) => Outcome::Clean,
        None => Outcome::TooLittleData,
    };
    let page = render::suspects::html(&found, WORDS);
    let Some(file) = output::file(Some(&args.output)) else {
        output::write_stdout(page.as_bytes())?;
        return Ok(outcome);
    };
    output::write_file(file, page.as_bytes())?;
    let file = file.display().to_string();
    let text = render::suspects::text(&found, ui::style());
    let text = format!("{text}wrote {}\n", sto_query::text::printable(&file));
    output::write_stdout(text.as_bytes())?;
    Ok(outcome)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err("a number above 0 is expected".to_owned()),
    }
}
