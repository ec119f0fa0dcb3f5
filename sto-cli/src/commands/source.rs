//! `sto source`: a function's source with the cost of each line.

use crate::args::select::SelectArgs;
use crate::runtime::error::{CliError, Outcome};
use crate::runtime::git::{revision_of, work_tree};
use crate::runtime::output::FormatArg;
use crate::runtime::store_path::StorePath;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use sto_core::units::UnixSeconds;
use sto_query::compare::Focus;
use sto_query::render;
use sto_query::source::{Found, SourceFile, find, function_lines};
use sto_query::sources::EVENT;
use sto_query::tree::Subject;
use sto_query::tree::View;

const AFTER: &str = "\
Examples:
  sto source parse_request v1
  sto source 'shop::Cart::add' v2 --source-dir ~/shop
  sto source memchr v2 --source-dir ~/.cargo/registry/src

FUNCTION is a name as any command shows it, or a part of it that one function alone has. Lines have other \
numbers in another build, so one build is shown at a time; `sto diff --focus FUNCTION` compares two.

Source files are looked for below --source-dir, by the end of their paths, and nothing else is read. By \
default that is the git work tree of the working directory, else the working directory.

Exit status: 0 success, 2 wrong usage or failure, 3 the lines of the function are not known.";

/// Show a function's source with what each line cost
///
/// Self is what the function cost at a line by itself, total is with what the line calls and what was
/// inlined there. Only lines with cost are shown, and a few around them.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct SourceArgs {
    /// Show this function: its name, or a part of it
    function: String,

    #[command(flatten)]
    select: SelectArgs,

    /// Look for source files below this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    source_dir: Vec<PathBuf>,

    /// Show so many lines around each line with cost
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 2)]
    context: u32,

    #[command(flatten)]
    format: FormatArg,
}

pub(crate) fn run(args: &SourceArgs, store: &StorePath) -> Result<Outcome, CliError> {
    let folders = folders(args)?;
    let select = &args.select;
    let sources = store.sources();
    let (view, lines) = sources.view_with_lines(&select.named(), &select.filter())?;
    drop(sources);
    let meant = Focus::new(&args.function, &[&view])?;
    let lines = function_lines(&view, EVENT, &lines, &meant).map_err(CliError::FunctionLines)?;
    let is_known = !lines.files.is_empty();
    let mut failure = None;
    let report = lines.report(Subject::of(&view, EVENT), args.context, |file| {
        match find(file, &folders) {
            Ok(Found::File(found)) => {
                let warnings = doubts(&found, &view);
                (Some(found), warnings)
            }
            Ok(Found::Several(paths)) => (None, vec![several(&paths)]),
            Ok(Found::Nothing) => (None, Vec::new()),
            Err((path, source)) => {
                failure.get_or_insert(CliError::ReadFile { path, source });
                (None, Vec::new())
            }
        }
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    args.format.print(&report, render::source::text)?;
    Ok(match is_known {
        true => Outcome::Clean,
        false => Outcome::TooLittleData,
    })
}

/// Where source files are looked for.
fn folders(args: &SourceArgs) -> Result<Vec<PathBuf>, CliError> {
    for folder in &args.source_dir {
        std::fs::read_dir(folder).map_err(|source| CliError::ReadFolder {
            path: folder.clone(),
            source,
        })?;
    }
    if !args.source_dir.is_empty() {
        return Ok(args.source_dir.clone());
    }
    let working = std::env::current_dir().ok();
    Ok(working
        .map(|working| work_tree(&working).unwrap_or(working))
        .into_iter()
        .collect())
}

fn several(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = (paths.iter().take(3))
        .map(|path| path.display().to_string())
        .collect();
    let more = match paths.len().saturating_sub(3) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} files may be meant: {}{more}; name the folder of one with --source-dir",
        paths.len(),
        shown.join(", ")
    )
}

/// What lets doubt that a file is the source that was built.
fn doubts(found: &SourceFile, view: &View) -> Vec<String> {
    let last = view.selection.profiles.last();
    let folder = found.path.parent().unwrap_or(Path::new("."));
    let built = last.and_then(|run| run.revision.as_deref());
    if let Some((built, here)) = built.zip(revision_of(folder)) {
        if !is_same_commit(built, &here) {
            return vec![format!(
                "the work tree is at {here}, and the build is of {built}: lines may be others"
            )];
        }
        if !here.ends_with("-dirty") {
            return Vec::new();
        }
    }
    let recorded = last.and_then(|run| run.profile.origin.recorded);
    let written = found.written.and_then(seconds);
    match recorded.zip(written) {
        Some((recorded, written)) if written > recorded => vec![format!(
            "the file was changed at {}, after the recording: lines may be others",
            written
        )],
        _ => Vec::new(),
    }
}

/// Whether `git describe` named the same commit, be it by the whole id or by the first digits of it.
fn is_same_commit(one: &str, other: &str) -> bool {
    let clean = |revision: &str| revision.trim_end_matches("-dirty").to_owned();
    let (one, other) = (clean(one), clean(other));
    let id = |revision: &str| match revision.rsplit_once("-g") {
        Some((_, id)) => id.to_owned(),
        None => revision.to_owned(),
    };
    let (id_of_one, id_of_other) = (id(&one), id(&other));
    let is_tag = |tag: &str, long: &str| long.split_once("-0-g").is_some_and(|(of, _)| of == tag);
    id_of_one.starts_with(&id_of_other)
        || id_of_other.starts_with(&id_of_one)
        || is_tag(&one, &other)
        || is_tag(&other, &one)
}

fn seconds(time: SystemTime) -> Option<UnixSeconds> {
    let since: Duration = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(UnixSeconds(since.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::is_same_commit;

    #[test]
    fn a_commit_is_the_same_by_its_tag_and_by_any_number_of_digits() {
        let long = "v1.2-0-g0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c";
        for same in ["v1.2", "v1.2-dirty", "0f1e2d3", "v1.1-7-g0f1e2d3c4b5a"] {
            assert!(is_same_commit(same, long), "{same}");
            assert!(is_same_commit(long, same), "{same}");
        }
        for other in ["v1.3", "v1.2-1-gabcdef0", "0f1e2d4"] {
            assert!(!is_same_commit(other, long), "{other}");
        }
    }
}
