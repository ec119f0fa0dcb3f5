//! Samples of formats that have sums: one for each stack of a thread and sample type.

use super::json::Parts;
use super::named::{Limit, NamedStacks};
use crate::model::Origin;
use crate::recording::{
    LocationIx, Process, ProcessIx, Sample, SampleTypeIx, StackIx, Thread, ThreadIx,
};
use crate::units::{Cost, SampleType};
use hashbrown::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Summed {
    pub(super) named: NamedStacks,
    pub(super) samples: Vec<Sample>,
    index: HashMap<(ThreadIx, SampleTypeIx, StackIx), usize>,
    /// By sample type.
    sums: HashMap<SampleTypeIx, Cost>,
}

impl Summed {
    /// Adds to what a stack cost, root first; nothing where that is zero.
    pub(super) fn add(
        &mut self,
        thread: ThreadIx,
        sample_type: SampleTypeIx,
        root_first: &[LocationIx],
        cost: Cost,
    ) -> Result<(), Limit> {
        if cost.is_zero() {
            return Ok(());
        }
        let stack = self.named.stack(root_first)?;
        self.add_stack(thread, sample_type, stack, cost)
    }

    /// As [`Summed::add`], of a stack of `named`.
    pub(super) fn add_stack(
        &mut self,
        thread: ThreadIx,
        sample_type: SampleTypeIx,
        stack: StackIx,
        cost: Cost,
    ) -> Result<(), Limit> {
        if cost.is_zero() {
            return Ok(());
        }
        let sum = self.sums.entry(sample_type).or_default();
        *sum = sum.checked_add(cost).ok_or_else(|| {
            "the costs up to here add up to more than 2^64 - 1; was the file edited?".to_owned()
        })?;
        let next = self.samples.len();
        let place = *self
            .index
            .entry((thread, sample_type, stack))
            .or_insert(next);
        if place == next {
            self.samples.push(Sample {
                stack,
                thread,
                sample_type,
                time: None,
                cost: Cost::ZERO,
                truncated: false,
            });
        }
        self.samples[place].cost += cost;
        Ok(())
    }

    /// A warning where the costs of a sample type do not add up to the total that the file states. Each of its
    /// rows may be off by `rounding`.
    pub(super) fn differs_from(
        &self,
        sample_type: u32,
        total: u64,
        (rows, rounding): (usize, u64),
    ) -> Option<String> {
        let sum = self.sums.get(&SampleTypeIx(sample_type))?.value;
        let is_rounding = sum.abs_diff(total) <= rounding.saturating_mul(rows as u64);
        (!is_rounding && total > 0).then(|| {
            format!(
                "What functions cost by themselves adds up to {:.2}% of the total that the file states; was it \
                 filtered or edited?",
                sum as f64 / total as f64 * 100.0
            )
        })
    }

    /// What there is, of one sample type, and of threads of one unknown process.
    pub(super) fn into_parts(self, sample_type: SampleType, threads: Vec<String>) -> Parts {
        Parts {
            origin: Origin::default(),
            sample_types: vec![sample_type],
            processes: vec![Process {
                pid: 0,
                program: String::new(),
                main_module: None,
            }],
            threads: threads
                .into_iter()
                .map(|name| Thread {
                    tid: 0,
                    name,
                    process: ProcessIx(0),
                    labels: Arc::default(),
                })
                .collect(),
            modules: Vec::new(),
            named: self.named,
            samples: self.samples,
            warnings: Vec::new(),
        }
    }
}
