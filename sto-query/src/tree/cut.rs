//! Splitting of runs into parts. Each part is a run with a metric.

use super::View;
use super::contexts::Nodes;
use super::run_window::RunWindow;
use super::window::WindowError;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{LabelValue, SampleLabel};
use sto_core::store::{Snapshot, StoreError};
use sto_core::tree::{SelfCosts, merge_equal_nodes};
use sto_core::units::Nanoseconds;

/// Maximum number of parts of a run's time.
const PARTS: u32 = 100;
/// Metric of the parts of a run's time.
pub(crate) const TIME: &str = "time";

impl View {
    /// Returns the view with each run split by the numeric label `x` of its samples, or by time if
    /// `x` is `time`. Each part is a run with the metric `x`. If `x` is not `time` and no sample has
    /// the label, all runs stay whole.
    ///
    /// # Errors
    ///
    /// Returns an error if [`View::split_runs_by_label`] or [`View::split_runs_by_time`] does.
    pub(crate) fn split_runs(self, store: &Snapshot, x: &str) -> Result<View, WindowError> {
        let cut = self.clone().split_runs_by_label(store, x)?;
        match (cut.runs.is_empty(), x) {
            (false, _) => Ok(cut),
            (true, TIME) => self.split_runs_by_time(store),
            (true, _) => Ok(self),
        }
    }

    /// Returns the keys of numeric labels of samples.
    ///
    /// # Errors
    ///
    /// Returns an error if `store` lacks a profile or its slices.
    pub(crate) fn numeric_label_keys(
        &self,
        store: &Snapshot,
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut keys = BTreeSet::new();
        for stored in &self.selection.profiles {
            let slices = store.load_slices(stored.id)?;
            for context in slices.into_iter().flat_map(|of| of.slices.contexts) {
                let numbers = context.labels.iter().filter(|label| value(label).is_some());
                keys.extend(numbers.map(|label| label.key.clone()));
            }
        }
        Ok(keys)
    }

    /// Returns the view with a run for each number that samples of a run have as the label `key`,
    /// and with that number as a metric of the run.
    ///
    /// Samples without the label are left out. There are no runs if no sample has it.
    ///
    /// # Errors
    ///
    /// Returns an error if `store` lacks a profile or its slices.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    fn split_runs_by_label(self, store: &Snapshot, key: &str) -> Result<View, StoreError> {
        let nodes = Nodes::new(&self);
        let (mut profiles, mut runs) = (Vec::new(), Vec::new());
        for stored in &self.selection.profiles {
            let Some(kept) = nodes.context_costs(store, stored.id)? else {
                continue;
            };
            // Keyed by bits, as numbers must be equal exactly.
            let mut parts: BTreeMap<u64, Vec<SelfCosts>> = BTreeMap::new();
            for (&(context, node), costs) in &kept.costs {
                let labels = &kept.contexts[context.0 as usize].labels;
                let Some(number) = number(labels, key) else {
                    continue;
                };
                let columns = parts
                    .entry(number.to_bits())
                    .or_insert_with(|| vec![SelfCosts::new(); self.sample_types.len()]);
                for (column, &cost) in columns.iter_mut().zip(costs) {
                    column.push((node, cost));
                }
            }
            for (number, mut columns) in parts {
                columns.iter_mut().for_each(merge_equal_nodes);
                let mut stored = stored.clone();
                let metrics = &mut stored.profile.metrics;
                metrics.insert(key.to_owned(), f64::from_bits(number));
                profiles.push(stored);
                runs.push(columns);
            }
        }
        drop(nodes);
        let mut view = self;
        view.selection.profiles = profiles;
        view.runs = runs;
        view.windows = Vec::new();
        Ok(view)
    }

    /// Returns the view with a run for each of up to a hundred parts of the time of each run. The
    /// metric `time` has the seconds from the start of the run to the middle of the part.
    ///
    /// # Errors
    ///
    /// Returns an error if a run was stored without time slices, or is shorter than one.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    fn split_runs_by_time(self, store: &Snapshot) -> Result<View, WindowError> {
        let mut middles = Vec::new();
        let mut view = self.restrict(store, |run| {
            let whole = run.between(Nanoseconds(0), None)?;
            let count = u64::from(PARTS).min(whole.slice_count()) as u32;
            let parts: Vec<RunWindow> = whole.split(count);
            let length = whole.duration.0 as f64 / 1e9;
            let middle = |ix: usize| length * (ix as f64 + 0.5) / f64::from(count);
            middles.extend((0..parts.len()).map(middle));
            Ok::<_, WindowError>(parts)
        })?;
        for (stored, middle) in view.selection.profiles.iter_mut().zip(middles) {
            stored.profile.metrics.insert(TIME.to_owned(), middle);
        }
        view.windows = Vec::new();
        Ok(view)
    }
}

/// Returns the first number among the labels with this key.
fn number(labels: &[SampleLabel], key: &str) -> Option<f64> {
    let mut own = labels.iter().filter(|label| label.key == key);
    own.find_map(value)
}

fn value(label: &SampleLabel) -> Option<f64> {
    let number = match &label.value {
        LabelValue::Number { number, .. } => Some(*number as f64),
        LabelValue::Text(text) => text.trim().parse().ok(),
    };
    number.filter(|number: &f64| number.is_finite())
}
