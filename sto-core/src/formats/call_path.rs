//! Call trees that are written node by node.

use crate::recording::{LocationIx, RecordingBuilder, RecordingError, StackIx};

/// A tree of calls whose nodes come one after the other, each with its depth: the path to the last.
#[derive(Default)]
pub(super) struct CallPath {
    calls: Vec<Call>,
}

struct Call {
    stack: StackIx,
    /// What it cost, but for what its calls up to here did, unless that is known.
    left: Option<u64>,
}

impl CallPath {
    /// Goes to a node that costs `total` with its calls, and returns its stack. Nodes that end before it have
    /// what is left as their own cost, which is given to `own` with their stack.
    pub(super) fn enter(
        &mut self,
        depth: usize,
        location: LocationIx,
        total: u64,
        builder: &mut RecordingBuilder,
        own: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Result<(), RecordingError>,
    ) -> Result<StackIx, RecordingError> {
        if depth > self.calls.len() {
            return Err(format!(
                "a call at depth {depth}, where the line before is at depth {}; expected at most one \
                 more. Was a line lost?",
                self.calls.len() as i64 - 1
            )
            .into());
        }
        self.leave(depth, builder, own)?;
        let mut caller = None;
        if let Some(Call { stack, left }) = self.calls.last_mut() {
            caller = Some(*stack);
            // Rounded times of calls may add up to more than their caller's.
            *left = left.map(|left| left.saturating_sub(total));
        }
        let stack = builder.call(caller, location)?;
        let left = Some(total);
        self.calls.push(Call { stack, left });
        Ok(stack)
    }

    /// The same of a tree whose nodes have their own costs.
    pub(super) fn call(
        &mut self,
        depth: usize,
        location: LocationIx,
        builder: &mut RecordingBuilder,
    ) -> Result<StackIx, RecordingError> {
        self.enter(depth, location, 0, builder, |_, _, _| Ok(()))
    }

    /// Ends all nodes of a depth and below.
    pub(super) fn leave(
        &mut self,
        depth: usize,
        builder: &mut RecordingBuilder,
        mut own: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        while self.calls.len() > depth {
            if let Some(Call { stack, left }) = self.calls.pop()
                && let Some(left) = left
            {
                own(builder, stack, left)?;
            }
        }
        Ok(())
    }

    /// What the last node costs by itself is known: nothing is left of it.
    pub(super) fn own_is_known(&mut self) {
        if let Some(last) = self.calls.last_mut() {
            last.left = None;
        }
    }

    /// Whether there is no node yet.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}
