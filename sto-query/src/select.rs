//! Which profiles a question is about.

use sto_core::model::Build;
use sto_core::store::{Store, StoreError, StoredProfile};

/// What a user wrote to name profiles: `[EXE@]BUILD`, or a profile's id or a prefix of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The executable, where it was named.
    pub executable: Option<String>,
    /// The build, or a profile's id.
    pub name: String,
}

/// Profiles of one build.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The build.
    pub build: Build,
    /// The chosen profiles: all of the build's, or one. Never empty.
    pub profiles: Vec<StoredProfile>,
}

/// Why a selector names nothing, or too much.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl std::str::FromStr for Selector {
    type Err = SelectError;

    fn from_str(text: &str) -> Result<Self, SelectError> {
        let _ = text;
        todo!()
    }
}

/// Finds the profiles that a selector names.
///
/// # Errors
/// Where there is no such build or profile (the error says which there are, and the closest), or
/// several.
pub fn select(store: &Store, selector: &Selector) -> Result<Selection, SelectError> {
    let _ = (store, selector);
    todo!()
}
