//! `sto top`: the functions that cost most.

use crate::args::inlined::InlinedArg;
use crate::args::select::SelectArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::{FormatArg, LimitArg};
use crate::runtime::store_path::StorePath;
use clap::{Args, ValueEnum};
use sto_query::render;
use sto_query::sources::EVENT;
use sto_query::tree::Order;

/// Show which functions cost most
///
/// Self is what a function costs alone, total what it costs with all that it calls. A total counts
/// a sample once, however often the function stands on its stack. Code that the compiler inlined
/// counts for the function that it was compiled into, as in perf report; `--inlined` shows inlined
/// functions of their own.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    select: SelectArgs,

    /// Order by this cost
    #[arg(long, value_enum, default_value = "self")]
    by: By,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    #[value(name = "self")]
    SelfCost,
    Total,
}

pub(crate) fn run(args: &TopArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let select = &args.select;
    let view = store.sources().view(&select.named(), &select.filter())?;
    let order = match args.by {
        By::SelfCost => Order::SelfCost,
        By::Total => Order::Total,
    };
    let view = args.inlined.of(view);
    let report = sto_query::tree::top(&view, EVENT, order, args.limit.of(&args.format));
    args.format.print(&report, render::top::text)?;
    Ok(Outcome::Clean)
}
