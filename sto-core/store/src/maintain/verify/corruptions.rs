//! Corruption of a store, and the data that it concerns.

use crate::codec::BuildRecord;
use crate::error::{InternalError, StoreError};
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use sto_model::id::ProfileId;
use sto_model::memory::MemoryLimitExceeded;

/// Corruption found in a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Corruption {
    /// The location: a table and a record or column in it, or the redb file.
    #[serde(rename = "place")]
    pub location: String,
    /// A description of the damage.
    pub what: String,
    /// The data that is lost or cannot be trusted.
    #[serde(flatten)]
    pub concerns: Concerns,
}

/// The data that corruption concerns: it is lost or cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "concerns", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Concerns {
    /// All profiles of the store.
    Everything,
    /// All profiles of an executable.
    Executable {
        /// Name of the executable.
        executable: String,
    },
    /// The record and the sums of a build; its profiles have their own data.
    Build {
        /// Name of the executable.
        executable: String,
        /// Version of the build.
        version: String,
    },
    /// Some profiles.
    Profiles {
        /// Their ids.
        profiles: Vec<ProfileId>,
    },
    /// No existing profile: the damaged data is not used, or the missing data left no trace.
    Nothing,
}

impl Concerns {
    pub(super) fn build(build: &BuildRecord) -> Self {
        Concerns::Build {
            executable: build.executable.clone(),
            version: build.version.clone(),
        }
    }
}

/// The corruption found so far.
#[derive(Default)]
pub(super) struct Corruptions {
    found: Vec<Corruption>,
    /// Set if data takes too much memory to be read. It may be undamaged.
    too_much: Option<MemoryLimitExceeded>,
}

impl Corruptions {
    pub(super) fn add(
        &mut self,
        location: impl ToString,
        what: impl Into<String>,
        concerns: Concerns,
    ) {
        self.found.push(Corruption {
            location: location.to_string(),
            what: what.into(),
            concerns,
        });
    }

    /// Returns the value, or records the error as corruption.
    pub(super) fn record_error<T>(
        &mut self,
        found: Result<T, InternalError>,
        concerns: Concerns,
    ) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(InternalError::Damaged { location, what }) => {
                self.add(location, what, concerns);
                None
            }
            Err(InternalError::Redb(error)) => {
                self.add("the redb file", error.to_string(), concerns);
                None
            }
            Err(InternalError::TooMuch(error)) => {
                self.too_much = Some(error);
                None
            }
            Err(error) => {
                self.add("the redb file", format!("{error:?}"), concerns);
                None
            }
        }
    }

    /// Records damage to the file as a whole. Returns other errors, unless damage that was already found
    /// explains them.
    pub(super) fn add_file_damage(&mut self, error: StoreError) -> Result<(), StoreError> {
        match error {
            StoreError::Damaged { location, what, .. } => {
                self.add(location, what, Concerns::Everything);
                Ok(())
            }
            _ if !self.found.is_empty() => Ok(()),
            error => Err(error),
        }
    }

    pub(super) fn append(&mut self, mut more: Corruptions) {
        self.found.append(&mut more.found);
        self.too_much = self.too_much.or(more.too_much);
    }

    pub(super) fn all(&self) -> &[Corruption] {
        &self.found
    }

    /// Returns the distinct findings (several readers may report the same broken page), or an error if some data
    /// could not be examined.
    pub(super) fn finish(mut self) -> Result<Vec<Corruption>, MemoryLimitExceeded> {
        let mut known = HashSet::new();
        self.found.retain(|damage| known.insert(damage.clone()));
        self.too_much.map_or(Ok(self.found), Err)
    }
}
