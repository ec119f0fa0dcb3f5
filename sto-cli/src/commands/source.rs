//! `sto source`: shows a function's source with the cost of each line.

use crate::args::SelectArgs;
use crate::runtime::{CliError, FormatArg, Outcome, StorePath};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::SourceRequest;
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto source parse_request v1
  sto source 'shop::Cart::add' v2 --source-dir ~/shop
  sto source memchr v2 --source-dir ~/.cargo/registry/src

FUNCTION is a name as any command shows it, or a unique part of one. Line numbers differ \
between builds, so one build is shown at a time; `sto diff --focus FUNCTION` compares two.

Source files are searched below --source-dir, by the end of their paths, and nothing else is read. By \
default that is the git work tree of the working directory, otherwise the working directory.

Exit status: 0 success, 2 wrong usage or failure, 3 the lines of the function are not known.";

/// Show a function's source with what each line cost
///
/// Self is the function's cost at a line by itself; total includes the functions that the line calls and code that was
/// inlined there. Only lines with cost are shown, and a few lines around them.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct SourceArgs {
    /// Show this function: its name, or part of it
    function: String,

    #[command(flatten)]
    select: SelectArgs,

    /// Look for source files below this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    source_dir: Vec<PathBuf>,

    /// Show this many lines around each line with cost
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 2)]
    context: u32,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &SourceArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = SourceRequest::default();
    request.function.clone_from(&args.function);
    request.named = args.select.named();
    request.filter = args.select.filter();
    request.folders.clone_from(&args.source_dir);
    request.context = args.context;
    let found = store.ask(&request)?;
    args.format.print(&found, render::source::text)?;
    Ok(if found.files.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    })
}
