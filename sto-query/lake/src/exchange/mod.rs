//! Exchange of profiles between stores: each profile is a file at a place that all of them can access.
//!
//! See [the manual](crate::manual::exchange).

mod error;
mod layout;

pub use error::ExchangeError;
pub use layout::{Exchange, MANIFEST, PROFILES, manifest, path, profile_of, sealed, unpack};

/// The name of the layout.
pub const LAYOUT: &str = "sto-store";

/// The version of the layout.
pub const VERSION: u64 = 1;
