//! `sto flame`: draws an interactive flame graph.

use crate::args::drawing::draw_flame;
use crate::args::{DrawingArgs, SelectArgs, WindowArgs};
use crate::runtime::{CliError, Outcome, StorePath};
use clap::Args;
use sto_query::questions::FlameRequest;

const AFTER: &str = "\
Examples:
  sto flame v1 -o v1.svg
  sto flame v1 --inverted --ignore main_loop -o leaves.svg
  sto flame perf.data --by thread -o threads.svg
  sto flame heap.pb.gz --by label:bytes -o sizes.svg

--focus and --ignore accept a function's name as any command shows it, shortened or not. If there is no such
function, the name may be a template without its arguments, the end of a name, or any part of one.

Threads and labels of samples are known for a recording that is named as a file, and for profiles that were
ingested with --slices. Threads with the same name are merged if there are several profiles.";

/// Draw an interactive flame graph for the browser
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    window: WindowArgs,

    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(crate) fn run(args: &FlameArgs, store: &StorePath) -> Result<Outcome, CliError> {
    args.drawing.check()?;
    let mut request = FlameRequest::default();
    request.named = args.select.named();
    request.filter = args.window.within(args.select.filter());
    request.stacks = args.drawing.stacks();
    let drawn = draw_flame(store.ask(&request)?, args.drawing.options())?;
    args.drawing.write(drawn)?;
    Ok(Outcome::Clean)
}
