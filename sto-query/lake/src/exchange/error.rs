//! Why profiles cannot be sent or fetched.

use super::{LAYOUT, VERSION};
use crate::places::PlaceError;
use sto_model::printable;

/// Why profiles cannot be sent or fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The place cannot be reached, or refuses.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Nothing is at the place.
    #[error("{place}: there is nothing here; see how it is spelled, or push profiles there first")]
    Nothing {
        /// The place.
        place: String,
    },
    /// The place has files, and none that says what they are.
    #[error(
        "{place}: there are files here, but no manifest.json of `{LAYOUT}`, so they are not for profiles; name another folder"
    )]
    NoExchange {
        /// The place.
        place: String,
    },
    /// The place has something else under the manifest's name.
    #[error("{place}: its manifest.json is none of `{LAYOUT}`: {source}; name another folder")]
    NoManifest {
        /// The place.
        place: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The place has another layout, or another version of it.
    #[error(
        "{place}: it is `{} {version}`, and this sto knows `{LAYOUT} {VERSION}`; name another folder, or use the sto that made it",
        printable(layout)
    )]
    OtherVersion {
        /// The place.
        place: String,
        /// Its layout.
        layout: String,
        /// Its version.
        version: u64,
    },
}
