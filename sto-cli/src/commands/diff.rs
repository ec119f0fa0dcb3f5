//! `sto diff`: draws a differential flame graph.

use crate::args::drawing::Drawn;
use crate::args::{DrawingArgs, MatchingArgs, SelectPairArgs, choice};
use crate::runtime::{CliError, Outcome, StorePath};
use clap::Args;
use sto_query::QueryError;
use sto_query::questions::DiffRequest;
use sto_query::render::flame::{FlameOptions, Widths, diff_svg};
use sto_query::results::Subject;
use sto_query::sources::EVENT;

const AFTER: &str = "\
Examples:
  sto diff v1 v2 -o diff.svg
  sto diff v1 v2 --focus parse -o parse.svg
  sto diff v1 v2 --elided -o gone.svg
  sto diff v1 --window 5s..10s --against 0s..5s -o later.svg

A stack that one side does not have has no width on that side: use --widths and --elided to see it.

--focus and --ignore accept a function's name as any command shows it, shortened or not. If there is no such
function, the name may be a template without its arguments, the end of a name, or any part of one.";

/// Draw what changed between two builds: a differential flame graph
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    select: SelectPairArgs,

    /// Set the width of frames by their share on this side
    #[arg(long, value_name = "SIDE", default_value = "candidate")]
    #[arg(value_parser = choice::<Widths>(["baseline", "candidate"]))]
    widths: Widths,

    /// Draw only stacks of the baseline that the candidate does not have
    #[arg(long, conflicts_with = "widths")]
    elided: bool,

    #[command(flatten)]
    matching: MatchingArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(crate) fn run(args: &DiffArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let mut request = DiffRequest::default();
    [request.baseline, request.candidate] = args.select.named();
    request.filter = args.select.filter();
    request.against = args.select.against();
    request.stacks = args.drawing.stacks();
    request.matching = args.matching.options();
    let stacks = store.ask(&request)?;
    let widths = if args.elided {
        Widths::Elided
    } else {
        args.widths
    };
    let options = FlameOptions {
        focus: stacks.focus,
        ignore: stacks.ignore,
        matching: request.matching,
        growth: stacks.comparison.normalised_growth(),
        note: stacks.new_outliers.clone().unwrap_or_default(),
        ..args.drawing.options()
    };
    let [baseline, candidate] = stacks.views.each_ref().map(|view| (view, EVENT));
    let drawing = diff_svg(baseline, candidate, widths, &options).map_err(QueryError::from)?;
    args.drawing.write(Drawn {
        drawing,
        subjects: stacks
            .views
            .iter()
            .map(|view| Subject::new(view, EVENT))
            .collect(),
        new_outliers: stacks.new_outliers,
    })?;
    Ok(Outcome::Clean)
}
