//! From calls that begin and end at a time to what each stack took.

use crate::formats::named::{Limit, NamedStacks};
use crate::formats::{LocationIx, Sample, SampleTypeIx, ThreadIx};
use crate::units::{Cost, Nanoseconds};

/// The open calls of a thread, and what it did up to now: a sample for each time that it stayed in
/// one stack.
pub(in crate::formats) struct Spans {
    pub(in crate::formats) thread: ThreadIx,
    pub(in crate::formats) sample_type: SampleTypeIx,
    /// Whether values are nanoseconds from the recording's start.
    pub(in crate::formats) are_times: bool,
    /// Root first.
    open: Vec<LocationIx>,
    now: u64,
}

impl Spans {
    pub(in crate::formats) fn new(
        thread: ThreadIx,
        sample_type: SampleTypeIx,
        are_times: bool,
    ) -> Spans {
        Spans {
            thread,
            sample_type,
            are_times,
            open: Vec::new(),
            now: 0,
        }
    }

    pub(in crate::formats) fn now(&self) -> u64 {
        self.now
    }

    pub(in crate::formats) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(in crate::formats) fn top(&self) -> Option<LocationIx> {
        self.open.last().copied()
    }

    /// Goes on to a value that is no smaller; what the open calls took until then becomes a sample.
    pub(in crate::formats) fn advance(
        &mut self,
        to: u64,
        named: &mut NamedStacks,
        samples: &mut Vec<Sample>,
    ) -> Result<(), Limit> {
        let value = to.saturating_sub(self.now);
        if value > 0 && !self.open.is_empty() {
            samples.push(Sample {
                stack: named.shared_stack(&self.open)?,
                thread: self.thread,
                sample_type: self.sample_type,
                time: self.are_times.then_some(Nanoseconds(self.now)),
                cost: Cost { samples: 1, value },
                truncated: false,
            });
        }
        self.now = self.now.max(to);
        Ok(())
    }

    pub(in crate::formats) fn open(&mut self, location: LocationIx) {
        self.open.push(location);
    }

    /// Closes calls wherever they stand; `is_kept` says by depth which stay open.
    pub(in crate::formats) fn keep(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        let mut depths = 0..;
        self.open
            .retain(|_| depths.next().is_some_and(&mut is_kept));
    }

    pub(in crate::formats) fn close(&mut self) -> Option<LocationIx> {
        self.open.pop()
    }
}
