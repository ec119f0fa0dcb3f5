//! From calls that begin and end at a time to what each stack took.

use crate::recording::{Built, LocationIx, Measured, RecordingBuilder, StackIx};
use crate::units::{Cost, Nanoseconds};

/// The open calls of a thread, and what it did up to now: a sample for each time that it stayed in
/// one stack.
pub(crate) struct Spans {
    measured: Measured,
    /// Whether values are nanoseconds from the recording's start.
    are_times: bool,
    /// Root first, each with its stack once that was sampled.
    open: Vec<(LocationIx, Option<StackIx>)>,
    now: u64,
}

impl Spans {
    pub(crate) fn new(measured: Measured, are_times: bool) -> Spans {
        Spans {
            measured,
            are_times,
            open: Vec::new(),
            now: 0,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn top(&self) -> Option<LocationIx> {
        self.open.last().map(|&(location, _)| location)
    }

    /// Goes on to a value that is no smaller; what the open calls took until then becomes a sample.
    pub(crate) fn advance(&mut self, to: u64, builder: &mut RecordingBuilder) -> Built<()> {
        let value = to.saturating_sub(self.now);
        if value > 0
            && let Some(stack) = self.stack(builder)?
        {
            let time = self.are_times.then_some(Nanoseconds(self.now));
            builder.push(self.measured, stack, time, Cost { samples: 1, value });
        }
        self.now = self.now.max(to);
        Ok(())
    }

    /// The stack of the open calls, if there are any.
    fn stack(&mut self, builder: &mut RecordingBuilder) -> Built<Option<StackIx>> {
        let known = self.open.iter().rposition(|(_, stack)| stack.is_some());
        let mut caller = known.and_then(|depth| self.open[depth].1);
        for (location, stack) in &mut self.open[known.map_or(0, |depth| depth + 1)..] {
            caller = Some(builder.call(caller, *location)?);
            *stack = caller;
        }
        Ok(caller)
    }

    pub(crate) fn open(&mut self, location: LocationIx) {
        self.open.push((location, None));
    }

    /// Closes calls wherever they stand from a depth on; `is_kept` says by depth which stay open. Those have
    /// other stacks from then on.
    pub(crate) fn keep(
        &mut self,
        from: usize,
        mut is_kept: impl FnMut(usize) -> bool,
        builder: &mut RecordingBuilder,
    ) -> Built<()> {
        builder.expand(self.open.len() - from)?;
        let moved = self.open.split_off(from).into_iter().zip(from..);
        let kept = moved.filter(|&(_, depth)| is_kept(depth));
        self.open
            .extend(kept.map(|((location, _), _)| (location, None)));
        Ok(())
    }

    pub(crate) fn close(&mut self) {
        self.open.pop();
    }
}
