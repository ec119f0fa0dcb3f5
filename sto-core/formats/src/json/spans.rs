//! Conversion of calls whose begin and end are measured in any unit to the cost of each stack.

use crate::recording::{Built, LocationIx, RecordingBuilder, SampleKey, StackIx};
use sto_model::units::{Cost, Unit};

/// The open calls of a thread and its current samples; each sample is a span in one stack.
pub(crate) struct Spans {
    measured: SampleKey,
    unit: Unit,
    /// Open calls, root first, each with its stack once that was sampled.
    open: Vec<(LocationIx, Option<StackIx>)>,
    now: u64,
}

impl Spans {
    pub(crate) fn new(measured: SampleKey, unit: Unit) -> Spans {
        Spans {
            measured,
            unit,
            open: Vec::new(),
            now: 0,
        }
    }

    /// Advances to a value, which must not decrease. What passed since the last one becomes a
    /// sample of the open calls.
    pub(crate) fn advance(&mut self, to: u64, builder: &mut RecordingBuilder) -> Built<()> {
        let value = to.saturating_sub(self.now);
        if value > 0
            && let Some(stack) = self.stack(builder)?
        {
            let samples = match self.unit {
                Unit::Samples => value,
                _ => 1,
            };
            builder.push(self.measured, stack, None, Cost { samples, value });
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

    pub(crate) fn close(&mut self) {
        self.open.pop();
    }
}
