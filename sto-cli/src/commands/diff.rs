//! `sto diff`: a differential flame graph.

use crate::drawing::DrawingArgs;
use crate::error::{CliError, Outcome};
use crate::select::{EVENT, SelectPairArgs};
use crate::store_path::StorePath;
use clap::Args;
use sto_query::render;

/// Draw what changed between two builds: a differential flame graph
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sto diff v1 v2 -o diff.svg")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    select: SelectPairArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(crate) fn run(args: &DiffArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let (baseline, candidate) = args.select.load(store)?;
    let mut svg = Vec::new();
    render::flame::diff_svg((&baseline, EVENT), (&candidate, EVENT), &mut svg)?;
    args.drawing.write(&svg, &[&baseline, &candidate])?;
    Ok(Outcome::Clean)
}
