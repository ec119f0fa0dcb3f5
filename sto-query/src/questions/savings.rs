//! Savings over all programs.

use crate::QueryError;
use crate::listing::Listing;
use crate::savings::{Savings, SavingsOptions, savings as find_savings};
use crate::sources::Sources;
use serde::{Deserialize, Serialize};

/// Request for the functions or libraries that keep the most cores busy in the runs of a store.
///
/// It is an error if no run matches, or if the saved part is not above 0 and at most 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SavingsRequest {
    /// The runs. Their offset and limit don't apply.
    pub runs: Listing,
    /// The listed code, and its saved part.
    pub options: SavingsOptions,
}

/// Lists the functions or libraries that keep the most cores busy.
pub(super) fn savings(sources: &Sources, request: &SavingsRequest) -> Result<Savings, QueryError> {
    let store = sources.store()?;
    let builds = request.runs.chosen(store.builds()?)?;
    let cancel = &sources.context().cancel;
    find_savings(store, &builds, &request.options, cancel)
}
