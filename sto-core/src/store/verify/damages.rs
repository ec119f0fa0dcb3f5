//! What is wrong with a store, and whom it concerns.

use crate::id::ProfileId;
use crate::store::codec::BuildRecord;
use crate::store::error::{Fault, StoreError};
use hashbrown::HashSet;

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Damage {
    /// Where: a table and a record or column in it, or the redb file.
    pub place: String,
    /// What is wrong there.
    pub what: String,
    /// Whose data it is.
    pub concerns: Concerns,
}

/// Whose data is damaged: what is lost, or cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Concerns {
    /// Every profile of the store.
    Everything,
    /// Every profile of the executable with this name.
    Executable(String),
    /// What is known of this build as a whole; its profiles have their own data.
    Build {
        /// Name of its executable.
        executable: String,
        /// Its version.
        version: String,
    },
    /// These profiles.
    Profiles(Vec<ProfileId>),
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
pub(super) struct Damages(Vec<Damage>);

impl Damages {
    pub(super) fn add(
        &mut self,
        place: impl Into<String>,
        what: impl Into<String>,
        concerns: Concerns,
    ) {
        self.0.push(Damage {
            place: place.into(),
            what: what.into(),
            concerns,
        });
    }

    /// Takes what something was worked out to be, or why it could not be.
    pub(super) fn keep<T>(&mut self, found: Result<T, Fault>, concerns: Concerns) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(Fault::Damaged { place, what }) => {
                self.add(place, what, concerns);
                None
            }
            Err(Fault::Redb(error)) => {
                self.add("the redb file", error.to_string(), concerns);
                None
            }
            Err(fault) => {
                self.add("the redb file", format!("{fault:?}"), concerns);
                None
            }
        }
    }

    /// Takes damage to the file as a whole; what else keeps it from being read is an error, unless
    /// damage explains that.
    pub(super) fn file(&mut self, error: StoreError) -> Result<(), StoreError> {
        match error {
            StoreError::Damaged { place, what, .. } => {
                self.add(place, what, Concerns::Everything);
                Ok(())
            }
            _ if !self.0.is_empty() => Ok(()),
            error => Err(error),
        }
    }

    pub(super) fn append(&mut self, mut more: Damages) {
        self.0.append(&mut more.0);
    }

    pub(super) fn all(&self) -> &[Damage] {
        &self.0
    }

    /// All damages, each once: what breaks a page is met by everyone who reads it.
    pub(super) fn finish(mut self) -> Vec<Damage> {
        let mut told = HashSet::new();
        self.0.retain(|damage| told.insert(damage.clone()));
        self.0
    }
}
