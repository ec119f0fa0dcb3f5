//! A table of frames, each with its caller, by which formats share callers between stacks.

use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};

/// An entry of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Index of the caller in the table; `None` at a root.
    pub(crate) caller: Option<u32>,
    /// The function; `None` for a node that only groups others.
    pub(crate) location: Option<LocationIx>,
}

/// A table of frames with their callers. Stacks are only added for entries that are sampled.
#[derive(Default)]
pub(crate) struct CallTree {
    entries: Vec<Caller>,
    /// The stack of each entry.
    stacks: Vec<Known>,
    buffer: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Not,
    /// The search is in progress.
    Open,
    /// The stack; `None` if neither the entry nor its callers have a location.
    As(Option<StackIx>),
}

impl CallTree {
    pub(crate) fn new(entries: Vec<Caller>) -> CallTree {
        CallTree {
            stacks: vec![Known::Not; entries.len()],
            entries,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn entries(&self) -> &[Caller] {
        &self.entries
    }

    pub(crate) fn get(&self, entry: u32) -> Caller {
        self.entries[entry as usize]
    }

    /// Adds an entry and returns its index.
    pub(crate) fn push(&mut self, entry: Caller) -> u32 {
        self.entries.push(entry);
        self.stacks.push(Known::Not);
        self.entries.len() as u32 - 1
    }

    /// Sets the caller of an entry. Returns `false` if it already has another one.
    pub(crate) fn set_caller(&mut self, entry: u32, caller: u32) -> bool {
        let known = &mut self.entries[entry as usize].caller;
        *known.get_or_insert(caller) == caller
    }

    /// The stack of an entry.
    pub(crate) fn stack(&mut self, entry: u32, builder: &mut RecordingBuilder) -> Built<StackIx> {
        let mut next = Some(entry);
        let mut stack = None;
        self.buffer.clear();
        while let Some(entry) = next {
            match self.stacks[entry as usize] {
                Known::As(known) => {
                    stack = known;
                    break;
                }
                Known::Open => {
                    let problem =
                        "a frame that is its own direct or indirect caller; expected a tree";
                    return Err(problem.to_owned().into());
                }
                Known::Not => {}
            }
            self.stacks[entry as usize] = Known::Open;
            self.buffer.push(entry);
            next = self.entries[entry as usize].caller;
        }
        for &entry in self.buffer.iter().rev() {
            if let Some(location) = self.entries[entry as usize].location {
                stack = Some(builder.call(stack, location)?);
            }
            self.stacks[entry as usize] = Known::As(stack);
        }
        match stack {
            Some(stack) => Ok(stack),
            None => builder.stack(&[]),
        }
    }
}
