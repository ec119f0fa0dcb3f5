//! `sto find-regressions`: what got worse, why, and who is affected.

use crate::args::findings::FindingsOutputArgs;
use crate::args::matching::MatchingArgs;
use crate::args::percent::Percent;
use crate::args::policy::{PolicyArg, PolicyFile};
use crate::args::select::SidesArgs;
use crate::runtime::environment::now;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::sources::{Located, Sources};
use crate::runtime::store_path::StorePath;
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, Command, FromArgMatches};
use sto_core::id::ProfileId;
use sto_query::compare::{
    Benchmarks, Check, CompareOptions, Comparison, NormalisationMethod, Verdict, WorseIf,
    compare_with_earlier,
};
use sto_query::policy::{Policy, Thresholds};
use sto_query::select::{Selection, full_name};
use sto_query::text::Date;

const AFTER: &str = "\
Examples:
  sto find-regressions v1 v2
  sto find-regressions --baseline last-good v2
  sto find-regressions demo@v1 demo@v2 --format json
  sto find-regressions v1 v2 --format md -o summary.md
  sto find-regressions v1 v2 --benchmark startup --benchmark serve --per requests
  sto find-regressions v1 v2 --format html -o report.html
  sto find-regressions old.perf.data new.perf.data --min-effect 25

Where both sides have runs of several benchmarks, each benchmark is compared by itself, and the
verdict is the worst of all.

Exit status: 0 no regression, 1 regressions found, 2 wrong usage or failure, 3 too little data.";

/// Say what got slower between two builds, why, and who is affected
///
/// The most likely cause stands first; its callers, which got slower with it, stand under it.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
#[command(group(ArgGroup::new("normalisation")))]
pub(crate) struct FindRegressionsArgs {
    #[command(flatten)]
    sides: SidesArgs,

    /// Compare only runs of this benchmark; may be given several times
    #[arg(long = "benchmark", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    benchmarks: Vec<String>,

    #[command(flatten)]
    policy: PolicyArg,

    /// Accept this rate of false discoveries, from 0 to 1 [default: 0.05]
    #[arg(long, value_name = "RATE")]
    alpha: Option<f64>,

    /// Ignore functions that changed by less than this [default: 10]
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    min_effect: Option<Percent>,

    /// Ignore functions with less than this share of all samples on both sides [default: 0.5]
    #[arg(long, value_name = "PERCENT", value_parser = Percent::part)]
    min_share: Option<Percent>,

    /// Call fewer samples than this on a side too little data [default: 200]
    #[arg(long, value_name = "COUNT")]
    min_samples: Option<u64>,

    /// Compare cost by run, as each run did the same work; else what most functions cost is taken to
    /// be the same
    #[arg(long, group = "normalisation")]
    per_run: bool,

    /// Compare cost for each unit of this metric, which every profile must have
    #[arg(long, value_name = "METRIC", group = "normalisation")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    per: Option<String>,

    /// Compare shares of all samples
    #[arg(long, group = "normalisation")]
    shares: bool,

    /// Count this metric as worse where it is higher, lower, or never (NAME=higher, NAME=lower,
    /// NAME=never); may be given several times. Without it, `seconds` and `total-cost` count as worse
    /// where they are higher, and other metrics are only shown
    #[arg(long, value_name = "NAME=WHEN", value_parser = worse_if)]
    worse_if: Vec<(String, WorseIf)>,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    output: FindingsOutputArgs,
}

pub(crate) fn run(args: &FindRegressionsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let policy = args.policy.load()?;
    let sources = Sources::new(store)?;
    let baseline = policy.policy.baseline.as_deref();
    let sides = args.sides.locate(&sources, baseline)?;
    args.report(store, &policy, sources, sides)
}

/// Compares runs of two builds that were just recorded, as this command does with these builds.
pub(crate) fn of_recorded(
    store: &StorePath,
    [baseline, candidate]: [&[ProfileId]; 2],
) -> Result<Outcome, CliError> {
    let sources = Sources::new(store)?;
    let sides = (
        sources.stored_runs(baseline)?,
        sources.stored_runs(candidate)?,
    );
    let name = |side: &Located| full_name(&side.selection.build);
    let command = FindRegressionsArgs::augment_args(Command::new("find-regressions"));
    // Any two will do until they are named.
    let matches = command.no_binary_name(true).get_matches_from(["v1", "v2"]);
    let mut args =
        FindRegressionsArgs::from_arg_matches(&matches).expect("the sides are all it takes");
    args.sides
        .name(name(&sides.0).into(), name(&sides.1).into());
    let policy = args.policy.load()?;
    args.report(store, &policy, sources, sides)
}

impl FindRegressionsArgs {
    fn report(
        &self,
        store: &StorePath,
        policy: &PolicyFile,
        sources: Sources<'_>,
        sides: (Located, Located),
    ) -> Result<Outcome, CliError> {
        let check = self.check(store, policy, &sources, sides)?;
        // Nobody who writes waits for the pager.
        drop(sources);
        self.output.write(&check)?;
        Ok(match check.verdict {
            Verdict::Clean => Outcome::Clean,
            Verdict::Regression => Outcome::Regressions,
            Verdict::Insufficient => Outcome::TooLittleData,
        })
    }

    fn check(
        &self,
        store: &StorePath,
        file: &PolicyFile,
        sources: &Sources,
        (baseline, candidate): (Located, Located),
    ) -> Result<Check, CliError> {
        let PolicyFile { path, policy } = file;
        let may_have_benchmarks = baseline.is_stored() && candidate.is_stored();
        let named = match &self.benchmarks[..] {
            [] if may_have_benchmarks => policy.benchmarks.keys().cloned().collect(),
            named => named.to_vec(),
        };
        let benchmarks = Benchmarks::of(&baseline.selection, &candidate.selection, &named);
        let today = Date::of(now());
        let mut warnings = policy.expired(&today);
        warnings.extend(benchmarks.warnings);
        let each = match &benchmarks.compared[..] {
            [] => vec![None],
            compared => compared.iter().map(|name| Some(name.as_deref())).collect(),
        };
        let mut comparisons = Vec::new();
        for &runs in &each {
            let name = runs.flatten();
            let mut options = self.options(policy, name, &today);
            // So at most `alpha` of the findings of all benchmarks together are false.
            options.alpha /= each.len() as f64;
            let sides = [&baseline, &candidate];
            let mut comparison = self.compare(sources, sides, runs, &options)?;
            comparison.benchmark = name.map(str::to_owned);
            comparison.policy = path.as_ref().map(|path| path.display().to_string());
            self.sides.name_in(&mut comparison, store);
            comparison.warnings.splice(0..0, warnings.iter().cloned());
            comparisons.push(comparison);
        }
        Ok(Check::of(comparisons))
    }

    /// The command line holds over the policy.
    fn options(&self, policy: &Policy, benchmark: Option<&str>, today: &Date) -> CompareOptions {
        let set = Thresholds {
            alpha: self.alpha,
            min_effect: self.min_effect.map(Percent::share),
            min_share: self.min_share.map(Percent::share),
            min_samples: self.min_samples,
            normalisation: match (self.per_run, self.shares, &self.per) {
                (true, ..) => Some(NormalisationMethod::PerRun),
                (_, true, _) => Some(NormalisationMethod::Total),
                (.., Some(metric)) => Some(NormalisationMethod::PerMetric(metric.clone())),
                _ => None,
            },
            worse_if: self.worse_if.iter().cloned().collect(),
        };
        let options = CompareOptions {
            all: self.output.shows_all(),
            stacks: self.output.shows_stacks(),
            matching: self.matching.options(),
            ..CompareOptions::default()
        };
        policy.options(benchmark, &set, today, options)
    }

    /// Compares all runs of both sides, or those of one benchmark.
    fn compare(
        &self,
        sources: &Sources,
        sides: [&Located; 2],
        benchmark: Option<Option<&str>>,
        options: &CompareOptions,
    ) -> Result<Comparison, CliError> {
        let chosen = |all: Selection| match benchmark {
            Some(benchmark) => all.of_benchmark(benchmark),
            None => all,
        };
        let runs = sides.map(|side| (side, chosen(side.selection.clone())));
        let (baseline, candidate) = self.sides.load(sources, runs)?;
        // Where neither side has several runs, an earlier build tells how much they vary.
        let earlier = if baseline.runs.len() > 1 || candidate.runs.len() > 1 {
            None
        } else {
            sources.with_several_runs(&candidate.selection.build.executable, chosen)?
        };
        let earlier = earlier.as_ref();
        let mut comparison = compare_with_earlier(&baseline, &candidate, earlier, options)?;
        let views = [(sides[0], &baseline), (sides[1], &candidate)];
        sources.find_lines(&mut comparison, views)?;
        Ok(comparison)
    }
}

fn worse_if(text: &str) -> Result<(String, WorseIf), &'static str> {
    let named = text.rsplit_once('=');
    let known = named.and_then(|(name, when)| Some((name.to_owned(), WorseIf::of(when)?)));
    known
        .filter(|(name, _)| !name.is_empty())
        .ok_or("expected NAME=higher, NAME=lower or NAME=never")
}
