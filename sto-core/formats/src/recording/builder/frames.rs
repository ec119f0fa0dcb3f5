//! Names, frames and locations of a recording under construction.

use super::RecordingBuilder;
use crate::recording::parts::{Built, RecordingError, check_index, text_prefix};
use crate::recording::{Location, LocationIx, ModuleIx};
use std::borrow::Cow;
use sto_model::limits::{MAX_NAME, truncate_text};
use sto_model::{Frame, FrameIx, FrameKind, FrameRow};

const MOST: usize = u32::MAX as usize;

impl RecordingBuilder {
    /// Converts a name to text. Invalid UTF-8 is replaced and long names are cut; one warning says
    /// so for the whole recording.
    pub(crate) fn text<'n>(&mut self, name: &'n [u8]) -> Cow<'n, str> {
        let kept = text_prefix(name);
        let mut text = String::from_utf8_lossy(kept);
        if name.len() > MAX_NAME {
            self.cut = true;
            truncate_text(text.to_mut(), MAX_NAME);
        } else if let Cow::Owned(text) = &mut text {
            self.lossy = true;
            // One invalid byte became three.
            truncate_text(text, MAX_NAME);
        }
        text
    }

    /// Adds a function without source file and line.
    pub(crate) fn function(
        &mut self,
        kind: FrameKind,
        symbol: &str,
        module: &str,
    ) -> Built<LocationIx> {
        self.frame(Frame {
            module,
            symbol,
            kind,
            file: "",
            line: 0,
        })
    }

    /// Adds a frame as the format names it, or finds it.
    ///
    /// # Errors
    /// Returns an error if all names together reach 2^32 bytes.
    pub fn frame(&mut self, frame: Frame<'_>) -> Result<LocationIx, RecordingError> {
        self.check_room(frame.symbol.len() + frame.module.len() + frame.file.len())?;
        let frame = self.frames.insert(frame);
        Ok(self.location_of(frame))
    }

    /// Adds a function that was inlined into another one, in the same module.
    pub(crate) fn inlined(&mut self, symbol: &str, into: LocationIx) -> Built<LocationIx> {
        self.check_room(symbol.len())?;
        let Location::Named(into) = self.locations[into.get()] else {
            return self.function(FrameKind::Inlined, symbol, "");
        };
        let row = FrameRow {
            kind: FrameKind::Inlined,
            symbol: self.frames.intern_string(symbol),
            line: 0,
            ..self.frames.row(into)
        };
        let frame = self.frames.insert_row(row);
        Ok(self.location_of(frame))
    }

    /// Adds the inlined variant of a function.
    pub(crate) fn as_inlined(&mut self, location: LocationIx) -> Built<LocationIx> {
        self.check_room(0)?;
        let Location::Named(frame) = self.locations[location.get()] else {
            return Ok(location);
        };
        let row = FrameRow {
            kind: FrameKind::Inlined,
            ..self.frames.row(frame)
        };
        let frame = self.frames.insert_row(row);
        Ok(self.location_of(frame))
    }

    /// Adds the same function at another line.
    pub(crate) fn at_line(&mut self, location: LocationIx, line: u32) -> Built<LocationIx> {
        self.check_room(0)?;
        let Location::Named(frame) = self.locations[location.get()] else {
            return Ok(location);
        };
        let row = self.frames.row(frame);
        let frame = self.frames.insert_row(FrameRow { line, ..row });
        Ok(self.location_of(frame))
    }

    /// Adds an address in a module, to be symbolized later. Subtract one from return addresses.
    ///
    /// # Errors
    /// Returns an error if the module is from another builder.
    pub fn address(
        &mut self,
        module: ModuleIx,
        address: u64,
    ) -> Result<LocationIx, RecordingError> {
        check_index("an address", module.0, ("modules", self.modules.len()))?;
        self.unnamed_location(Location::Address { module, address })
    }

    /// Adds a location that has no name, or finds it.
    pub(crate) fn unnamed_location(&mut self, location: Location) -> Built<LocationIx> {
        self.check_room(0)?;
        if let Some(&known) = self.nameless.get(&location) {
            return Ok(known);
        }
        let ix = self.push_location(location);
        self.nameless.insert(location, ix);
        Ok(ix)
    }

    fn location_of(&mut self, frame: FrameIx) -> LocationIx {
        if frame.get() == self.of_frame.len() {
            let location = self.push_location(Location::Named(frame));
            self.of_frame.push(location);
        }
        self.of_frame[frame.get()]
    }

    fn push_location(&mut self, location: Location) -> LocationIx {
        self.locations.push(location);
        LocationIx(self.locations.len() as u32 - 1)
    }

    fn check_room(&self, more_text: usize) -> Built<()> {
        let fits = self.locations.len() < MOST && more_text <= MOST - self.frames.text_len();
        fits.then_some(()).ok_or_else(|| {
            RecordingError::new(
                "the distinct names up to here are more than 2^32 bytes; split the file",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_more_text_than_indices_reach() {
        let named = RecordingBuilder::default();
        assert_eq!(named.check_room(MOST), Ok(()));
        assert!(named.check_room(MOST + 1).is_err());
    }
}
