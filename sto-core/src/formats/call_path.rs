//! Call trees that are told node by node.

use super::LocationIx;

/// A tree of calls whose nodes come one after the other, each with its depth: the path to the last.
#[derive(Default)]
pub(super) struct CallPath {
    locations: Vec<LocationIx>,
    /// By location: what it cost, but for what its calls up to here did, unless that is told.
    left: Vec<Option<u64>>,
}

impl CallPath {
    /// Goes to a node that costs `total` with its calls. Nodes that end before it have what is left as
    /// their own cost, which is given to `own` with their stack.
    pub(super) fn enter(
        &mut self,
        depth: usize,
        location: LocationIx,
        total: u64,
        own: impl FnMut(&[LocationIx], u64) -> Result<(), String>,
    ) -> Result<(), String> {
        if depth > self.locations.len() {
            return Err(format!(
                "a call at depth {depth}, where the line before is at depth {}; expected at most one \
                 more. Was a line lost?",
                self.locations.len() as i64 - 1
            ));
        }
        self.leave(depth, own)?;
        // Rounded times of calls may add up to more than their caller's.
        if let Some(Some(caller)) = self.left.last_mut() {
            *caller = caller.saturating_sub(total);
        }
        self.locations.push(location);
        self.left.push(Some(total));
        Ok(())
    }

    /// Ends all nodes of a depth and below.
    pub(super) fn leave(
        &mut self,
        depth: usize,
        mut own: impl FnMut(&[LocationIx], u64) -> Result<(), String>,
    ) -> Result<(), String> {
        while self.locations.len() > depth {
            if let Some(left) = self.left.pop().flatten() {
                own(&self.locations, left)?;
            }
            self.locations.pop();
        }
        Ok(())
    }

    /// What the last node costs by itself is told by the format: nothing is left of it.
    pub(super) fn own_is_told(&mut self) {
        if let Some(left) = self.left.last_mut() {
            *left = None;
        }
    }

    /// The stack of the last node, root first.
    pub(super) fn stack(&self) -> &[LocationIx] {
        &self.locations
    }
}
