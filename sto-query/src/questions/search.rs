//! Search of names.

use crate::QueryError;
use crate::search::{FoundKind, SearchOptions, SearchResults, search as find_names};
use crate::sources::Sources;
use serde::{Deserialize, Serialize};

/// Request for names in a store that contain a text: of programs, builds, benchmarks, labels, functions, modules and
/// source files. Nothing is found for an empty text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchRequest {
    /// The text. Each of its words must be in a name, regardless of case.
    pub text: String,
    /// Only names of these kinds; all kinds if empty.
    pub kinds: Vec<FoundKind>,
    /// Only names in this program.
    pub executable: Option<String>,
    /// Maximum number of names, by default 20.
    pub limit: usize,
}

impl Default for SearchRequest {
    fn default() -> SearchRequest {
        SearchRequest {
            text: String::new(),
            kinds: Vec::new(),
            executable: None,
            limit: 20,
        }
    }
}

/// Finds names that contain a text.
pub(super) fn search(
    sources: &Sources,
    request: &SearchRequest,
) -> Result<SearchResults, QueryError> {
    let store = sources.store()?;
    let mut builds = store.builds()?;
    if let Some(executable) = &request.executable {
        builds.retain(|build| build.build.executable == *executable);
    }
    let options = SearchOptions {
        text: &request.text,
        kinds: &request.kinds,
        limit: request.limit,
    };
    find_names(store, &builds, &options, &sources.context().cancel)
}
