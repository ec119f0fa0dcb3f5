//! `sto tag`: names builds.

use crate::runtime::{CliError, FormatArg, Machine, Outcome, StorePath};
use clap::Args;
use sto_query::questions::{TagRequest, tag};
use sto_query::render;

const EXAMPLES: &str = "\
Examples:
  sto tag                                    List all tags
  sto tag v1.4.0 last-good                   Let last-good refer to v1.4.0
  sto tag --force v1.5.0 last-good           Move it to v1.5.0
  sto tag --delete last-good                 Delete it

A tag, or EXE@TAG, can be used wherever a build can. Each executable has its own tags. The
runs of a tagged build are not pruned.";

/// Give a build a name that can be moved to another one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TagArgs {
    /// The build: `[EXE@]BUILD`, or another tag of it
    #[arg(requires = "name", conflicts_with = "delete")]
    build: Option<String>,

    /// The tag
    name: Option<String>,

    /// Move the tag if it refers to another build of the executable
    #[arg(long, short, requires = "build")]
    force: bool,

    /// Delete this tag: `[EXE@]TAG`
    #[arg(long, short, value_name = "TAG")]
    delete: Option<String>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &TagArgs, store_path: &StorePath) -> Result<Outcome, CliError> {
    let request = match (&args.build, &args.name, &args.delete) {
        (Some(build), Some(name), _) => TagRequest::Set {
            build: build.clone(),
            name: name.clone(),
            may_move: args.force,
        },
        (_, _, Some(name)) => TagRequest::Delete { name: name.clone() },
        _ => TagRequest::List,
    };
    let tags = tag(&store_path.open()?, &Machine::here(), &request)?;
    args.format.print(&tags, render::maintain::tag)?;
    Ok(Outcome::Clean)
}
