//! Stacks as formats write them that share callers: a table of frames, each with its caller.

use crate::formats::named::{Limit, NamedStacks};
use crate::formats::{LocationIx, StackIx};
use crate::limits::MAX_DEPTH;

/// A frame of the table, and who called it.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats) struct Caller {
    /// Place of the caller in the table; `None` at a root.
    pub(in crate::formats) caller: Option<u32>,
    /// What ran; `None` for a place that only holds others together.
    pub(in crate::formats) location: Option<LocationIx>,
}

/// A table of frames with their callers. The stack of an entry is written out once it is sampled.
#[derive(Default)]
pub(in crate::formats) struct CallTree {
    entries: Vec<Caller>,
    /// By entry.
    stacks: Vec<Option<StackIx>>,
    buffer: Vec<LocationIx>,
}

impl CallTree {
    pub(in crate::formats) fn new(entries: Vec<Caller>) -> CallTree {
        CallTree {
            stacks: vec![None; entries.len()],
            entries,
            buffer: Vec::new(),
        }
    }

    pub(in crate::formats) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(in crate::formats) fn get(&self, entry: u32) -> Caller {
        self.entries[entry as usize]
    }

    /// Adds an entry, and tells its place.
    pub(in crate::formats) fn push(&mut self, entry: Caller) -> u32 {
        self.entries.push(entry);
        self.stacks.push(None);
        self.entries.len() as u32 - 1
    }

    /// Says who called an entry; `false` where that was said before.
    pub(in crate::formats) fn set_caller(&mut self, entry: u32, caller: u32) -> bool {
        let known = &mut self.entries[entry as usize].caller;
        known.replace(caller).is_none()
    }

    /// The stack that ends at an entry of the table.
    pub(in crate::formats) fn stack(
        &mut self,
        entry: u32,
        named: &mut NamedStacks,
    ) -> Result<StackIx, Limit> {
        if let Some(known) = self.stacks[entry as usize] {
            return Ok(known);
        }
        self.buffer.clear();
        let mut next = Some(entry);
        let mut steps = 0;
        while let Some(entry) = next {
            let Caller { caller, location } = self.entries[entry as usize];
            self.buffer.extend(location);
            next = caller;
            steps += 1;
            if steps > self.entries.len() {
                return Err(
                    "a frame that is its own caller, over others; expected a tree".to_owned(),
                );
            }
            if steps > MAX_DEPTH + 1 {
                return Err(format!(
                    "a stack of more than {MAX_DEPTH} frames, which is what is read at most; fold its \
                     recursion"
                ));
            }
        }
        self.buffer.reverse();
        let stack = named.shared_stack(&self.buffer)?;
        self.stacks[entry as usize] = Some(stack);
        Ok(stack)
    }
}
