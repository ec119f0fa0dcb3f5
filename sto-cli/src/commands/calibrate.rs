//! `sto calibrate`: measures how reliable comparisons of a benchmark are.

use crate::args::{MatchingArgs, Percent, SelectArgs};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::{
    CalibrateCurvesRequest, CalibrateOptions, CalibrateRequest, CompareOptions,
};
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto calibrate v1                           Ten functions, half of the runs on each side
  sto calibrate v1 --runs 3                  Comparisons of three runs on each side
  sto calibrate v1 --min-effect 3            With other thresholds of find-regressions
  sto calibrate v1 --x n                     Calibrate compare-models and Perun's detectors

Exit status: 0 calibrated, 2 wrong usage or failure, 3 too few runs.";

/// Estimate how often find-regressions reports false changes, and which changes it can detect
///
/// Splits the runs of one build into two sides in many ways, and compares them as if they were two
/// builds: everything reported is false. Then makes the baseline's functions faster, one at a time, and
/// reports the smallest change that 9 of 10 comparisons find.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    select: SelectArgs,

    /// Make this many comparisons
    #[arg(long, value_name = "COUNT", default_value_t = CalibrateOptions::default().splits)]
    splits: usize,

    /// Estimate how often compare-models by this metric or label of the runs, and each of Perun's detectors, reports
    /// false degradations
    #[arg(long, value_name = "NAME", conflicts_with = "runs")]
    x: Option<String>,

    /// Use this many runs on each side [default: half of them]
    #[arg(long, value_name = "COUNT")]
    runs: Option<usize>,

    /// Accept this rate of false discoveries, from 0 to 1
    #[arg(long, value_name = "RATE", default_value_t = CompareOptions::default().alpha)]
    alpha: f64,

    /// Ignore functions that changed by less than this
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    #[arg(default_value_t = Percent::from_share(CompareOptions::default().min_effect))]
    min_effect: Percent,

    /// Ignore functions with less than this share of all samples on both sides
    #[arg(long, value_name = "PERCENT", value_parser = Percent::part)]
    #[arg(default_value_t = Percent::from_share(CompareOptions::default().min_share))]
    min_share: Percent,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &CalibrateArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = CalibrateRequest::default();
    request.named = args.select.named();
    request.filter = args.select.filter();
    request.thresholds.alpha = Some(args.alpha);
    request.thresholds.min_effect = Some(args.min_effect.share());
    request.thresholds.min_share = Some(args.min_share.share());
    request.matching = args.matching.options();
    request.splits = Some(args.splits);
    request.runs = args.runs;
    if let Some(x) = &args.x {
        let mut curves = CalibrateCurvesRequest::default();
        curves.x.clone_from(x);
        curves.runs = request;
        let calibration = store.ask(&curves)?;
        args.format
            .print(&calibration, render::models::calibrated)?;
        return Ok(if calibration.ways.is_empty() {
            Outcome::TooLittleData
        } else {
            Outcome::Clean
        });
    }
    let calibration = store.ask(&request)?;
    args.format.print(&calibration, render::calibrate::text)?;
    Ok(match calibration.false_reports {
        Some(_) => Outcome::Clean,
        None => Outcome::TooLittleData,
    })
}
