//! Numbers the locations and stacks of all workers' samples.

use super::off_cpu::Switch;
use super::sample::Reading;
use crate::error::FormatError;
use crate::recording::{Location, LocationIx, Sample, Stacks};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::path::Path;

/// The samples of a batch, as a worker found them.
pub(super) struct LocatedBatch {
    /// The number of the worker.
    pub(super) worker: usize,
    /// The locations that the worker had not found in an earlier batch. It numbers its locations in this order.
    pub(super) new_locations: Vec<Location>,
    /// The stacks of the samples one after another, each root first, by the worker's numbers.
    pub(super) stacks: Vec<LocationIx>,
    /// The samples, each with the end of its stack in `stacks`.
    pub(super) samples: Vec<(Sample, usize)>,
    /// The counter readings of the samples.
    pub(super) readings: Vec<Reading>,
    /// The fields of the samples of `sched_switch`.
    pub(super) switches: Vec<Option<Switch>>,
    /// Number of samples of code without a frame, whose caller is unknown because frame pointers skip it.
    pub(super) without_caller: usize,
}

/// Numbers locations and stacks in the order in which the file's samples refer to them, so that the numbers do not
/// depend on the workers' speed.
pub(super) struct Numbering<'a> {
    path: &'a Path,
    /// Batches that come after one that is still being located.
    early: BTreeMap<usize, Result<LocatedBatch, FormatError>>,
    /// The number of the batch that comes next.
    next: usize,
    index: HashMap<Location, LocationIx>,
    /// For each worker the index of each of its locations.
    by_worker: Vec<Vec<LocationIx>>,
    stack: Vec<LocationIx>,
    numbered: Numbered,
    /// The first error in the file.
    error: Option<FormatError>,
}

/// The samples of all batches, in order.
#[derive(Default)]
pub(super) struct Numbered {
    pub(super) locations: Vec<Location>,
    pub(super) stacks: Stacks,
    pub(super) samples: Vec<Sample>,
    /// Readings by batch, for batches that have any.
    pub(super) readings: Vec<Vec<Reading>>,
    /// The fields of the samples of `sched_switch`.
    pub(super) switches: Vec<Option<Switch>>,
    /// Number of samples of code without a frame, whose caller is unknown because frame pointers skip it.
    pub(super) without_caller: usize,
}

impl<'a> Numbering<'a> {
    pub(super) fn new(path: &'a Path, workers: usize) -> Self {
        Numbering {
            path,
            early: BTreeMap::new(),
            next: 0,
            index: HashMap::new(),
            by_worker: vec![Vec::new(); workers],
            stack: Vec::new(),
            numbered: Numbered::default(),
            error: None,
        }
    }

    /// Adds a batch, in any order. Returns `false` after an error: then no more batches are needed.
    pub(super) fn add(&mut self, number: usize, batch: Result<LocatedBatch, FormatError>) -> bool {
        self.early.insert(number, batch);
        while self.error.is_none()
            && let Some(batch) = self.early.remove(&self.next)
        {
            self.next += 1;
            self.error = batch.and_then(|batch| self.append(batch)).err();
        }
        self.error.is_none()
    }

    /// Returns the samples of all batches.
    ///
    /// # Errors
    /// Returns the error of the first batch that failed.
    pub(super) fn finish(self) -> Result<Numbered, FormatError> {
        self.error.map_or(Ok(self.numbered), Err)
    }

    fn append(&mut self, batch: LocatedBatch) -> Result<(), FormatError> {
        let Numbered {
            locations,
            stacks,
            samples,
            ..
        } = &mut self.numbered;
        let indices = &mut self.by_worker[batch.worker];
        indices.extend(batch.new_locations.iter().map(|&location| {
            *self.index.entry(location).or_insert_with(|| {
                locations.push(location);
                LocationIx(locations.len() as u32 - 1)
            })
        }));
        let mut start = 0;
        for (mut sample, end) in batch.samples {
            let own = &batch.stacks[start..end];
            start = end;
            self.stack.clear();
            self.stack.extend(own.iter().map(|ix| indices[ix.get()]));
            let stack = stacks.try_insert(&self.stack);
            sample.stack = stack.ok_or_else(|| too_large_error(self.path))?;
            samples.push(sample);
        }
        if !batch.readings.is_empty() {
            self.numbered.readings.push(batch.readings);
        }
        self.numbered.switches.extend(batch.switches);
        self.numbered.without_caller += batch.without_caller;
        Ok(())
    }
}

pub(super) fn too_large_error(path: &Path) -> FormatError {
    let problem = "its distinct stacks have more than 2^32 frames together; record for a shorter \
                   time or at a lower frequency";
    FormatError::Unsupported {
        path: path.into(),
        problem: problem.into(),
    }
}
