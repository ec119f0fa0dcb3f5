//! `sto hot`: lists the most expensive lines of source code, in a format for editors.

use crate::args::{HotArgs, Percent, choice};
use crate::runtime::source_choices::chosen;
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath, output, ui};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{HotSpotsRequest, Order, Prune};
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto hot                                  The most expensive lines below the working directory
  sto hot src/parse.c -n 5                 The most expensive lines of a file
  sto hot --build v1.2 --by total          For another build, with callers first
  vim -q <(sto hot)                        Walk through them in Vim, with :cnext

In Vim, `:cexpr system('sto hot')` fills the quickfix list; in Emacs, `M-x compile RET sto hot` makes each line a link. \
Other tools that read the output of grep or a compiler work too.

Lines refer to the current files: costs follow edits since the build's commit, and an edited line \
has no cost. If the build's commit is unknown, functions are listed instead of lines.

A source file below PATH is used if its path ends like one in the profiles. If several files match, name one of \
them, or its folder; choices made in an editor with `sto lsp` are used, too.

Exit status: 0 success, 2 wrong usage or failure, 3 nothing here has a cost.";

/// List the most expensive lines of source code, as `FILE:LINE: 12.4 % self, 31 % total`
///
/// Self is the cost of the line by itself; total includes the functions that it calls and code that was inlined there. The most expensive line
/// comes first.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct HotSpotsArgs {
    /// List lines of this file, or of files below this folder
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,

    #[command(flatten)]
    hot: HotArgs,

    /// Order by this cost
    #[arg(long, default_value = "self", value_parser = choice::<Order>(["self", "total"]))]
    by: Order,

    /// Leave out lines with less than this share of all samples in their total
    #[arg(long, value_name = "PERCENT", value_parser = Percent::part)]
    #[arg(default_value_t = Percent::from_share(Prune::default().min_share))]
    min_share: Percent,

    #[command(flatten)]
    limit: LimitArg,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &HotSpotsArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let mut request = HotSpotsRequest::default();
    request.of = args.hot.request();
    request.path.clone_from(&args.path);
    request.chosen = chosen(store);
    request.order = args.by;
    request.min_share = args.min_share.share();
    request.limit = args.limit.for_format(&args.format);
    let spots = store.ask(&request)?;
    if args.format.is_text() {
        // Without a pager: Emacs runs this in a terminal of its own.
        output::write_stdout(render::hot::spots(&spots, ui::style()).as_bytes())?;
        // Only lines of the form FILE:LINE go to standard output.
        for note in render::hot::spots_notes(&spots) {
            ui::print_message("note", &note);
        }
        for file in &spots.doubtful {
            ui::print_message("warning", &render::hot::ambiguous_file_note(file));
        }
    } else {
        args.format.print(&spots, render::hot::spots)?;
    }
    Ok(if spots.spots.is_empty() {
        Outcome::TooLittleData
    } else {
        Outcome::Clean
    })
}
