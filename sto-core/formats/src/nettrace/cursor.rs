//! Numbers and texts of a part of the file, one after the other.

use crate::error::{DecodeError, Decoded};

#[derive(Clone, Copy)]
pub(super) struct Cursor<'b> {
    rest: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    pub(super) fn of_file(bytes: &'b [u8]) -> Cursor<'b> {
        Cursor { rest: bytes, at: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Where in the file the rest begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn bytes(&mut self, length: usize) -> Decoded<&'b [u8]> {
        Ok(self.part(length)?.rest)
    }

    /// The next bytes, to be read by themselves.
    pub(super) fn part(&mut self, length: usize) -> Decoded<Cursor<'b>> {
        let Some((rest, behind)) = self.rest.split_at_checked(length) else {
            let end = (self.at as u64).saturating_add(length as u64);
            return Err(DecodeError::ends_at(self.at, end));
        };
        let part = Cursor { rest, at: self.at };
        self.rest = behind;
        self.at += length;
        Ok(part)
    }

    /// Passes over what is in front of the next multiple of four bytes of the file.
    pub(super) fn align(&mut self) -> Decoded<()> {
        self.bytes(self.at.wrapping_neg() % 4).map(|_| ())
    }

    /// A little-endian number of up to eight bytes.
    pub(super) fn number(&mut self, bytes: usize) -> Decoded<u64> {
        let bytes = self.bytes(bytes)?.iter().rev();
        Ok(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub(super) fn size(&mut self) -> Decoded<usize> {
        self.number(4).map(|size| size as usize)
    }

    /// A number of seven bits a byte, the lowest first.
    pub(super) fn varint(&mut self) -> Decoded<u64> {
        let (at, mut number) = (self.at, 0);
        for shift in (0..64).step_by(7) {
            let byte = self.number(1)?;
            let bits = byte & 0x7f;
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError::new(
            at,
            "expected a number of at most 64 bits, found a longer one",
        ))
    }

    /// Text in UTF-16 up to a zero.
    pub(super) fn text(&mut self) -> Decoded<String> {
        let mut units = self
            .rest
            .chunks_exact(2)
            .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let length = units.position(|unit| unit == 0);
        // One that lacks its end cannot be read to it.
        let length = length.unwrap_or(self.rest.len());
        let text = self.bytes(2 * length)?;
        self.bytes(2)?;
        let units = text
            .chunks_exact(2)
            .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let characters = char::decode_utf16(units);
        Ok(characters
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let of = |last: u8| {
            let bytes = [&[0xff; 9][..], &[last]].concat();
            Cursor::of_file(&bytes).varint()
        };
        assert_eq!(of(1).unwrap(), u64::MAX);
        assert!(of(2).is_err());
    }
}
