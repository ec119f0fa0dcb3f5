//! `sto timeline`: shows what a run did over time.

use crate::args::calls::CallArgs;
use crate::args::drawing::Drawn;
use crate::args::{InlinedArg, SelectArgs, WindowArgs};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath, WORDS, context};
use clap::Args;
use std::path::PathBuf;
use sto_core::id::ProfileId;
use sto_query::error::CallsError;
use sto_query::questions::{
    CallTimelineRequest, CallTraceRequest, Order, RowsBy, TimelineRequest, Timelines,
    TimelinesRequest, Window, ask,
};
use sto_query::render::calls::PartCommand;
use sto_query::results::Subject;
use sto_query::sources::{EVENT, Filter, Sources};
use sto_query::text::Command;
use sto_query::{QueryError, render};

const AFTER: &str = "\
Examples:
  sto timeline perf.data
  sto timeline v1 --by thread
  sto timeline v1 --from 2.5s --to 4s
  sto timeline v1 -o run.html
  sto timeline trace --call-duration 2ms -o calls.html
  sto timeline trace --from 2.5s --to 2.51s
  sto timeline v1 --total --metric event:cpu-clock --metric 'share = \"self:parse\" / \"event:cpu-clock\"'

A metric is a recorded metric, by its name, or self:FUNCTION, total:FUNCTION, thread:NAME, module:NAME,
label:KEY=VALUE or event:EVENT. NAME = EXPRESSION combines metrics by + - * / and parentheses; put a name in
\" if it has characters other than letters, digits and _.: . Counts and costs are per second.

For a trace of calls (uftrace, XRay, function_graph, Chrome), it shows what each thread called: long calls one by one,
and consecutive shorter ones summed up by stack. --call-duration and the options below it compress all calls again, and
--from and --to do so relative to the threads' time in that part: for a file, or a run that `sto ingest --keep-calls` stored.
The page of such a run zooms into the sums, down to single calls. For other runs, --from and --to show the stored
calls that overlap that part.

Times are known for a recording that is named as a file, and for runs that were ingested with --slices. If there are several
runs, the newest is shown.";

/// Number of digits of an id that identify a run.
const SHORT_ID: usize = 12;

/// Options that only apply to traces of calls.
const CALL_OPTIONS: [&str; 3] = ["call_duration", "call_gap", "total_time"];

/// Show what a run did over time
///
/// Draws a row for each function, thread, module or value of a label, darker where it cost more, and metrics as lines
/// above them. For a trace of calls, draws a row for each thread with its calls, unless one of these is requested.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Show a row for each of these: function, thread, module or label:KEY [default: function; threads for traces of
    /// calls]
    #[arg(long, value_name = "WHAT", conflicts_with_all = CALL_OPTIONS)]
    by: Option<RowsBy>,

    /// Show the total cost of functions or modules, with everything they call, instead of self cost
    #[arg(long, conflicts_with_all = CALL_OPTIONS)]
    total: bool,

    /// Also show this metric; may be given several times
    #[arg(long, value_name = "METRIC", conflicts_with_all = CALL_OPTIONS)]
    metric: Vec<String>,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    limit: LimitArg,

    /// Write a page for browsers to this file, in which parts of the time can be selected; `-` is standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,

    #[command(flatten)]
    calls: CallArgs,
}

pub(crate) fn run(args: &TimelineArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let sources = store.sources();
    let filter = args.window.within(args.select.filter());
    let of_costs = args.by.is_some()
        || args.total
        || args.inlined.inlined
        || !args.metric.is_empty()
        || matches!(filter.window, Some(Window::Phase(_)))
        || filter.event.is_some();
    if (!of_costs || args.calls.given().is_some()) && calls(args, &filter, (&sources, store))? {
        return Ok(Outcome::Clean);
    }
    let mut request = TimelineRequest::default();
    request.named = args.select.named();
    request.filter = filter;
    request.by = args.by.clone().unwrap_or_default();
    request.order = if args.total {
        Order::Total
    } else {
        Order::SelfCost
    };
    request.inlined = args.inlined.inlined;
    request.metrics.clone_from(&args.metric);
    request.limit = args.limit.for_format(&args.format);
    let Some(output) = &args.output else {
        let timeline = ask(&sources, &request, &context())?;
        args.format.print(&timeline, render::timeline::text)?;
        return Ok(Outcome::Clean);
    };
    request.limit = args.limit.for_format(&FormatArg::text());
    let mut found = ask(&sources, &TimelinesRequest(request), &context())?;
    let ranking = ranking_command(args, store, &found);
    let drawn = Drawn {
        drawing: render::timeline::html(&found, WORDS, &ranking),
        subjects: vec![found.timelines.swap_remove(0).subject],
        new_outliers: None,
    };
    drawn.write(Some(output), &args.format)?;
    Ok(Outcome::Clean)
}

/// Shows the calls of each thread; returns `false` if the run is no trace of calls.
fn calls(
    args: &TimelineArgs,
    filter: &Filter,
    (sources, store): (&Sources, &StorePath),
) -> Result<bool, CliError> {
    let mut request = CallTimelineRequest::default();
    request.named = args.select.named();
    request.filter = filter.clone();
    request.thresholds = args.calls.given();
    request.limit = args.limit.for_format(&args.format);
    if let Some(output) = &args.output {
        let part = |run: Option<ProfileId>| part_command(args, store, run);
        let run = ask(sources, &CallTraceRequest(request.clone()), &context());
        let run = match run {
            Err(error) if is_no_trace(&error, &request) => return Ok(false),
            run => run?,
        };
        let drawn = Drawn {
            drawing: render::calls::html(&run, WORDS, &part).map_err(QueryError::from)?,
            subjects: vec![Subject::new(&run.view, EVENT)],
            new_outliers: None,
        };
        drawn.write(Some(output), &args.format)?;
        return Ok(true);
    }
    let timeline = match ask(sources, &request, &context()) {
        Err(error) if is_no_trace(&error, &request) => return Ok(false),
        timeline => timeline?,
    };
    let all = request.limit.is_none();
    let text = |timeline: &_, style| render::calls::text(timeline, all, style);
    args.format.print(&timeline, text)?;
    Ok(true)
}

/// Whether a run has no calls, and no option requires them.
fn is_no_trace(error: &QueryError, request: &CallTimelineRequest) -> bool {
    let is_no_trace = matches!(error, QueryError::Calls(CallsError::NoCalls { .. }));
    is_no_trace && request.thresholds.is_none()
}

/// The command that ranks the metrics of what is shown, without the target.
fn ranking_command(args: &TimelineArgs, store: &StorePath, found: &Timelines) -> Command {
    let mut words = vec!["sto".to_owned(), "correlate".to_owned()];
    words.extend(store.option());
    words.push(args.select.selector().to_string_lossy().into_owned());
    let mut option = |name: &str, value: &str| words.push(format!("--{name}={value}"));
    let filter = args.select.filter();
    filter.event.iter().for_each(|event| option("event", event));
    for benchmark in &filter.benchmarks {
        option("benchmark", benchmark);
    }
    for formula in args.metric.iter().filter(|metric| metric.contains('=')) {
        option("metric", formula);
    }
    let timeline = &found.timelines[0];
    if !timeline.subject.windows.is_empty() {
        option("window", &format!("{}..{}", timeline.from, timeline.to));
    }
    if args.inlined.inlined {
        words.push("--inlined".to_owned());
    }
    Command { words }
}

/// The command that shows a part of the run's time. It names the run by its id, because another run may be the newest later.
fn part_command(args: &TimelineArgs, store: &StorePath, run: Option<ProfileId>) -> PartCommand {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let mut command = PartCommand {
        before: words(&["sto", "timeline"]),
        between: words(&["--to"]),
        after: words(&["-o", "part.html"]),
    };
    let named = match run {
        Some(run) => {
            command.before.extend(store.option());
            run.to_string()[..SHORT_ID].to_owned()
        }
        None => args.select.selector().to_string_lossy().into_owned(),
    };
    // A name that begins with `-` would be parsed as an option.
    if named.starts_with('-') {
        command.after.extend(["--".to_owned(), named]);
    } else {
        command.before.push(named);
    }
    command.before.push("--from".to_owned());
    command
}
