//! `sto flame`: an interactive flame graph.

use crate::args::drawing::DrawingArgs;
use crate::args::select::SelectArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::store_path::StorePath;
use clap::Args;
use sto_query::render;
use sto_query::sources::EVENT;

const AFTER: &str = "\
Examples:
  sto flame v1 -o v1.svg
  sto flame v1 --inverted --ignore main_loop -o leaves.svg
  sto flame perf.data --by thread -o threads.svg
  sto flame heap.pb.gz --by label:bytes -o sizes.svg

--focus and --ignore take a function's name as any command shows it, cut or not. If no function is
called so, it is the name of a template without its arguments, the end of a name, or any part of one.

Threads and labels of samples are known of a recording that is named as a file, and of profiles that were
ingested with --slices. Threads of several profiles are one where they have one name.";

/// Draw an interactive flame graph for the browser
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(crate) fn run(args: &FlameArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let (named, filter) = (args.select.named(), args.select.filter());
    let sources = store.sources();
    let view = match &args.drawing.by {
        None => sources.view(&named, &filter)?,
        Some(by) => sources.view_by(&named, &filter, by)?,
    };
    drop(sources);
    let options = args.drawing.options(&[&view])?;
    let mut svg = Vec::new();
    render::flame::svg((&view, EVENT), &options, &mut svg)?;
    args.drawing.write(&svg, &[&view])?;
    Ok(Outcome::Clean)
}
