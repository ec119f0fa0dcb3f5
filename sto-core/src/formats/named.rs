//! Stacks of formats that name functions instead of addresses.

use crate::limits::{MAX_DEPTH, MAX_NAME, MAX_PROCESS_NAME, cut, most_frames};
use crate::model::{Frame, FrameIx, FrameKind, FrameTable};
use crate::recording::{Location, LocationIx, StackIx, Stacks};
use crate::units::Bytes;
use hashbrown::HashMap;
use std::borrow::Cow;

/// Named frames and stacks of them: every frame is one location.
#[derive(Default)]
pub(super) struct NamedStacks {
    frames: FrameTable,
    /// By frame.
    of_frame: Vec<LocationIx>,
    nameless: HashMap<Location, LocationIx>,
    locations: Vec<Location>,
    stacks: Stacks,
    /// Frames that stacks were made into by parts of the file that stand for several, and how large that is.
    expanded: u64,
    file: Bytes,
    lossy: bool,
    cut: bool,
}

/// The parts of a [`Recording`](crate::recording::Recording) that [`NamedStacks`] makes.
pub(super) struct Finished {
    pub(super) frames: FrameTable,
    pub(super) locations: Vec<Location>,
    pub(super) stacks: Stacks,
    pub(super) warnings: Vec<String>,
}

/// A limit that the input passes: what was found, the limit, and what to do.
pub(super) type Limit = String;

const MOST: usize = u32::MAX as usize;
const LOSSY: &str = "Some names are not UTF-8; what cannot be read in them is shown as \u{fffd}.";
const CUT: &str = "Some names are longer than 4096 bytes; they are cut there, and end in `…`.";

impl NamedStacks {
    /// Those of a file of this length.
    pub(super) fn of_file(length: usize) -> NamedStacks {
        NamedStacks {
            file: Bytes(length as u64),
            ..NamedStacks::default()
        }
    }

    /// A name as text; what is not UTF-8 is replaced, what is too long is cut, and each is said
    /// once in the end.
    pub(super) fn text<'n>(&mut self, name: &'n [u8]) -> Cow<'n, str> {
        let kept = beginning(name);
        let mut text = String::from_utf8_lossy(kept);
        if name.len() > MAX_NAME {
            self.cut = true;
            cut(text.to_mut(), MAX_NAME);
        } else if let Cow::Owned(text) = &mut text {
            self.lossy = true;
            // A byte became three.
            cut(text, MAX_NAME);
        }
        text
    }

    pub(super) fn frame(
        &mut self,
        kind: FrameKind,
        symbol: &str,
        module: &str,
    ) -> Result<LocationIx, Limit> {
        self.frame_at_line(Frame {
            module,
            symbol,
            kind,
            file: "",
            line: 0,
        })
    }

    /// A frame of which the format tells source file and line.
    pub(super) fn frame_at_line(&mut self, frame: Frame<'_>) -> Result<LocationIx, Limit> {
        self.check_room(frame.symbol.len() + frame.module.len() + frame.file.len())?;
        let frame = self.frames.insert(frame);
        Ok(self.location_of(frame))
    }

    /// A function that was inlined into another: it stands in the same module.
    pub(super) fn inlined(&mut self, symbol: &str, into: LocationIx) -> Result<LocationIx, Limit> {
        self.check_room(symbol.len())?;
        let Location::Named(into) = self.locations[into.0 as usize] else {
            return self.frame(FrameKind::Inlined, symbol, "");
        };
        let symbol = self.frames.intern_string(symbol);
        let (_, module, file) = self.frames.strings_of(into);
        let frame = self
            .frames
            .insert_columns(FrameKind::Inlined, symbol, module, file, 0);
        Ok(self.location_of(frame))
    }

    /// The same function at another line.
    pub(super) fn at_line(&mut self, location: LocationIx, line: u32) -> Result<LocationIx, Limit> {
        self.check_room(0)?;
        let Location::Named(frame) = self.locations[location.0 as usize] else {
            return Ok(location);
        };
        let (symbol, module, file) = self.frames.strings_of(frame);
        let kind = self.frames.frame(frame).kind;
        let frame = self.frames.insert_columns(kind, symbol, module, file, line);
        Ok(self.location_of(frame))
    }

    /// A place that the format has no name for.
    pub(super) fn nameless(&mut self, location: Location) -> Result<LocationIx, Limit> {
        self.check_room(0)?;
        if let Some(&known) = self.nameless.get(&location) {
            return Ok(known);
        }
        let ix = self.push(location);
        self.nameless.insert(location, ix);
        Ok(ix)
    }

    fn location_of(&mut self, frame: FrameIx) -> LocationIx {
        if frame.get() == self.of_frame.len() {
            let location = self.push(Location::Named(frame));
            self.of_frame.push(location);
        }
        self.of_frame[frame.get()]
    }

    fn push(&mut self, location: Location) -> LocationIx {
        self.locations.push(location);
        LocationIx(self.locations.len() as u32 - 1)
    }

    /// A stack, root first; an empty one becomes one frame `[unknown]`.
    pub(super) fn stack(&mut self, root_first: &[LocationIx]) -> Result<StackIx, Limit> {
        if root_first.is_empty() {
            let unknown = self.frame(FrameKind::Unresolved, "[unknown]", "")?;
            return self.stack(&[unknown]);
        }
        check_depth(root_first.len())?;
        self.stacks.try_insert(root_first).ok_or_else(too_many)
    }

    /// The stack that a stack becomes by calling a location; without a caller, the location is a root. For
    /// formats that write a caller once for many stacks.
    pub(super) fn call(
        &mut self,
        caller: Option<StackIx>,
        callee: LocationIx,
    ) -> Result<StackIx, Limit> {
        check_depth(caller.map_or(0, |caller| self.stacks.depth(caller)) + 1)?;
        self.stacks
            .try_insert_call(caller, callee)
            .ok_or_else(too_many)
    }

    /// Counts frames that a file does not spell, but makes by parts that stand for several, before they are
    /// made; an error where a file of its size may not have as many.
    pub(super) fn expand(&mut self, frames: usize) -> Result<(), Limit> {
        self.expanded += frames as u64;
        let limit = most_frames(self.file);
        match self.expanded > limit {
            true => Err(format!(
                "its stacks up to here have {} frames, those of inlined functions and shared callers among \
                 them; stacks of up to {limit} are read of a file of {} bytes. Write it without inlined \
                 functions, or record for a shorter time",
                self.expanded, self.file.0
            )),
            false => Ok(()),
        }
    }

    /// Adds the frames and stacks that were read of the text behind, in their order; returns the
    /// places of its stacks here.
    pub(super) fn append(&mut self, behind: &NamedStacks) -> Result<Vec<StackIx>, Limit> {
        self.lossy |= behind.lossy;
        self.cut |= behind.cut;
        let locations = behind.locations.iter().map(|&location| match location {
            Location::Named(frame) => self.frame_at_line(behind.frames.frame(frame)),
            nameless => self.nameless(nameless),
        });
        let locations = locations.collect::<Result<Vec<_>, _>>()?;
        let mut here = Vec::new();
        let stacks = behind.stacks.iter().map(|stack| {
            here.clear();
            let there = behind.stacks.get(stack);
            here.extend(there.iter().map(|there| locations[there.0 as usize]));
            self.stack(&here)
        });
        stacks.collect()
    }

    pub(super) fn finish(self) -> Finished {
        Finished {
            locations: self.locations,
            frames: self.frames,
            stacks: self.stacks,
            warnings: [self.lossy.then_some(LOSSY), self.cut.then_some(CUT)]
                .into_iter()
                .flatten()
                .map(str::to_owned)
                .collect(),
        }
    }

    fn check_room(&self, more_text: usize) -> Result<(), Limit> {
        let fits = self.locations.len() < MOST && more_text <= MOST - self.frames.text_len();
        fits.then_some(()).ok_or_else(|| {
            "the distinct names up to here are more than 2^32 bytes; split the file".to_owned()
        })
    }
}

fn check_depth(depth: usize) -> Result<(), Limit> {
    (depth <= MAX_DEPTH).then_some(()).ok_or_else(|| {
        format!(
            "a stack of {depth} frames; stacks of up to {MAX_DEPTH} are read. Cut it at its leaf, or fold its \
             recursion"
        )
    })
}

fn too_many() -> Limit {
    "the distinct stacks up to here have more than 2^32 frames; split the file".to_owned()
}

/// As much of a text as a name may have, and a byte more, which tells that there is more. A file may have one
/// long text, and refer to it everywhere.
pub(super) fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(MAX_NAME + 1)]
}

/// The name of a process or thread as text, cut where it is too long.
pub(super) fn process_name(name: &[u8]) -> String {
    // A byte more than the limit tells that there is something to cut off.
    let kept = &name[..name.len().min(MAX_PROCESS_NAME + 1)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    cut(&mut text, MAX_PROCESS_NAME);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_text_than_indices_reach_is_refused() {
        let named = NamedStacks::default();
        assert_eq!(named.check_room(MOST), Ok(()));
        assert!(named.check_room(MOST + 1).is_err());
    }
}
