//! `sto model`: models how cost grows with the input of a program.

use crate::args::{BinsArg, CurveArgs, FilterArgs, InlinedArg, choice, read_points, write_drawing};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use sto_query::questions::{
    FunctionModelRequest, ModelRequest, Order, TwoNumberModelRequest, model_table,
};
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto record --build v1 --scale n=1000,2000,4000,8000 --runs 3 ./sort {n}
  sto model sort v1 --x n                  How the cost of sort grows with n
  sto model --all v1 --x n                 How the cost of every function grows
  sto model --points points.csv            Points of a file with columns x and y
  sto model parse trace.json --x bytes     Calls in a trace, by their argument `bytes`
  sto model parse probes.txt --x n         Calls of functions that perf probed
  sto model sort v1 --x n --kind kernel    A smooth curve instead of a formula
  sto model sort v1 --x n --kind regression,moving-average,moving-median -o sort.svg
                                           Several curves in one drawing
  sto model fill v1 --x rows --x columns   Two variables: a normal form

With two --x, a constant and terms of either or both are fitted, as Extra-P does; both must be metrics or labels of \
the runs, each with four or more values.

x is a metric of the runs, as set by `sto record --scale`, `sto ingest --metric` and `sto annotate`, or a \
numeric label of the runs; otherwise a number that samples are labelled with, or `time` for parts of each run. y is \
the function's total cost at x. For a trace of calls, x may be an argument of the calls, or \
`order` for the first, second and further call of a function in a thread (kept by `sto ingest --keep-calls`); y is \
then the duration of each call.

Exit status: 0 success, 2 wrong usage or failure, 3 too few points for any model.";

/// Model how the cost of a function grows with the input of its runs
///
/// Fits curves to a function's cost in each run by a metric of the runs, such as the size of the input, and shows
/// which fits best: constant, logarithmic, linear, n log n, quadratic, cubic, power or exponential. With --kind, fits
/// curves of other kinds.
#[derive(Debug, Args)]
#[command(after_help = AFTER, mut_arg("limit", |limit| limit.requires("all")))]
#[command(
    override_usage = "sto model [OPTIONS] --x <NAME> <FUNCTION> <PROFILES>\n       \
  sto model [OPTIONS] --x <NAME> --all <PROFILES>\n       \
  sto model [OPTIONS] --points <FILE>"
)]
pub(crate) struct ModelArgs {
    /// The function, by its name or part of it, and the build, profile or file: `[EXE@]BUILD`, ID or PATH
    #[arg(value_name = "FUNCTION PROFILES", num_args = 0..=2)]
    names: Vec<OsString>,

    /// Model every function
    #[arg(long, conflicts_with = "points")]
    all: bool,

    /// Model cost by this metric or label of the runs, number that samples are labelled with, `time`, argument of
    /// calls, or their `order`
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "points",
        conflicts_with = "points"
    )]
    x: Vec<String>,

    /// Model the points in this file instead: CSV with columns x, y and optionally group
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["names", "by", "inlined", "benchmarks", "event"])]
    points: Option<PathBuf>,

    /// Use each function's self cost, or its total with everything it calls
    #[arg(long, default_value = "total", value_parser = choice::<Order>(["self", "total"]))]
    by: Order,

    /// Draw both axes with logarithmic scales, so that a power of x is a line
    #[arg(long, conflicts_with = "all")]
    log: bool,

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

    /// Draw points and curves into this file, as a page if its name ends in .html, otherwise as SVG
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["all", "format"])]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ModelArgs, store: &StorePath) -> Result<Outcome, CliError> {
    if args.x.len() > 2 || (args.all && args.x.len() > 1) {
        return Err(CliError::Names("one `--x`, or two if a function is named"));
    }
    let log = args.log;
    let one = match (&args.points, args.all, &args.names[..]) {
        (Some(path), ..) => {
            let table = read_points(path)?;
            let modelled = model_table(&table, &args.request(&OsString::new())?);
            let modelled = modelled.map_err(|source| CliError::Model {
                path: path.clone(),
                source,
            })?;
            match modelled.into_one() {
                Ok(one) => one,
                Err(groups) => {
                    args.check_several_groups()?;
                    args.format.print(&*groups, render::models::all_functions)?;
                    return Ok(Outcome::Clean);
                }
            }
        }
        (None, true, [profiles]) => {
            let mut request = args.request(profiles)?;
            request.limit = args.limit.for_format(&args.format);
            let all = store.ask(&request)?;
            args.format.print(&all, render::models::all_functions)?;
            return Ok(Outcome::Clean);
        }
        (None, false, [function, profiles]) => {
            let function = function.to_string_lossy();
            if let [_, other] = &args.x[..] {
                args.check_two_variables()?;
                let mut request = TwoNumberModelRequest::default();
                request.function = function.into_owned();
                request.other.clone_from(other);
                request.model = args.request(profiles)?;
                let found = store.ask(&request)?;
                args.format.print(&found, render::models::two_variables)?;
                return Ok(match found.model {
                    Some(_) => Outcome::Clean,
                    None => Outcome::TooLittleData,
                });
            }
            let mut request = FunctionModelRequest::default();
            request.function = function.into_owned();
            request.model = args.request(profiles)?;
            store.ask(&request)?
        }
        (None, true, _) => return Err(CliError::Names("only profiles, as in `--all v1`")),
        (None, false, _) => {
            return Err(CliError::Names("a function and profiles, as in `parse v1`"));
        }
    };
    match &args.output {
        Some(path) => {
            let curves = args.curve.fit()?.each().len();
            let svg = || render::models::svg(&one, log, curves);
            write_drawing(path, || render::models::html(&one, curves, log), svg)?;
        }
        None => args
            .format
            .print(&one, |one, style| render::models::text(one, style, log))?,
    }
    Ok(if one.function.models.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    })
}

impl ModelArgs {
    /// Returns an error if an option is given that only applies to one variable.
    fn check_two_variables(&self) -> Result<(), CliError> {
        let option = match (
            self.output.is_some(),
            self.log,
            self.bins.bins.is_some(),
            self.curve.accepts_two_variables(),
        ) {
            (true, ..) => "--output",
            (_, true, ..) => "--log",
            (_, _, true, _) => "--bins",
            (.., false) => "--kind",
            _ => return Ok(()),
        };
        Err(CliError::OfOneVariable(option))
    }

    /// Returns an error if an option is given that only applies to one group of points.
    fn check_several_groups(&self) -> Result<(), CliError> {
        match (&self.output, self.log) {
            (Some(_), _) => Err(CliError::OfOneGroup("--output")),
            (None, true) => Err(CliError::OfOneGroup("--log")),
            (None, false) => Ok(()),
        }
    }

    fn request(&self, profiles: &OsString) -> Result<ModelRequest, CliError> {
        let mut request = ModelRequest::default();
        request.named = profiles.into();
        request.filter = self.filter.filter();
        request.x = self.x.first().cloned().unwrap_or_default();
        request.cost = self.by;
        request.inlined = self.inlined.inlined;
        request.fit = self.curve.fit()?;
        request.bins = self.bins.bins;
        Ok(request)
    }
}
