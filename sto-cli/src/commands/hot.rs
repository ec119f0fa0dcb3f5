//! `sto hot`: the lines of source that cost most, as editors read them.

use crate::args::{HotArgs, Percent, choice};
use crate::runtime::source_choices::chosen;
use crate::runtime::{CliError, FormatArg, LimitArg, Outcome, StorePath, output, ui};
use clap::Args;
use std::path::PathBuf;
use sto_query::questions::{HotSpotsRequest, Order, Prune, hot};
use sto_query::render;

const AFTER: &str = "\
Examples:
  sto hot                                  The lines that cost most below the working directory
  sto hot src/parse.c -n 5                 Those of a file
  sto hot --build v1.2 --by total          Those of another build, callers first
  vim -q <(sto hot)                        Walk through them in Vim, with :cnext

In Vim, `:cexpr system('sto hot')` fills the quickfix list; in Emacs, `M-x compile RET sto hot` makes each line a link. \
Other tools that read what grep or a compiler prints read this.

Lines are those of the files as they are: costs follow edits since the build's commit, and a line that was edited \
has none. Where it is not known what was built, functions are listed in place of lines.

Source files are those below PATH whose paths end as those of the profiles do. Where several may be meant, name one of \
them, or its folder; what `sto lsp` was told in an editor holds, too.

Exit status: 0 success, 2 wrong usage or failure, 3 nothing here has a cost.";

/// List the lines of source that cost most, as `FILE:LINE: 12.4 % self, 31 % total`
///
/// Self is what a line costs by itself, total is with what it calls and what was inlined there. The most expensive line
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
    request.limit = args.limit.of(&args.format);
    let spots = hot(&store.sources(), &request)?;
    if args.format.is_text() {
        // Without a pager: Emacs reads it on a terminal of its own.
        output::write_stdout(render::hot::spots(&spots, ui::style()).as_bytes())?;
        // What is no line of a file is no output of this command.
        for note in render::hot::spots_notes(&spots) {
            ui::say("note", &note);
        }
        for file in &spots.doubtful {
            ui::say("warning", &render::hot::doubtful(file));
        }
    } else {
        args.format.print(&spots, render::hot::spots)?;
    }
    Ok(match spots.spots.is_empty() {
        true => Outcome::TooLittleData,
        false => Outcome::Clean,
    })
}
