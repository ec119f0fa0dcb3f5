//! `sto find-regressions`: what got worse, why, and who is affected.

use crate::error::{CliError, Outcome};
use crate::findings::FindingsOutputArgs;
use crate::matching::MatchingArgs;
use crate::percent::Percent;
use crate::select::SelectPairArgs;
use crate::sources::Sources;
use crate::store_path::StorePath;
use clap::Args;
use sto_query::compare::{CompareOptions, NormalisationMethod, Verdict, compare_with_earlier};

const AFTER: &str = "\
Examples:
  sto find-regressions v1 v2
  sto find-regressions demo@v1 demo@v2 --format json
  sto find-regressions v1 v2 --format md -o summary.md
  sto find-regressions v1 v2 --format html -o report.html
  sto find-regressions old.perf.data new.perf.data --min-effect 25

Exit status: 0 no regression, 1 regressions found, 2 wrong usage or failure, 3 too little data.";

/// Say what got slower between two builds, why, and who is affected
///
/// The most likely cause stands first; its callers, which got slower with it, stand under it.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FindRegressionsArgs {
    #[command(flatten)]
    select: SelectPairArgs,

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

    /// Call fewer samples than this on a side too little data
    #[arg(long, value_name = "COUNT", default_value_t = CompareOptions::default().min_samples)]
    min_samples: u64,

    /// Compare cost by run, as each run did the same work; else what most functions cost is taken to
    /// be the same
    #[arg(long, conflicts_with = "shares")]
    per_run: bool,

    /// Compare shares of all samples
    #[arg(long)]
    shares: bool,

    /// Show every function that was tested, changed or not
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    output: FindingsOutputArgs,
}

pub(crate) fn run(args: &FindRegressionsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let sources = Sources::new(store)?;
    let (baseline, candidate) = args.select.load(&sources)?;
    let options = CompareOptions {
        alpha: args.alpha,
        min_effect: args.min_effect.share(),
        min_share: args.min_share.share(),
        min_samples: args.min_samples,
        normalisation: match (args.per_run, args.shares) {
            (true, _) => NormalisationMethod::PerRun,
            (_, true) => NormalisationMethod::Total,
            _ => NormalisationMethod::Tmm,
        },
        all: args.all || args.output.shows_all(),
        stacks: args.output.shows_stacks(),
        matching: args.matching.options(),
    };
    let earlier = args.select.earlier(&sources, (&baseline, &candidate))?;
    let mut comparison = compare_with_earlier(&baseline, &candidate, earlier.as_ref(), &options)?;
    args.select.name_in(&mut comparison, store);
    sources.find_lines(&mut comparison, (&baseline, &candidate))?;
    args.output.write(std::slice::from_ref(&comparison))?;
    Ok(match comparison.verdict {
        Verdict::Clean => Outcome::Clean,
        Verdict::Regression => Outcome::Regressions,
        Verdict::Insufficient => Outcome::TooLittleData,
    })
}
