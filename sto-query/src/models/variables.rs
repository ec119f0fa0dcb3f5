//! Points of each function's cost over x, from the runs of a view.

use super::calls::arguments;
use super::costs::{has_x, numbers_of_runs, unknown_x};
use super::known_numbers::ORDER;
use super::{Costs, KnownNumbers, ModelError, Modelled};
use crate::tree::{Order, View};
use sto_core::store::{Snapshot, StoreError};

/// The variables of a model: x, and the cost of functions.
pub(crate) struct ModelVariables<'a> {
    /// Name of x: a metric of the runs or a numeric label of them. If no run has it, a numeric label of samples, or
    /// `time`, by which runs are split. Otherwise an argument of calls, or their `order`.
    pub(crate) x: &'a str,
    /// Cost of functions that is y.
    pub(crate) cost: Order,
    /// Whether to count inlined functions separately from the functions that contain them.
    pub(crate) inlined: bool,
}

impl ModelVariables<'_> {
    /// Returns the costs for a view of this store, measured in one of its sample types.
    ///
    /// # Errors
    ///
    /// Returns an error if no run has x, or if times are needed and were not stored.
    pub(crate) fn load_costs(
        &self,
        view: &View,
        store: &Snapshot,
        sample_type: usize,
    ) -> Result<Costs, ModelError> {
        let program = &view.selection.build.executable;
        if has_x(view, self.x) {
            self.costs_of_runs(view, sample_type, program)
        } else {
            self.of_parts(view, store, sample_type, program)
        }
    }

    /// Returns the costs of a baseline and a candidate: by run if any run of either has x, otherwise by part of a
    /// run.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ModelVariables::load_costs`] for either side.
    pub(crate) fn load_both_costs(
        &self,
        [(old, old_store), (new, new_store)]: [(&View, &Snapshot); 2],
        [of_old, of_new]: [usize; 2],
    ) -> Result<[Costs; 2], ModelError> {
        // Both sides use the same program name, so that their functions match.
        let program = &new.selection.build.executable;
        let lacks = |view: &View, store: &Snapshot, other: &View| -> Result<_, ModelError> {
            Err(unknown_x(view, numbers(view, store)?, self.x, Some(other)))
        };
        let costs = match [old, new].map(|view| has_x(view, self.x)) {
            [true, true] => [
                self.costs_of_runs(old, of_old, program)?,
                self.costs_of_runs(new, of_new, program)?,
            ],
            [true, false] => lacks(new, new_store, old)?,
            [false, true] => lacks(old, old_store, new)?,
            [false, false] => [
                self.of_parts(old, old_store, of_old, program)?,
                self.of_parts(new, new_store, of_new, program)?,
            ],
        };
        let mut sides = costs.each_ref().map(|costs| &costs.of);
        sides.sort_by_key(|of| of.of_calls);
        match sides.map(|of| of.of_calls) {
            [false, true] => Err(ModelError::TwoKinds {
                x: self.x.to_owned(),
                builds: sides.map(Modelled::name),
            }),
            _ => Ok(costs),
        }
    }

    /// Returns the costs by a number of parts of runs: samples by label or time, or else calls.
    fn of_parts(
        &self,
        view: &View,
        store: &Snapshot,
        sample_type: usize,
        program: &str,
    ) -> Result<Costs, ModelError> {
        let cut = view.clone().split_runs(store, self.x)?;
        if has_x(&cut, self.x) {
            return self.costs_of_runs(&cut, sample_type, program);
        }
        let asked = (self.x, self.cost);
        if let Some(costs) = Costs::from_arguments(view, store, asked, program)? {
            return Ok(costs);
        }
        if self.x == ORDER
            && let Some(costs) = Costs::from_call_order(view, store, self.cost, program)?
        {
            return Ok(costs);
        }
        Err(unknown_x(view, numbers(view, store)?, self.x, None))
    }

    fn costs_of_runs(
        &self,
        view: &View,
        sample_type: usize,
        program: &str,
    ) -> Result<Costs, ModelError> {
        let asked = (self.x, self.cost);
        if self.inlined {
            Costs::from_runs(view, sample_type, asked, program)
        } else {
            Costs::from_runs(&view.clone().without_inlined(), sample_type, asked, program)
        }
    }
}

/// Returns the numbers that runs, their samples and their calls have.
fn numbers(view: &View, store: &Snapshot) -> Result<KnownNumbers, StoreError> {
    let calls = arguments(view, store)?.into_iter();
    let mut is_order_known = false;
    for stored in &view.selection.profiles {
        is_order_known |= store.kept_calls(stored.id)?.is_some();
    }
    Ok(KnownNumbers {
        samples: view.numeric_label_keys(store)?,
        calls: calls.map(|(name, of)| (name, of.len())).collect(),
        is_order_known,
        ..numbers_of_runs(view)
    })
}
