//! `sto expand`: shows the contexts of a function that explain its behaviour.

use crate::args::{HistoryArgs, JudgedArgs, choice};
use crate::runtime::{CliError, FormatArg, Outcome, StorePath, WINDOW_EXIT_STATUS};
use clap::Args;
use sto_query::questions::{Direction, ExpandRequest, Method};
use sto_query::render;

/// Show in which contexts a function behaves differently than before
///
/// Follows a function to its callers, or to its callees, step by step. `candidate` and `score` describe
/// the function in the context of the line: called through the callers up to that line, or calling the
/// callee in that line; `diff` describes the line's own function. Contexts in which the function has fewer
/// samples than expected are left out. If several modules have a function of that name, the one
/// with most samples in the judged run is used.
#[derive(Debug, Args)]
#[command(after_help = WINDOW_EXIT_STATUS)]
pub(crate) struct ExpandArgs {
    /// Expand this function: its name, a part of it, or `re:` and a regular expression
    function: String,

    /// Follow callers, or callees
    #[arg(long, default_value = "callers", value_parser = choice::<Direction>(["callers", "callees"]))]
    direction: Direction,

    /// Rank contexts by score; or also by recent changes of the code in git, changes of compile mode and new
    /// depths; or by correlation with a metric
    #[arg(long, default_value = "greedy")]
    #[arg(value_parser = choice::<Method>(["greedy", "informed", "correlation"]))]
    method: Method,

    /// With --method correlation: the name given to `sto ingest --metric`
    #[arg(long, value_name = "NAME", required_if_eq("method", "correlation"))]
    metric: Option<String>,

    #[command(flatten)]
    history: HistoryArgs,

    #[command(flatten)]
    judged: JudgedArgs,

    /// Follow at most this many levels of calls
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_depth: usize,

    /// Follow at most this many contexts from each context
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_breadth: usize,

    /// Show every context of a chain, not only where it begins, branches or changes
    #[arg(long)]
    unfold: bool,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &ExpandArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let mut request = ExpandRequest::default();
    request.function.clone_from(&args.function);
    request.history = args.history.query()?;
    request.judged = args.judged.request();
    request.direction = args.direction;
    request.method = args.method;
    request.metric = args.metric.clone().unwrap_or_default();
    request.reach.max_depth = args.max_depth;
    request.reach.max_breadth = args.max_breadth;
    request.unfold = args.unfold;
    let expansion = store_path.ask(&request)?;
    args.format.print(&expansion, render::expansion::text)?;
    Ok(match request.method {
        Method::Greedy | Method::Informed => Outcome::from_window(expansion.window),
        Method::Correlation => Outcome::Clean,
    })
}
