//! Contexts of a function that explain its behaviour: its callers or callees.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 6.3 and algorithm 1. A
//! [`Branch`] starts at a function and grows by one caller or callee at a time. A [`StopCriterion`] discards
//! branches, and a [`BranchSelection`] ranks extensions. Both are traits that can be implemented for other rules.
//!
//! ```
//! use sto_query::internal::expand::{Branch, BranchSelection};
//!
//! /// Pursues the extensions that have most samples in the newest run.
//! struct Largest;
//!
//! impl BranchSelection for Largest {
//!     fn rank(&self, branch: &Branch) -> f64 {
//!         branch.last.last().copied().unwrap_or(0.0)
//!     }
//! }
//! ```
//!
//! See [the manual](crate::manual::expand).

mod branch;
mod expansion;
mod informed;
mod selections;

pub use expansion::ExpandedContext;

pub use branch::{Branch, Direction};
pub use expansion::{Expansion, Method, expansion};
pub use informed::InformedSelection;
pub use selections::{CorrelationSelection, GreedySelection, PositiveSelection};

use crate::history::{FunctionIx, History};
use branch::BranchGrower;
use serde::{Deserialize, Serialize};

/// Decides which branches are discarded.
pub trait StopCriterion {
    /// Returns `true` if a branch is to be discarded, including everything it would grow into.
    fn stops(&self, branch: &Branch) -> bool;
}

/// Ranks the extensions of a branch; the highest are pursued.
pub trait BranchSelection {
    /// Returns the rank of an extension among its siblings.
    fn rank(&self, branch: &Branch) -> f64;
}

/// Limits of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpandLimits {
    /// Maximum number of functions in a branch, without the first.
    pub max_depth: usize,
    /// Maximum number of extensions pursued for each branch.
    pub max_breadth: usize,
}

impl Default for ExpandLimits {
    fn default() -> Self {
        ExpandLimits {
            max_depth: 10,
            max_breadth: 3,
        }
    }
}

/// Expands a function in one direction. Branches are in preorder, siblings by descending rank, equal ones by
/// function.
///
/// The algorithm of the thesis only returns the longest branches, and nothing if all extensions of a branch are
/// discarded. This function returns every branch that is not discarded.
pub fn expand(
    history: &History,
    function: FunctionIx,
    direction: Direction,
    criterion: &dyn StopCriterion,
    selection: &dyn BranchSelection,
    reach: ExpandLimits,
) -> Vec<Branch> {
    let runs = BranchGrower::new(history, function, direction);
    let mut expanded = Vec::new();
    let mut open = vec![runs.start()];
    while let Some(branch) = open.pop() {
        if branch.depth() < reach.max_depth {
            let extensions = runs.extensions(&branch).into_iter();
            let kept = extensions.filter(|extension| !criterion.stops(extension));
            let mut ranked: Vec<(f64, Branch)> = kept
                .map(|extension| (selection.rank(&extension), extension))
                .collect();
            // The sort is stable, so equal ones stay in the order of their functions.
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            ranked.truncate(reach.max_breadth);
            open.extend(ranked.into_iter().rev().map(|(_, extension)| extension));
        }
        expanded.push(branch);
    }
    expanded
}
