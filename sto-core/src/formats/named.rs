//! Stacks of formats that name functions instead of addresses.

use super::{FormatError, Location, LocationIx, StackIx, Stacks};
use crate::limits::{MAX_DEPTH, MAX_NAME, cut};
use crate::model::{Frame, FrameIx, FrameKind, FrameTable};
use std::borrow::Cow;
use std::path::Path;

/// Named frames and stacks of them: every frame is one location, with the same index.
#[derive(Default)]
pub(super) struct NamedStacks {
    frames: FrameTable,
    stacks: Stacks,
    lossy: bool,
    cut: bool,
}

/// The parts of a [`Recording`](super::Recording) that [`NamedStacks`] makes.
pub(super) struct Finished {
    pub(super) frames: FrameTable,
    pub(super) locations: Vec<Location>,
    pub(super) stacks: Stacks,
    pub(super) warnings: Vec<String>,
}

/// A limit that the input passes: what was found, the limit, and what to do.
pub(super) type Limit = String;

pub(super) fn malformed(path: &Path, number: usize, problem: impl Into<String>) -> FormatError {
    FormatError::Malformed {
        path: path.to_owned(),
        place: format!("line {number}"),
        problem: problem.into(),
    }
}

const MOST: usize = u32::MAX as usize;
const LOSSY: &str = "Some names are not UTF-8; what cannot be read in them is shown as \u{fffd}.";
const CUT: &str = "Some names are longer than 4096 bytes; they are cut there, and end in `…`.";

impl NamedStacks {
    /// A name as text; what is not UTF-8 is replaced, what is too long is cut, and each is said
    /// once in the end.
    pub(super) fn text<'n>(&mut self, name: &'n [u8]) -> Cow<'n, str> {
        // Of what is cut off nothing is looked at; a byte more than the limit tells that there is
        // something.
        let kept = &name[..name.len().min(MAX_NAME + 1)];
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
        self.check_room(symbol.len() + module.len())?;
        let frame = self.frames.insert(Frame {
            module,
            symbol,
            kind,
            file: "",
            line: 0,
        });
        Ok(LocationIx(frame.0))
    }

    /// A function that was inlined into another: it stands in the same module.
    pub(super) fn inlined(&mut self, symbol: &str, into: LocationIx) -> Result<LocationIx, Limit> {
        self.check_room(symbol.len())?;
        let symbol = self.frames.intern_string(symbol);
        let (_, module, file) = self.frames.strings_of(FrameIx(into.0));
        let frame = self
            .frames
            .insert_columns(FrameKind::Inlined, symbol, module, file, 0);
        Ok(LocationIx(frame.0))
    }

    /// A stack, root first; an empty one becomes one frame `[unknown]`.
    pub(super) fn stack(&mut self, root_first: &[LocationIx]) -> Result<StackIx, Limit> {
        if root_first.is_empty() {
            let unknown = self.frame(FrameKind::Unresolved, "[unknown]", "")?;
            return self.stack(&[unknown]);
        }
        if root_first.len() > MAX_DEPTH {
            return Err(format!(
                "a stack of {} frames; stacks of up to {MAX_DEPTH} are read. Cut it at its leaf, or \
                 fold its recursion",
                root_first.len()
            ));
        }
        self.stacks.try_insert(root_first).ok_or_else(|| {
            "the distinct stacks up to here have more than 2^32 frames; split the file".to_owned()
        })
    }

    pub(super) fn finish(self) -> Finished {
        Finished {
            locations: (0..self.frames.len() as u32)
                .map(|ix| Location::Named(FrameIx(ix)))
                .collect(),
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
        let fits = self.frames.len() < MOST && more_text <= MOST - self.frames.text_len();
        fits.then_some(()).ok_or_else(|| {
            "the distinct names up to here are more than 2^32 bytes; split the file".to_owned()
        })
    }
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
