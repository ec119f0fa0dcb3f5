//! Encoding of numbers and strings in a chunk.
//!
//! Source: `jfrEncoders.hpp` of HotSpot and `RecordingInput.java` of the JDK.

use crate::error::{DecodeError, Decoded};
use std::borrow::Cow;
use sto_model::bytes::{Cursor, Read};
use sto_model::limits::MAX_NAME;

#[derive(Clone, Copy)]
pub(super) struct Event<'b> {
    pub(super) at: usize,
    /// Id of the event's type.
    pub(super) kind: i64,
    /// The encoded fields.
    pub(super) fields: Cursor<'b>,
}

#[derive(Clone, Copy)]
pub(super) enum Text<'b> {
    Null,
    Utf8(&'b [u8]),
    Latin1(&'b [u8]),
    /// UTF-16 code units, each a compressed number, and their count.
    Utf16(Cursor<'b>, usize),
    /// The key of a string in the string pool.
    Pooled(i64),
}

/// Methods to read the encodings of JFR.
pub(super) trait JfrCursor<'b> {
    /// Reads the next event and moves to its end.
    fn event(&mut self) -> Decoded<Event<'b>>;

    /// Reads a compressed number: seven bits per byte, lowest first, but eight bits in the ninth
    /// byte.
    fn number(&mut self) -> Read<i64>;

    /// Reads the number of values that follow, each of at least `least` bytes.
    fn count(&mut self, least: u64) -> Decoded<usize>;

    fn text(&mut self) -> Decoded<Text<'b>>;
}

impl<'b> JfrCursor<'b> for Cursor<'b> {
    fn event(&mut self) -> Decoded<Event<'b>> {
        let (at, left) = (self.at(), self.left());
        let size = self.number()?;
        let length = u64::try_from(size)
            .ok()
            .and_then(|size| size.checked_sub((self.at() - at) as u64))
            .filter(|&length| length > 0 && length <= self.left() as u64);
        let Some(length) = length else {
            let problem = format!(
                "an event of {size} bytes; expected more than those of its size, and {left} at most, up to the chunk's end"
            );
            return Err(DecodeError::new(at, problem));
        };
        let mut fields = self.part(length)?;
        Ok(Event {
            at,
            kind: fields.number()?,
            fields,
        })
    }

    #[inline]
    fn number(&mut self) -> Read<i64> {
        let mut number = 0;
        for byte_ix in 0..8 {
            let byte = u64::from(self.u8()?);
            number |= (byte & 0x7f) << (7 * byte_ix);
            if byte < 0x80 {
                return Ok(number as i64);
            }
        }
        Ok((number | u64::from(self.u8()?) << 56) as i64)
    }

    fn count(&mut self, least: u64) -> Decoded<usize> {
        let at = self.at();
        let count = self.number()?;
        let fits = |&count: &usize| (count as u64).saturating_mul(least) <= self.left() as u64;
        usize::try_from(count).ok().filter(fits).ok_or_else(|| {
            let problem = format!(
                "expected a number of values that fit into the {} bytes after it, found {count}",
                self.left()
            );
            DecodeError::new(at, problem)
        })
    }

    fn text(&mut self) -> Decoded<Text<'b>> {
        let at = self.at();
        Ok(match self.u8()? {
            0 => Text::Null,
            1 => Text::Utf8(b""),
            2 => Text::Pooled(self.number()?),
            3 => Text::Utf8(counted_bytes(self)?),
            4 => {
                let count = self.count(1)?;
                let units = *self;
                for _ in 0..count {
                    self.number()?;
                }
                Text::Utf16(units, count)
            }
            5 => Text::Latin1(counted_bytes(self)?),
            other => {
                let problem = format!("expected a string's encoding from 0 to 5, found {other}");
                return Err(DecodeError::new(at, problem));
            }
        })
    }
}

fn counted_bytes<'b>(cursor: &mut Cursor<'b>) -> Decoded<&'b [u8]> {
    let length = cursor.count(1)?;
    Ok(cursor.take(length as u64)?)
}

impl<'b> Text<'b> {
    /// The string as UTF-8, cut to one byte more than a name may have; empty for null and for
    /// pooled strings.
    pub(super) fn bytes(self) -> Cow<'b, [u8]> {
        // The name is copied for every function that has it, so it must not be long.
        const LONGEST: usize = MAX_NAME + 1;
        match self {
            Text::Null | Text::Pooled(_) => Cow::Borrowed(b""),
            Text::Utf8(bytes) => Cow::Borrowed(&bytes[..bytes.len().min(LONGEST)]),
            Text::Latin1(bytes) => {
                let bytes = &bytes[..bytes.len().min(LONGEST)];
                if bytes.is_ascii() {
                    Cow::Borrowed(bytes)
                } else {
                    let text: String = bytes.iter().copied().map(char::from).collect();
                    Cow::Owned(text.into_bytes())
                }
            }
            Text::Utf16(mut units, count) => {
                let units = (0..count.min(LONGEST)).map_while(|_| units.number().ok());
                let units = units.map(|unit| unit as u16);
                let text =
                    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
                Cow::Owned(text.collect::<String>().into_bytes())
            }
        }
    }
}
