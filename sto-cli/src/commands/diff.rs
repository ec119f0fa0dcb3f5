//! `sto diff`: a differential flame graph.

use crate::drawing::DrawingArgs;
use crate::error::{CliError, Outcome};
use crate::select::{EVENT, SelectPairArgs};
use crate::sources::Sources;
use crate::store_path::StorePath;
use clap::Args;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto diff v1 v2 -o diff.svg
  sto diff v1 v2 --focus parse -o parse.svg

--focus takes a function's name as any command or finding shows it. If no function is called so, it
is the name of a template without its arguments, and else a part of names.";

/// Draw what changed between two builds: a differential flame graph
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    select: SelectPairArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(crate) fn run(args: &DiffArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let (baseline, candidate) = args.select.load(&Sources::new(store)?)?;
    let mut svg = Vec::new();
    let sides = ((&baseline, EVENT), (&candidate, EVENT));
    match args.drawing.focus(&[&baseline, &candidate])? {
        None => render::flame::diff_svg(sides.0, sides.1, &mut svg)?,
        Some(focus) => render::flame::focused_diff_svg(sides.0, sides.1, &focus, &mut svg)?,
    }
    args.drawing.write(&svg, &[&baseline, &candidate])?;
    Ok(Outcome::Clean)
}
