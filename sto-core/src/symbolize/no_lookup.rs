//! The symbol lookup of programs built without the feature `symbols`.

use super::part::{Resolved, Task};
use sto_formats::recording::Recording;
use sto_model::SymbolOptions;

pub(super) struct Lookup;

impl Lookup {
    pub(super) fn new(_: &Recording, _: &SymbolOptions) -> Lookup {
        Lookup
    }

    /// Leaves all addresses unresolved.
    pub(super) fn resolve(&self, task: &Task<'_>) -> Resolved {
        let problem =
            "this program was built without sto-core's feature `symbols`, which looks symbols up";
        task.unresolved(Some(problem.to_owned()))
    }
}

/// Does nothing, as build ids are read from files.
pub(crate) fn add_build_ids(_: &mut Recording, _: &SymbolOptions) {}
