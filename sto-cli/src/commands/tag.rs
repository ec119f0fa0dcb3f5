//! `sto tag`: names for builds.

use crate::runtime::error::{CliError, Outcome};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use sto_core::store::{Store, StoredBuild, Tag, Tagged};
use sto_query::maintain::TagList;
use sto_query::render;
use sto_query::select::{Selector, select_from};

const EXAMPLES: &str = "\
Examples:
  sto tag                                    List all tags
  sto tag v1.4.0 last-good                   Let last-good stand for v1.4.0
  sto tag --force v1.5.0 last-good           Move it to v1.5.0
  sto tag --delete last-good                 Take it away

A tag, or EXE@TAG, can be written wherever a build can. Each executable has tags of its own. The
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

    /// Move the tag if it stands for another build of the executable
    #[arg(long, short, requires = "build")]
    force: bool,

    /// Take this tag away: `[EXE@]TAG`
    #[arg(long, short, value_name = "TAG")]
    delete: Option<String>,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &TagArgs, place: &StorePath) -> Result<Outcome, CliError> {
    let store = Store::open(&place.folder)?;
    let report = match (&args.build, &args.name, &args.delete) {
        (Some(build), Some(name), _) => set(place, &store, build, name, args.force)?,
        (_, _, Some(name)) => TagList::deleted(store.untag_chosen(|builds| meant(builds, name))??),
        _ => TagList::listed(&store.builds()?),
    };
    args.format.print(&report, render::tag::text)?;
    Ok(Outcome::Clean)
}

fn set(
    place: &StorePath,
    store: &Store,
    text: &str,
    name: &str,
    force: bool,
) -> Result<TagList, CliError> {
    let selector = place.sources().resolved(text.parse()?)?;
    let choose = |builds: &[StoredBuild]| chosen(builds, (text, &selector), name);
    match store.tag_chosen(choose, force)?? {
        (tag, Tagged::Taken(version)) => Err(CliError::TakenTag {
            build: format!("{}@{version}", tag.executable),
            name: tag.name,
        }),
        (tag, tagged) => Ok(TagList::set(tag, &tagged)),
    }
}

/// The tag of this name for the build that is selected.
fn chosen(
    builds: &[StoredBuild],
    (text, selector): (&str, &Selector),
    name: &str,
) -> Result<Tag, CliError> {
    let selection = select_from(builds, selector)?;
    let id = selection.build.id();
    let stored = builds.iter().find(|stored| stored.id == id);
    if stored.is_none_or(|stored| stored.profiles.len() > selection.profiles.len()) {
        return Err(CliError::TagOfProfile {
            selector: text.to_owned(),
            build: format!("{}@{}", selection.build.executable, selection.build.version),
        });
    }
    let tag = Tag {
        executable: selection.build.executable,
        name: name.to_owned(),
        version: selection.build.version,
    };
    let is_hidden = |stored: &StoredBuild| {
        stored.build.executable == tag.executable && stored.build.version == tag.name
    };
    if builds.iter().any(is_hidden) {
        return Err(CliError::HiddenTag {
            build: format!("{}@{name}", tag.executable),
        });
    }
    Ok(tag)
}

/// The tag that is called so.
fn meant(builds: &[StoredBuild], text: &str) -> Result<Tag, CliError> {
    let is_meant =
        |tag: &Tag| tag.name == text || format!("{}@{}", tag.executable, tag.name) == text;
    let tags = builds.iter().flat_map(StoredBuild::tags);
    let mut meant: Vec<Tag> = tags.filter(is_meant).collect();
    match meant.pop() {
        None => Err(CliError::NoTag {
            name: text.to_owned(),
        }),
        Some(tag) if meant.is_empty() => Ok(tag),
        Some(tag) => Err(CliError::SeveralTags {
            name: text.to_owned(),
            tags: meant
                .iter()
                .chain([&tag])
                .map(|tag| format!("{}@{}", tag.executable, tag.name))
                .collect(),
        }),
    }
}
