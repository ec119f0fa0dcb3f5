//! `sto find-regressions`: shows what got slower, why, and which callers are affected.

use crate::args::{FindingsOutputArgs, MatchingArgs, Percent, PolicyArg, SidesArgs};
use crate::commands::check_by_server as by_server;
use crate::commands::findings::{Names, outcome_of};
use crate::runtime::{CliError, Outcome, StorePath};
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use sto_core::id::ProfileId;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::policy::Thresholds;
use sto_query::questions::{NormalisationMethod, WorseIf};
use sto_query::sources::BuildRef;

const AFTER: &str = "\
Examples:
  sto find-regressions v1 v2
  sto find-regressions --baseline last-good v2
  sto find-regressions demo@v1 demo@v2 --format json
  sto find-regressions v1 v2 --format md -o summary.md
  sto find-regressions v1 v2 --benchmark startup --benchmark serve --per requests
  sto find-regressions v1 v2 --x n                 Runs of `sto record --scale n=1000,2000,4000,8000`
  sto find-regressions v1 v2 --format html -o report.html
  sto find-regressions old.perf.data new.perf.data --min-effect 25
  sto find-regressions v1 --window 5s..10s --against 0s..5s
  sto find-regressions v1 v2 --counts counts.parquet
  sto find-regressions v1 v2 --server https://sto.example.com --format github

If both sides have runs of several benchmarks, each benchmark is compared by itself, and the
worst verdict counts.

With --window, only a part of each run is judged: the same part of two builds, or without a BASELINE, against \
another part of the same runs or the rest of them. Costs per second are compared then.

Exit status: 0 no regression, 1 regressions found, 2 wrong usage or failure, 3 too little data.";

/// Show what got slower between two builds, why, and which callers are affected
///
/// The most likely cause comes first; its callers, which got slower with it, are listed under it.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FindRegressionsArgs {
    #[command(flatten)]
    sides: SidesArgs,

    /// Compare counts that a query engine summed over a dataset: a Parquet file, or folder of them, with the result of
    /// `sto sql --examples lake/counts`. They contain no stacks
    #[arg(long, value_name = "FILE", conflicts_with_all = ["window", "against"])]
    counts: Option<PathBuf>,

    /// Compare only runs of this benchmark; `*` stands for any text; may be given several times
    #[arg(long = "benchmark", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    benchmarks: Vec<String>,

    #[command(flatten)]
    judgement: JudgementArgs,

    #[command(flatten)]
    output: FindingsOutputArgs,

    /// Ask this server instead of the local store. Its token is in $STO_TOKEN, or in the file $STO_TOKEN_FILE
    #[arg(long, value_name = "URL", conflicts_with = "counts")]
    server: Option<String>,
}

/// Options that decide what counts as slower.
#[derive(Debug, Args)]
pub(crate) struct JudgementArgs {
    #[command(flatten)]
    policy: PolicyArg,

    #[command(flatten)]
    thresholds: ThresholdArgs,

    #[command(flatten)]
    matching: MatchingArgs,

    /// Judge each instance of a generic function or template only by itself. By default, instances of which none
    /// changed significantly are one function if their sum did
    #[arg(long)]
    instances: bool,
}

/// Thresholds below which a change is ignored, and the normalisation.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("normalisation")))]
struct ThresholdArgs {
    /// Accept this rate of false discoveries, from 0 to 1 [default: 0.05]
    #[arg(long, value_name = "RATE")]
    alpha: Option<f64>,

    /// Ignore functions that changed by less than this [default: 10]
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    min_effect: Option<Percent>,

    /// Ignore functions with less than this share of all samples on both sides [default: 0.5]
    #[arg(long, value_name = "PERCENT", value_parser = Percent::part)]
    min_share: Option<Percent>,

    /// Report too little data if a side has fewer samples than this [default: 200]
    #[arg(long, value_name = "COUNT")]
    min_samples: Option<u64>,

    /// Compare the cost of runs, because each run did the same work. By default, a change counts if it is one both of
    /// the cost of a run and relative to most functions, unless the recordings show that the work was the same
    #[arg(long, group = "normalisation")]
    per_run: bool,

    /// Compare cost relative to most functions, because the runs did different amounts of work and most functions are
    /// unchanged
    #[arg(long, group = "normalisation")]
    unequal_work: bool,

    /// Compare cost per unit of this metric, which every profile must have
    #[arg(long, value_name = "METRIC", group = "normalisation")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    per: Option<String>,

    /// Compare shares of all samples
    #[arg(long, group = "normalisation")]
    shares: bool,

    /// Also compare how cost grows with this metric or label of the runs, number that samples are labelled with, or
    /// `time`: a function that grows faster according to `sto compare-models` is a regression
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    x: Option<String>,

    /// Count this metric as worse if it is higher, lower, or never (NAME=higher, NAME=lower,
    /// NAME=never); may be given several times. By default, `seconds` and `total-cost` count as worse
    /// if they are higher, and other metrics are only shown
    #[arg(long, value_name = "NAME=WHEN", value_parser = worse_if)]
    worse_if: Vec<(String, WorseIf)>,
}

pub(crate) fn run(args: &FindRegressionsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = CheckRequest::default();
    args.sides.ask(&mut request);
    request.benchmarks.clone_from(&args.benchmarks);
    args.judgement.ask(&mut request)?;
    let mut names = Names::new(args.sides.named(), &request);
    names.has_one = args.sides.has_one();
    names.options.extend(args.sides.window_options());
    request.counts.clone_from(&args.counts);
    if let Some(server) = &args.server {
        return by_server::report(server, request, names, &args.output);
    }
    report(store, request, names, &args.output)
}

/// Compares runs of two builds that were just recorded.
pub(crate) fn compare_recorded(
    store: &StorePath,
    [baseline, candidate]: [&[ProfileId]; 2],
) -> Result<Outcome, CliError> {
    let mut request = CheckRequest::default();
    request.baseline = Some(Baseline::Any(BuildRef::Runs(baseline.to_vec())));
    request.candidate = BuildRef::Runs(candidate.to_vec());
    let policy = PolicyArg::default();
    policy.ask(&mut request)?;
    if request.policy.thresholds.normalisation.is_none() {
        // Both commands are the user's choice, and so is that they do the same work.
        request.thresholds.normalisation = Some(NormalisationMethod::PerRun);
    }
    let output = FindingsOutputArgs::default();
    report(store, request, Names::default(), &output)
}

/// Checks for regressions and writes the findings.
pub(crate) fn report(
    store: &StorePath,
    mut request: CheckRequest,
    mut names: Names,
    output: &FindingsOutputArgs,
) -> Result<Outcome, CliError> {
    output.ask(&mut request);
    names.options.extend(store.option());
    let mut check = store.ask(&request)?;
    // No command can show details of counts.
    if request.counts.is_none() {
        names.add_commands(&mut check);
    }
    let rendered = output.rendering().render(&check);
    output.write(&rendered)?;
    Ok(outcome_of(rendered.verdict))
}

impl JudgementArgs {
    /// Adds these options to the request.
    pub(crate) fn ask(&self, request: &mut CheckRequest) -> Result<(), CliError> {
        request.thresholds = self.thresholds.thresholds();
        request.matching = self.matching.options();
        request.instances = self.instances;
        self.policy.ask(request)
    }
}

impl ThresholdArgs {
    fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        thresholds.alpha = self.alpha;
        thresholds.min_effect = self.min_effect.map(Percent::share);
        thresholds.min_share = self.min_share.map(Percent::share);
        thresholds.min_samples = self.min_samples;
        let chosen = [
            (self.per_run, NormalisationMethod::PerRun),
            (self.unequal_work, NormalisationMethod::Tmm),
            (self.shares, NormalisationMethod::Total),
        ];
        let chosen = chosen.into_iter().find(|(is_chosen, _)| *is_chosen);
        let per = self.per.clone().map(NormalisationMethod::PerMetric);
        thresholds.normalisation = chosen.map(|(_, method)| method).or(per);
        thresholds.x.clone_from(&self.x);
        thresholds.worse_if = self.worse_if.iter().cloned().collect();
        thresholds
    }
}

fn worse_if(text: &str) -> Result<(String, WorseIf), &'static str> {
    let named = text.rsplit_once('=');
    let known = named.and_then(|(name, when)| Some((name.to_owned(), WorseIf::from_name(when)?)));
    known
        .filter(|(name, _)| !name.is_empty())
        .ok_or("expected NAME=higher, NAME=lower or NAME=never")
}
