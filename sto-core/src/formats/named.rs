//! Stacks of formats that name functions instead of addresses.

use super::{FormatError, Location, LocationIx, StackIx, Stacks};
use crate::model::{Frame, FrameIx, FrameKind, FrameTable};
use std::borrow::Cow;
use std::path::Path;

/// Named frames and stacks of them: every frame is one location, with the same index.
#[derive(Default)]
pub(super) struct NamedStacks {
    frames: FrameTable,
    stacks: Stacks,
    lossy: bool,
}

/// The parts of a [`Recording`](super::Recording) that [`NamedStacks`] makes.
pub(super) struct Finished {
    pub(super) frames: FrameTable,
    pub(super) locations: Vec<Location>,
    pub(super) stacks: Stacks,
    pub(super) warning: Option<String>,
}

/// There are more names or stacks than 32-bit indices reach.
#[derive(Debug)]
pub(super) struct TooMany;

impl TooMany {
    pub(super) fn at_line(self, path: &Path, number: usize) -> FormatError {
        malformed(
            path,
            number,
            "the names or the stacks up to here are more than 2^32 bytes or frames; split the file",
        )
    }
}

pub(super) fn malformed(path: &Path, number: usize, problem: impl Into<String>) -> FormatError {
    FormatError::Malformed {
        path: path.to_owned(),
        place: format!("line {number}"),
        problem: problem.into(),
    }
}

const MOST: usize = u32::MAX as usize;

impl NamedStacks {
    /// A name as text; what is not UTF-8 is replaced, and said so once in the end.
    pub(super) fn text<'n>(&mut self, name: &'n [u8]) -> Cow<'n, str> {
        let text = String::from_utf8_lossy(name);
        self.lossy |= matches!(text, Cow::Owned(_));
        text
    }

    pub(super) fn frame(
        &mut self,
        kind: FrameKind,
        symbol: &str,
        module: &str,
    ) -> Result<LocationIx, TooMany> {
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
    pub(super) fn inlined(
        &mut self,
        symbol: &str,
        into: LocationIx,
    ) -> Result<LocationIx, TooMany> {
        self.check_room(symbol.len())?;
        let symbol = self.frames.intern_string(symbol);
        let (_, module, file) = self.frames.strings_of(FrameIx(into.0));
        let frame = self
            .frames
            .insert_columns(FrameKind::Inlined, symbol, module, file, 0);
        Ok(LocationIx(frame.0))
    }

    /// A stack, root first; an empty one becomes one frame `[unknown]`.
    pub(super) fn stack(&mut self, root_first: &[LocationIx]) -> Result<StackIx, TooMany> {
        if root_first.is_empty() {
            let unknown = self.frame(FrameKind::Unresolved, "[unknown]", "")?;
            return self.stack(&[unknown]);
        }
        self.stacks.try_insert(root_first).ok_or(TooMany)
    }

    pub(super) fn finish(self) -> Finished {
        Finished {
            locations: (0..self.frames.len() as u32)
                .map(|ix| Location::Named(FrameIx(ix)))
                .collect(),
            frames: self.frames,
            stacks: self.stacks,
            warning: self.lossy.then(|| {
                "Some names are not UTF-8; what cannot be read in them is shown as \u{fffd}."
                    .to_owned()
            }),
        }
    }

    fn check_room(&self, more_text: usize) -> Result<(), TooMany> {
        let fits = self.frames.len() < MOST && more_text <= MOST - self.frames.text_len();
        fits.then_some(()).ok_or(TooMany)
    }
}
