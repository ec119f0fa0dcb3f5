//! `sto flame`: an interactive flame graph.

use crate::drawing::DrawingArgs;
use crate::error::{CliError, Outcome};
use crate::select::{EVENT, SelectArgs};
use crate::store_path::StorePath;
use clap::Args;
use sto_query::render;

/// Draw an interactive flame graph for the browser
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sto flame v1 -o v1.svg")]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(crate) fn run(args: &FlameArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let view = args.select.load(store)?;
    let mut svg = Vec::new();
    match args.drawing.focus(&[&view])? {
        None => render::flame::svg(&view, EVENT, &mut svg)?,
        Some(focus) => render::flame::focused_svg((&view, EVENT), &focus, &mut svg)?,
    }
    args.drawing.write(&svg, &[&view])?;
    Ok(Outcome::Clean)
}
