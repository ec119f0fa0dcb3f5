//! The runs of a store, one after another.

use super::{ProfileSummary, profile_report};
use crate::answer::Answer;
use serde::{Deserialize, Serialize};
use sto_core::store::{StoredBuild, StoredProfile};

/// The runs of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunList {
    /// The runs, newest recording first; those that do not say when come last.
    pub runs: Vec<ListedRun>,
    /// Number of runs that a limit left out.
    pub more: usize,
}

impl Answer for RunList {
    const SCHEMA: &'static str = "sto.runs/1";
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListedRun {
    /// The program.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// Its profile.
    #[serde(flatten)]
    pub profile: ProfileSummary,
}

pub(crate) fn listed_run(build: &StoredBuild, stored: &StoredProfile) -> ListedRun {
    ListedRun {
        executable: build.build.executable.clone(),
        build: build.build.version.clone(),
        profile: profile_report(stored.id, &stored.profile),
    }
}
