//! Names of profiles and files.

use crate::select::LabelledRuns;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use sto_core::id::ProfileId;

/// Name of profiles, in most questions of one build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BuildRef {
    /// A [`Selector`](crate::select::Selector) of profiles in the store, or otherwise the path of a file. An existing
    /// path with a slash in it, or text that starts like a path, is always a file.
    Selector(String),
    /// A file, regardless of the contents of the store.
    File(PathBuf),
    /// Runs of one build in the store.
    Runs(Vec<ProfileId>),
    /// Runs of any number of builds in the store. Questions that only need their sum count just the selected part of
    /// each run's time, and allow several programs; others count whole runs of one program.
    Labelled(LabelledRuns),
}

impl Default for BuildRef {
    /// Returns a selector that denotes nothing.
    fn default() -> BuildRef {
        BuildRef::Selector(String::new())
    }
}

impl From<&str> for BuildRef {
    fn from(selector: &str) -> BuildRef {
        BuildRef::Selector(selector.to_owned())
    }
}

impl From<&OsStr> for BuildRef {
    /// Text that is not UTF-8 can only be a path.
    fn from(written: &OsStr) -> BuildRef {
        match written.to_str() {
            Some(text) => text.into(),
            None => BuildRef::File(written.into()),
        }
    }
}

impl From<&OsString> for BuildRef {
    fn from(written: &OsString) -> BuildRef {
        written.as_os_str().into()
    }
}

/// The name of a baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Baseline {
    /// Any name.
    Any(BuildRef),
    /// A build or tag of the candidate's executable, or otherwise a selector.
    OfCandidate(String),
}

/// Returns distinct names for two files: their base names, with as many parent folders as necessary.
pub fn distinct_names(a: &Path, b: &Path) -> (String, String) {
    let longest = a.components().count().max(b.components().count());
    (1..=longest)
        .map(|count| (last_components(a, count), last_components(b, count)))
        .find(|(a, b)| a != b)
        .unwrap_or_else(|| (last_components(a, 1), last_components(b, 1)))
}

pub(super) fn last_components(path: &Path, count: usize) -> String {
    let components: Vec<&OsStr> = path.components().map(|c| c.as_os_str()).collect();
    let kept = &components[components.len().saturating_sub(count)..];
    kept.iter()
        .collect::<PathBuf>()
        .to_string_lossy()
        .into_owned()
}
