//! `sto top`: lists the functions that cost most.

use crate::args::{InlinedArg, SelectArgs, WindowArgs, choice};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::Args;
use sto_query::questions::{Order, TopRequest};
use sto_query::render;

/// Show which functions cost most
///
/// Self is the cost of a function by itself, total includes everything it calls. A total counts
/// a sample once, however often the function is on its stack. Inlined code
/// counts for the function that it was inlined into, as in perf report; `--inlined` shows inlined
/// functions separately.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Order by this cost
    #[arg(long, default_value = "self", value_parser = choice::<Order>(["self", "total"]))]
    by: Order,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &TopArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = TopRequest::default();
    request.named = args.select.named();
    request.filter = args.window.within(args.select.filter());
    request.order = args.by;
    request.inlined = args.inlined.inlined;
    request.limit = args.limit.for_format(&args.format);
    let top = store.ask(&request)?;
    args.format.print(&top, render::top::text)?;
    Ok(Outcome::Clean)
}
