//! `sto compare-models`: compares how cost grows with the input of two builds.

use crate::args::{
    BinsArg, CurveArgs, FilterArgs, InlinedArg, Percent, choice, read_points, write_drawing,
};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use sto_query::questions::{
    CompareModelsOptions, CompareModelsRequest, Detector, Order, PointsTable, compare_tables,
};
use sto_query::render;
use sto_query::results::Verdict;
use sto_query::statistics::models::changes::DetectorRules;

const AFTER: &str = "\
Examples:
  sto record --build v1 --scale n=1000,2000,4000,8000 --runs 3 ./old {n}
  sto record --build v2 --scale n=1000,2000,4000,8000 --runs 3 ./new {n}
  sto compare-models v1 v2 --x n
  sto compare-models old.pb.gz new.pb.gz --x request_bytes
  sto compare-models v1 v2 --x n --kind all             All kinds of curves, compared by two detectors of Perun
  sto compare-models --points old.csv new.csv --kind regressogram --buckets 25

x is as for `sto model`: a metric or label of the runs, otherwise a number that samples are labelled with, `time`, or an \
argument of calls.

A function is a degradation if its runs differ significantly from the baseline's at the same x, and its \
curve is above the baseline's by --min-effect at the largest x. Two or more runs for each x reveal much smaller changes.

With --kind, detectors of Perun also compare curves of these kinds. Local statistics compares parts of x, each with a \
result of its own.

Exit status: 0 no degradation, 1 a degradation, 2 wrong usage or failure, 3 too few runs to compare.";

/// Find functions whose cost grows differently with the input of the runs
///
/// Fits curves to each function's cost by a metric of the runs, as `sto model` does, in two builds; shows which
/// functions changed from one kind of growth to another, by how much, and from which x on.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
#[command(
    override_usage = "sto compare-models [OPTIONS] --x <NAME> <BASELINE> <CANDIDATE>\n       \
  sto compare-models [OPTIONS] --points <BASELINE> <CANDIDATE>"
)]
pub(crate) struct CompareModelsArgs {
    /// Compare with this build, profile or file: `[EXE@]BUILD`, ID or PATH; with --points, a CSV file
    baseline: OsString,

    /// Judge this build, profile or file: `[EXE@]BUILD`, ID or PATH; with --points, a CSV file
    candidate: OsString,

    /// Compare the points of two files, for each group: CSV with columns x, y and optionally group
    #[arg(long, conflicts_with_all = ["x", "by", "inlined", "benchmarks", "event"])]
    points: bool,

    /// Compare cost by this metric or label of the runs, number that samples are labelled with, `time`, argument of
    /// calls, or their `order`
    #[arg(long, value_name = "NAME", required_unless_present = "points")]
    x: Option<String>,

    /// Compare only this function: its name, part of it, or `re:` and a regular expression
    #[arg(long, value_name = "FUNCTION")]
    function: Option<String>,

    /// Use each function's self cost, or its total with everything it calls
    #[arg(long, default_value = "total", value_parser = choice::<Order>(["self", "total"]))]
    by: Order,

    /// Report only changes of at least this much at the largest x
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    #[arg(default_value_t = Percent::from_share(CompareModelsOptions::default().min_effect))]
    min_effect: Percent,

    /// Also show what this detector of Perun finds, or all of them; the verdict does not depend on it [default with
    /// --kind: integral-comparison and local-statistics]
    #[arg(long, value_name = "NAME", value_parser = detectors())]
    detector: Vec<String>,

    /// Let integral-comparison and local-statistics report no change up to this relative change [default: 10]
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    no_change: Option<Percent>,

    /// Let integral-comparison and local-statistics report a certain change above this relative change, and a possible
    /// one up to it [default: 25]
    #[arg(long, value_name = "PERCENT", value_parser = Percent::change)]
    change: Option<Percent>,

    /// Cut x into about this many parts for local-statistics, with two or more values each [default: 20]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    parts: Option<u32>,

    #[command(flatten)]
    curve: CurveArgs,

    #[command(flatten)]
    bins: BinsArg,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    limit: LimitArg,

    /// Draw points, curves and changed parts of x of the changed functions into this file, as a page if its name ends
    /// in .html, otherwise as SVG
    #[arg(short, long, value_name = "FILE", conflicts_with = "format")]
    output: Option<PathBuf>,

    /// Draw both axes with logarithmic scales
    #[arg(long, requires = "output")]
    log: bool,

    #[command(flatten)]
    format: FormatArg,
}

/// The value of `--detector` that selects all detectors.
const ALL: &str = "all";

fn detectors() -> PossibleValuesParser {
    let names = Detector::ALL.into_iter().map(Detector::name);
    names.chain([ALL]).collect::<Vec<_>>().into()
}

pub(crate) fn run(args: &CompareModelsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let request = args.request()?;
    let changes = if args.points {
        let tables = [read_table(&args.baseline)?, read_table(&args.candidate)?];
        compare_tables(tables, &request)?
    } else {
        store.ask(&request)?
    };
    match &args.output {
        Some(path) => {
            let svg = || render::models::changes_svg(&changes, args.log);
            let html = || render::models::changes_html(&changes, args.log);
            write_drawing(path, html, svg)?;
        }
        None => args.format.print(&changes, render::models::changes::text)?,
    }
    Ok(match changes.verdict {
        Verdict::Regression => Outcome::Regressions,
        Verdict::Clean => Outcome::Clean,
        _ => Outcome::TooLittleData,
    })
}

fn read_table(path: &OsString) -> Result<PointsTable, CliError> {
    let path = Path::new(path);
    let table = read_points(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    PointsTable::read(&name, &table).map_err(|source| CliError::Model {
        path: path.to_owned(),
        source,
    })
}

impl CompareModelsArgs {
    fn request(&self) -> Result<CompareModelsRequest, CliError> {
        let mut request = CompareModelsRequest::default();
        request.named = [&self.baseline, &self.candidate].map(Into::into);
        request.filter = self.filter.filter();
        request.x = self.x.clone().unwrap_or_default();
        request.function.clone_from(&self.function);
        request.cost = self.by;
        request.inlined = self.inlined.inlined;
        request.limit = self.limit.for_format(&self.format);
        let options = &mut request.options;
        options.min_effect = self.min_effect.share();
        options.detectors = self.detectors();
        options.fit = self.curve.fit()?;
        options.bins = self.bins.bins;
        options.rules = self.rules(&options.detectors)?;
        Ok(request)
    }

    fn detectors(&self) -> Vec<Detector> {
        if self.detector.is_empty() && self.curve.is_given() {
            return vec![Detector::IntegralComparison, Detector::LocalStatistics];
        }
        let names = &self.detector;
        let is_asked = |of: &Detector| names.iter().any(|name| name == of.name() || name == ALL);
        Detector::ALL.into_iter().filter(is_asked).collect()
    }

    /// Returns the thresholds of the detectors.
    ///
    /// # Errors
    /// Returns an error if an option applies to none of the detectors that run, or if the thresholds are in the wrong
    /// order.
    fn rules(&self, detectors: &[Detector]) -> Result<DetectorRules, CliError> {
        let local = detectors.contains(&Detector::LocalStatistics);
        let either = local || detectors.contains(&Detector::IntegralComparison);
        let unused = [
            ("--no-change", self.no_change.is_some() && !either),
            ("--change", self.change.is_some() && !either),
            ("--parts", self.parts.is_some() && !local),
        ];
        if let Some((option, _)) = unused.into_iter().find(|(_, is_unused)| *is_unused) {
            return Err(CliError::OptionOfDetector(option));
        }
        let mut rules = DetectorRules::default();
        rules.no_change = self.no_change.map_or(rules.no_change, Percent::share);
        rules.change = self.change.map_or(rules.change, Percent::share);
        rules.parts = self.parts.unwrap_or(rules.parts);
        if rules.no_change > rules.change {
            return Err(CliError::ThresholdOrder);
        }
        Ok(rules)
    }
}
