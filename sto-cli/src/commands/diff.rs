//! `sto diff`: a differential flame graph.

use crate::args::drawing::DrawingArgs;
use crate::args::matching::MatchingArgs;
use crate::args::select::SelectPairArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::store_path::StorePath;
use clap::{Args, ValueEnum};
use sto_query::render;
use sto_query::render::flame::{FlameOptions, Widths};
use sto_query::sources::EVENT;

const AFTER: &str = "\
Examples:
  sto diff v1 v2 -o diff.svg
  sto diff v1 v2 --focus parse -o parse.svg
  sto diff v1 v2 --elided -o gone.svg

A stack that one side does not have has no width there: --widths and --elided show the others.

--focus and --ignore take a function's name as any command shows it, cut or not. If no function is
called so, it is the name of a template without its arguments, the end of a name, or any part of one.";

/// Draw what changed between two builds: a differential flame graph
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    select: SelectPairArgs,

    /// Make frames as wide as their share on this side
    #[arg(long, value_enum, value_name = "SIDE", default_value = "candidate")]
    widths: WidthsOf,

    /// Draw only what is gone: stacks of the baseline that the candidate does not have
    #[arg(long, conflicts_with = "widths")]
    elided: bool,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WidthsOf {
    Baseline,
    Candidate,
}

pub(crate) fn run(args: &DiffArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let ([a, b], filter) = (args.select.named(), args.select.filter());
    let sources = store.sources();
    let [baseline, candidate] = match &args.drawing.by {
        None => sources.pair([&a, &b], &filter)?,
        Some(by) => sources.pair_by([&a, &b], &filter, by)?,
    };
    drop(sources);
    let options = FlameOptions {
        matching: args.matching.options(),
        ..args.drawing.options(&[&baseline, &candidate])?
    };
    let widths = match (args.elided, args.widths) {
        (true, _) => Widths::Elided,
        (false, WidthsOf::Baseline) => Widths::Baseline,
        (false, WidthsOf::Candidate) => Widths::Candidate,
    };
    let sides = ((&baseline, EVENT), (&candidate, EVENT));
    let mut svg = Vec::new();
    render::flame::diff_svg(sides.0, sides.1, widths, &options, &mut svg)?;
    args.drawing.write(&svg, &[&baseline, &candidate])?;
    Ok(Outcome::Clean)
}
