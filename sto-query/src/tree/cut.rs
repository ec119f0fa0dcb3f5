//! Runs cut into parts, each a run of its own with a number that says which part it is.

use super::View;
use super::contexts::Nodes;
use super::run_window::RunWindow;
use super::window::WindowError;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{LabelValue, SampleLabel};
use sto_core::store::{Snapshot, StoreError};
use sto_core::tree::{SelfCosts, merge_equal_nodes};
use sto_core::units::Nanoseconds;

/// Parts that the time of a run is cut into, at the most.
const PARTS: u32 = 100;
/// The metric that parts of time have.
pub(crate) const TIME: &str = "time";

impl View {
    /// The same stacks, with each run cut by a number that its samples are labelled with, or by time where `x` is `time`, so
    /// that each part is a run with this metric; whole where they cannot be cut.
    ///
    /// # Errors
    /// As [`View::cut_by_label`] and [`View::cut_by_time`].
    pub(crate) fn cut_by(self, store: &Snapshot, x: &str) -> Result<View, WindowError> {
        let cut = self.clone().cut_by_label(store, x)?;
        match (cut.runs.is_empty(), x) {
            (false, _) => Ok(cut),
            (true, TIME) => self.cut_by_time(store),
            (true, _) => Ok(self),
        }
    }

    /// The keys of labels by which samples of the runs have numbers.
    ///
    /// # Errors
    /// Where `store` does not have every profile with its slices.
    pub(crate) fn numbers_of_samples(
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

    /// The same stacks, with a run for each number that samples of a run are labelled with under this key, and that number
    /// as a metric of it. Samples without one are left out; runs are none where no sample has one.
    ///
    /// # Errors
    /// Where `store` does not have every profile with its slices.
    ///
    /// # Panics
    /// If stacks were changed since the view was loaded from that store.
    fn cut_by_label(self, store: &Snapshot, key: &str) -> Result<View, StoreError> {
        let nodes = Nodes::of(&self);
        let (mut profiles, mut runs) = (Vec::new(), Vec::new());
        for stored in &self.selection.profiles {
            let Some(kept) = nodes.context_costs(store, stored.id)? else {
                continue;
            };
            // By the bits of numbers, which are told apart exactly.
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

    /// The same stacks, with a run for each of up to a hundred parts of the time of each run, and the seconds from its
    /// start to the middle of the part as a metric `time` of it.
    ///
    /// # Errors
    /// Where a run was stored without slices of its time, or is shorter than one.
    ///
    /// # Panics
    /// As [`View::cut_by_label`].
    fn cut_by_time(self, store: &Snapshot) -> Result<View, WindowError> {
        let mut middles = Vec::new();
        let mut view = self.within(store, |run| {
            let whole = run.between(Nanoseconds(0), None)?;
            let count = u64::from(PARTS).min(whole.slice_count()) as u32;
            let parts: Vec<RunWindow> = whole.parts(count);
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

/// The number that these labels have of a key, the first one.
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
