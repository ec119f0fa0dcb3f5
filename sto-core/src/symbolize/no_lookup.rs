//! Modules of programs that were built without looking symbols up.

use super::part::{Resolved, Task};
use sto_formats::recording::Recording;
use sto_model::SymbolOptions;

pub(super) struct Lookup;

impl Lookup {
    pub(super) fn new(_: &Recording, _: &SymbolOptions) -> Lookup {
        Lookup
    }

    /// Names addresses after their module.
    pub(super) fn resolve(&self, task: &Task<'_>) -> Resolved {
        let problem =
            "this program was built without sto-core's feature `symbols`, which looks symbols up";
        task.unresolved(Some(problem.to_owned()))
    }
}

/// Does nothing: build ids are read from programs.
pub(crate) fn add_build_ids(_: &mut Recording, _: &SymbolOptions) {}
