//! The contexts of a function that explain its behaviour: who calls it, and what it calls.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 6.3 and
//! algorithm 1. A [`Branch`] starts at a function and grows by a caller, or a callee, at a time. A
//! [`StopCriterion`] discards branches, and a [`Selection`] says which extensions to pursue; both are
//! traits, for rules of one's own.
//!
//! ```
//! use sto_query::internal::expand::{Branch, Selection};
//!
//! /// Pursues the extensions that have most samples in the newest run.
//! struct Largest;
//!
//! impl Selection for Largest {
//!     fn rank(&self, branch: &Branch) -> f64 {
//!         branch.last.last().copied().unwrap_or(0.0)
//!     }
//! }
//! ```
//!
#![doc = include_str!("expand.md")]

mod branch;
mod expansion;
mod informed;
mod selections;

pub use branch::{Branch, Direction};
pub(crate) use expansion::ExpandedContext;
pub use expansion::{Expansion, Method, expansion};
pub use informed::Informed;
pub use selections::{Correlated, Greedy, Positive};

use crate::history::{FunctionIx, History};
use branch::Runs;
use serde::{Deserialize, Serialize};

/// Which branches are discarded.
pub trait StopCriterion {
    /// Whether a branch is of no interest; it and all that it would grow into are left out.
    fn stops(&self, branch: &Branch) -> bool;
}

/// Which extensions of a branch are pursued: those that rank highest.
pub trait Selection {
    /// The rank of an extension among its siblings.
    fn rank(&self, branch: &Branch) -> f64;
}

/// How far a function is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reach {
    /// Number of functions that a branch has beyond the first.
    pub max_depth: usize,
    /// Number of extensions of a branch that are pursued.
    pub max_breadth: usize,
}

impl Default for Reach {
    fn default() -> Self {
        Reach {
            max_depth: 10,
            max_breadth: 3,
        }
    }
}

/// Expands a function in one direction. Branches stand in preorder: each after the one that it extends,
/// its siblings in descending rank, equals by function.
///
/// The algorithm of the thesis returns the longest branches only, and nothing where the extensions of a
/// branch are all discarded; here each branch that is not discarded stands, so that one can be followed
/// from the function outwards.
pub fn expand(
    history: &History,
    function: FunctionIx,
    direction: Direction,
    criterion: &dyn StopCriterion,
    selection: &dyn Selection,
    reach: Reach,
) -> Vec<Branch> {
    let runs = Runs::of(history, function, direction);
    let mut expanded = Vec::new();
    let mut open = vec![runs.start()];
    while let Some(branch) = open.pop() {
        if branch.depth() < reach.max_depth {
            let extensions = runs.extensions(&branch).into_iter();
            let kept = extensions.filter(|extension| !criterion.stops(extension));
            let mut ranked: Vec<(f64, Branch)> = kept
                .map(|extension| (selection.rank(&extension), extension))
                .collect();
            // Stable: they come in the order of their functions.
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            ranked.truncate(reach.max_breadth);
            open.extend(ranked.into_iter().rev().map(|(_, extension)| extension));
        }
        expanded.push(branch);
    }
    expanded
}
