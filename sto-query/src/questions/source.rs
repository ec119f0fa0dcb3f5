//! The source of functions.

use crate::QueryError;
use crate::compare::Focus;
use crate::select::Described;
use crate::source::{
    FunctionSource, Lookup, SourceError, SourceFile, SourceTree, find, function_lines,
};
use crate::sources::{BuildRef, EVENT, Environment, Filter, Sources};
use crate::text::list_names;
use crate::tree::{Subject, View};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use sto_core::units::UnixSeconds;

/// Maximum number of source files to name in a warning.
const MAX_NAMED: usize = 3;

/// Request for a function's source with the cost of each line.
///
/// It is an error if not exactly one function has the name, or a named folder or a source file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SourceRequest {
    /// The function: its name, or a part of it that is unique.
    pub function: String,
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// Folders in which source files are searched, in this order; if empty, the default folders of
    /// the environment.
    pub folders: Vec<PathBuf>,
    /// Number of lines to show before and after each line with a cost.
    pub context: u32,
}

impl Default for SourceRequest {
    fn default() -> Self {
        SourceRequest {
            function: String::new(),
            named: BuildRef::default(),
            filter: Filter::default(),
            folders: Vec::new(),
            context: 2,
        }
    }
}

/// Returns a function's source with the cost of each line. There are no files if the lines of the
/// function are unknown.
pub(super) fn source(
    sources: &Sources,
    request: &SourceRequest,
) -> Result<FunctionSource, QueryError> {
    let environment = sources.environment();
    for folder in &request.folders {
        sources.check_reads_files(folder)?;
        fs::read_dir(folder).map_err(|source| SourceError::Folder {
            path: folder.clone(),
            source,
        })?;
    }
    let folders: Vec<PathBuf> = match &request.folders[..] {
        [] => environment.source_folder().into_iter().collect(),
        named => named.to_vec(),
    };
    let (view, lines) = sources.view_with_lines(&request.named, &request.filter)?;
    let meant = Focus::new(&request.function, &[&view])?;
    let lines = function_lines(&view, EVENT, &lines, &meant).map_err(SourceError::Function)?;
    let names = || lines.files.iter().map(|(file, _)| file.as_str());
    let folders = folders
        .iter()
        .map(|folder| SourceTree::scan(folder, names()));
    let folders: Vec<SourceTree> = folders.collect();
    let text_of = |file: &str| {
        let found = find(file, &folders);
        let found = found.map_err(|(path, source)| SourceError::File { path, source })?;
        Ok(match found {
            Lookup::File(found) => {
                let doubt = doubt(&found, &view, environment);
                (Some(found), Vec::from_iter(doubt))
            }
            Lookup::Several(paths) => (None, vec![several(&paths)]),
            Lookup::Nothing => (None, Vec::new()),
        })
    };
    Ok(lines.with_source(Subject::new(&view, EVENT), request.context, text_of)?)
}

fn several(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    let shown = list_names(&names, MAX_NAMED);
    let count = paths.len();
    format!("{count} files match: {shown}; name the folder of one")
}

/// Returns a reason to doubt that a file is the source that was built.
fn doubt(found: &SourceFile, view: &View, environment: &dyn Environment) -> Option<String> {
    let last = view.selection.profiles.last()?;
    let folder = found.path.parent().unwrap_or(Path::new("."));
    let here = environment.revision(folder);
    if let Some((built, here)) = last.revision.as_ref().zip(here) {
        let described = Described::parse(&here);
        if !described.is_same_commit(&Described::parse(built)) {
            return Some(format!(
                "the work tree is at {here}, and the build is of {built}: lines may differ"
            ));
        }
        if !described.is_dirty {
            return None;
        }
    }
    let recorded = last.profile.origin.recorded?;
    let written = found.written?.duration_since(SystemTime::UNIX_EPOCH);
    let written = UnixSeconds(written.ok()?.as_secs());
    (written > recorded).then(|| {
        format!("the file was changed at {written}, after the recording: lines may differ")
    })
}
