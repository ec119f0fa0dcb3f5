//! Errors of sending and fetching profiles.

use super::{LAYOUT, VERSION};
use crate::places::{FailureReason, PlaceError};
use sto_model::printable;

/// Error of sending or fetching profiles.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The place cannot be accessed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The place is empty.
    #[error("{place}: the place is empty; check the spelling, or push profiles there first")]
    Nothing {
        /// The place.
        place: String,
    },
    /// The place has files but no manifest.
    #[error(
        "{place}: there are files here, but no manifest.json of `{LAYOUT}`, so they are not profiles of sto; name another folder"
    )]
    NoExchange {
        /// The place.
        place: String,
    },
    /// The manifest is not valid.
    #[error("{place}: its manifest.json is not one of `{LAYOUT}`: {source}; name another folder")]
    NoManifest {
        /// The place.
        place: String,
        /// Error of parsing it.
        source: serde_json::Error,
    },
    /// The place has another layout or version.
    #[error(
        "{place}: it is `{} {version}`, and this sto knows `{LAYOUT} {VERSION}`; name another folder, or use the sto that made it",
        printable(layout)
    )]
    OtherVersion {
        /// The place.
        place: String,
        /// Name of its layout.
        layout: String,
        /// Version of its layout.
        version: u64,
    },
}

impl ExchangeError {
    /// Whether only the file of one profile is affected.
    pub fn is_about_one_file(&self) -> bool {
        matches!(
            self,
            ExchangeError::Place(PlaceError::Refused {
                why: FailureReason::NotAFile | FailureReason::Conflict,
                ..
            })
        )
    }
}
