//! What became of an average.

use crate::average::Average;
use serde::Serialize;
use sto_core::store::Added;

/// An average that was stored; schema `sto.average/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AverageReport {
    /// `sto.average/1`.
    pub schema: &'static str,
    /// The program.
    pub executable: String,
    /// The build that it became.
    pub build: String,
    /// Id of its profile.
    pub profile: String,
    /// Number of profiles that it is the mean of.
    pub of: usize,
    /// Its samples, of all events.
    pub samples: u64,
    /// Number of its stacks.
    pub nodes: usize,
    /// Whether the same average was in the store before.
    pub already_stored: bool,
}

impl AverageReport {
    /// Of an average that went into the store.
    pub fn new(average: &Average, added: &Added) -> Self {
        let costs = average.interned.costs.iter().flatten();
        AverageReport {
            schema: "sto.average/1",
            executable: average.build.executable.clone(),
            build: average.build.version.clone(),
            profile: added.id().to_string(),
            of: average.of,
            samples: costs.map(|(_, cost)| cost.samples).sum(),
            nodes: average.interned.tree.len(),
            already_stored: !added.is_new(),
        }
    }
}
