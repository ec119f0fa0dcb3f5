//! `sto timeline`: what a run did over time.

use crate::args::{InlinedArg, SelectArgs, WindowArgs, drawing};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath, WORDS, output};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{TimelineRequest, timeline, timeline_page};
use sto_query::render;
use sto_query::timeline::RowsBy;
use sto_query::tree::Order;

const AFTER: &str = "\
Examples:
  sto timeline perf.data
  sto timeline v1 --by thread
  sto timeline v1 --from 2.5s --to 4s
  sto timeline v1 -o run.html
  sto timeline v1 --total --metric event:cpu-clock --metric 'share = \"self:parse\" / \"event:cpu-clock\"'

A metric is one that was recorded, by its name, or self:FUNCTION, total:FUNCTION, thread:NAME, module:NAME,
label:KEY=VALUE or event:EVENT. NAME = EXPRESSION makes one of others by + - * / and parentheses; a name with
other characters than letters, digits and _.: stands between \". Counts and costs are per second.

Time is known of a recording that is named as a file, and of runs that were ingested with --slices. Of several
runs the newest is shown.";

/// Show what a run did over time
///
/// A row for each function, thread, module or value of a label, darker where it cost more; metrics as lines
/// above them.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Show a row for each of these: function, thread, module or label:KEY
    #[arg(long, value_name = "WHAT", default_value = "function")]
    by: RowsBy,

    /// Show what functions or modules cost with all that they call, not by themselves
    #[arg(long)]
    total: bool,

    /// Show this metric, too; may be given several times
    #[arg(long, value_name = "METRIC")]
    metric: Vec<String>,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    limit: LimitArg,

    /// Write a page for browsers to this file, on which a part of the time can be looked at; `-` is standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &TimelineArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = TimelineRequest::default();
    request.named = args.select.named();
    request.filter = args.window.within(args.select.filter());
    request.by = args.by.clone();
    request.order = match args.total {
        true => Order::Total,
        false => Order::SelfCost,
    };
    request.inlined = args.inlined.inlined;
    request.metrics.clone_from(&args.metric);
    request.limit = args.limit.of(&args.format);
    let sources = store.sources();
    let Some(output) = &args.output else {
        let timeline = timeline(&sources, &request)?;
        args.format.print(&timeline, render::timeline::text)?;
        return Ok(Outcome::Clean);
    };
    request.limit = args.limit.of(&FormatArg::text());
    let drawn = timeline_page(&sources, &request, WORDS)?;
    match output::file(Some(output)) {
        None => output::write_stdout(drawn.drawing.as_bytes())?,
        Some(file) => drawing::write(drawn, file, &args.format)?,
    }
    Ok(Outcome::Clean)
}
