//! Numbers and strings as they are written in a chunk.
//!
//! Source: `jfrEncoders.hpp` of HotSpot and `RecordingInput.java` of the JDK.

use crate::error::{DecodeError, Decoded};
use std::borrow::Cow;
use sto_model::bytes::{Cursor, Read};
use sto_model::limits::MAX_NAME;

#[derive(Clone, Copy)]
pub(super) struct Event<'b> {
    pub(super) at: usize,
    /// The id of its type.
    pub(super) kind: i64,
    /// Its fields, up to its end.
    pub(super) fields: Cursor<'b>,
}

#[derive(Clone, Copy)]
pub(super) enum Text<'b> {
    Null,
    Utf8(&'b [u8]),
    Latin1(&'b [u8]),
    /// So many units of UTF-16, each a number.
    Utf16(Cursor<'b>, usize),
    /// The key of a string in the pool of strings.
    Pooled(i64),
}

/// Reads what chunks are made of.
pub(super) trait JfrCursor<'b> {
    /// The next event; the cursor moves to its end.
    fn event(&mut self) -> Decoded<Event<'b>>;

    /// A compressed number: seven bits a byte, the lowest first, but eight in the ninth.
    fn number(&mut self) -> Read<i64>;

    /// How many values follow, of which each has so many bytes at least.
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
    /// The string as UTF-8, or as much of it as a name may have and a byte more; none for null and
    /// for what is in the pool.
    pub(super) fn bytes(self) -> Cow<'b, [u8]> {
        // A name that many functions have is made anew for each, so it must not be long.
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
