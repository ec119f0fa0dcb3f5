//! What is wrong with a store, and whom it concerns.

use crate::codec::BuildRecord;
use crate::error::{InternalError, StoreError};
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use sto_model::id::ProfileId;
use sto_model::memory::TooMuch;

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Corruption {
    /// Where: a table and a record or column in it, or the redb file.
    #[serde(rename = "place")]
    pub location: String,
    /// What is wrong there.
    pub what: String,
    /// Whose data it is.
    #[serde(flatten)]
    pub concerns: Concerns,
}

/// Whose data is damaged: what is lost, or cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "concerns", rename_all = "lowercase")]
pub enum Concerns {
    /// Every profile of the store.
    Everything,
    /// Every profile of an executable.
    Executable {
        /// Its name.
        executable: String,
    },
    /// What is known of this build as a whole; its profiles have their own data.
    Build {
        /// Name of its executable.
        executable: String,
        /// Its version.
        version: String,
    },
    /// Some profiles.
    Profiles {
        /// Their ids.
        profiles: Vec<ProfileId>,
    },
    /// No profile that is there: nobody reads what is damaged, or what is missing left no trace.
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

/// What was found so far.
#[derive(Default)]
pub(super) struct Corruptions {
    found: Vec<Corruption>,
    /// Something takes too much memory to be read: it may be sound.
    too_much: Option<TooMuch>,
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

    /// Takes what something was worked out to be, or why it could not be.
    pub(super) fn keep<T>(
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

    /// Takes damage to the file as a whole; what else keeps it from being read is an error, unless
    /// damage explains that.
    pub(super) fn file(&mut self, error: StoreError) -> Result<(), StoreError> {
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

    /// All damages, each once: what breaks a page is met by everyone who reads it. An error where
    /// something could not be looked at.
    pub(super) fn finish(mut self) -> Result<Vec<Corruption>, TooMuch> {
        let mut known = HashSet::new();
        self.found.retain(|damage| known.insert(damage.clone()));
        self.too_much.map_or(Ok(self.found), Err)
    }
}
