//! Numbers and strings as they are written in a chunk.
//!
//! Source: `jfrEncoders.hpp` of HotSpot and `RecordingInput.java` of the JDK.

use crate::error::{DecodeError, Decoded};
use std::borrow::Cow;
use sto_model::limits::MAX_NAME;

/// An offset in a file, and the end of what is read from there.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'b> {
    /// From the beginning of the file, so that offsets in it are offsets in the file.
    bytes: &'b [u8],
    at: usize,
}

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

impl<'b> Cursor<'b> {
    /// # Panics
    /// Where the offset is beyond the end.
    pub(super) fn new(bytes: &'b [u8], at: usize) -> Cursor<'b> {
        assert!(at <= bytes.len(), "an offset in the file");
        Cursor { bytes, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    /// Number of bytes up to the end.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next event; the cursor moves to its end.
    pub(super) fn event(&mut self) -> Decoded<Event<'b>> {
        let at = self.at;
        let size = self.number()?;
        let end = usize::try_from(size)
            .ok()
            .and_then(|size| at.checked_add(size));
        let whole = end
            .and_then(|end| self.bytes.get(..end))
            .filter(|whole| whole.len() > self.at);
        let Some(whole) = whole else {
            let problem = format!(
                "an event of {size} bytes; expected more than those of its size, and {} at most, up to the chunk's end",
                self.bytes.len() - at
            );
            return Err(DecodeError::new(at, problem));
        };
        let mut fields = Cursor::new(whole, self.at);
        self.at = whole.len();
        Ok(Event {
            at,
            kind: fields.number()?,
            fields,
        })
    }

    pub(super) fn byte(&mut self) -> Decoded<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn take(&mut self, length: u64) -> Decoded<&'b [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length));
        let taken = taken.ok_or_else(|| {
            let problem = format!(
                "expected a value of {length} bytes, found {}, up to the end of what holds it",
                rest.len()
            );
            DecodeError::new(self.at, problem)
        })?;
        self.at += taken.len();
        Ok(taken)
    }

    /// A compressed number: seven bits a byte, the lowest first, but eight in the ninth.
    pub(super) fn number(&mut self) -> Decoded<i64> {
        let mut number = 0;
        for byte_ix in 0..8 {
            let byte = u64::from(self.byte()?);
            number |= (byte & 0x7f) << (7 * byte_ix);
            if byte < 0x80 {
                return Ok(number as i64);
            }
        }
        Ok((number | u64::from(self.byte()?) << 56) as i64)
    }

    /// How many values follow, of which each has so many bytes at least.
    pub(super) fn count(&mut self, least: u64) -> Decoded<usize> {
        let at = self.at;
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

    pub(super) fn text(&mut self) -> Decoded<Text<'b>> {
        let at = self.at;
        Ok(match self.byte()? {
            0 => Text::Null,
            1 => Text::Utf8(b""),
            2 => Text::Pooled(self.number()?),
            3 => Text::Utf8(self.counted_bytes()?),
            4 => {
                let count = self.count(1)?;
                let units = *self;
                for _ in 0..count {
                    self.number()?;
                }
                Text::Utf16(units, count)
            }
            5 => Text::Latin1(self.counted_bytes()?),
            other => {
                let problem = format!("expected a string's encoding from 0 to 5, found {other}");
                return Err(DecodeError::new(at, problem));
            }
        })
    }

    fn counted_bytes(&mut self) -> Decoded<&'b [u8]> {
        let length = self.count(1)?;
        self.take(length as u64)
    }
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
                match bytes.is_ascii() {
                    true => Cow::Borrowed(bytes),
                    false => {
                        let text: String = bytes.iter().copied().map(char::from).collect();
                        Cow::Owned(text.into_bytes())
                    }
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
