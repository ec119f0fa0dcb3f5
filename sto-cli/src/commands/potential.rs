//! `sto potential`: ranks functions by how much they could save.

use crate::args::{InlinedArg, MatchingArgs, SelectSeveralArgs, WindowArgs};
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath};
use clap::{Args, ValueEnum};
use sto_query::questions::{Degree, PotentialRequest};
use sto_query::render;

/// Show which functions could save most
///
/// The potential of a function is the cost of its stacks in itself and in the calls up to N levels
/// below it: what a run would save if all of that took no time. A recursion counts once, so that no
/// potential is over 100 %. Costs of several builds are added up. Inlined code counts for
/// the function that it was inlined into, as in `sto top`.
#[derive(Debug, Args)]
pub(crate) struct PotentialArgs {
    #[command(flatten)]
    select: SelectSeveralArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Include this many levels of calls below a function
    #[arg(long, value_name = "N", default_value_t = 3)]
    degree: u32,

    /// Rank functions by self cost, or by cost including these calls
    #[arg(long, value_enum, default_value = "subtree")]
    by: By,

    #[command(flatten)]
    inlined: InlinedArg,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    #[value(name = "self")]
    SelfCost,
    Subtree,
}

pub(crate) fn run(args: &PotentialArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = PotentialRequest::default();
    request.named = args.select.named();
    request.filter = args.window.within(args.select.filter());
    request.degree = match args.by {
        By::SelfCost => Degree(0),
        By::Subtree => Degree(args.degree),
    };
    request.inlined = args.inlined.inlined;
    request.matching = args.matching.options();
    request.limit = args.limit.for_format(&args.format);
    let potentials = store.ask(&request)?;
    args.format.print(&potentials, render::potential::text)?;
    Ok(Outcome::Clean)
}
