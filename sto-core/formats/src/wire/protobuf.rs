//! The wire format of Protocol Buffers: the fields of a message, without copying any.
//!
//! Profiles are mostly samples, and a sample is a few dozen small numbers. Read in place, they need
//! no memory of their own, and a damaged one is named by its byte.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

use crate::error::{DecodeError, Decoded};

/// A message that is being read: its bytes, and where in the file they stand.
#[derive(Clone, Copy)]
pub(crate) struct Message<'b> {
    rest: &'b [u8],
    at: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Field<'b> {
    /// The number that the schema gives it.
    pub(crate) number: u32,
    /// Where it begins in the file.
    pub(crate) at: usize,
    value: Value<'b>,
}

#[derive(Clone, Copy)]
enum Value<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(Message<'b>),
}

impl<'b> Message<'b> {
    pub(crate) fn of_file(bytes: &'b [u8]) -> Message<'b> {
        Message { rest: bytes, at: 0 }
    }

    /// A part of the file that begins at this byte.
    pub(crate) fn of_part(bytes: &'b [u8], at: usize) -> Message<'b> {
        Message { rest: bytes, at }
    }

    /// Where the unread part begins in the file.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn bytes(&self) -> &'b [u8] {
        self.rest
    }

    /// The next field; `None` after the last.
    pub(crate) fn next(&mut self) -> Decoded<Option<Field<'b>>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let at = self.at;
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        if number == 0 {
            return Err(DecodeError::new(
                at,
                "expected a field's number, found none that may be",
            ));
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => {
                return Err(DecodeError::new(
                    at,
                    "expected a field, found a wire type that no field has",
                ));
            }
        };
        Ok(Some(Field { number, at, value }))
    }

    /// The bytes that were read since this message was as it was before.
    pub(crate) fn since(&self, before: &Message<'b>) -> &'b [u8] {
        &before.rest[..before.rest.len() - self.rest.len()]
    }

    /// The number of the next field if it is a message, and as much of that message as is there: of a
    /// file that is not whole.
    pub(crate) fn begun(&self) -> Option<(u32, Message<'b>)> {
        let mut message = *self;
        let tag = message.varint().ok()?;
        let length = usize::try_from(message.varint().ok()?).unwrap_or(usize::MAX);
        let number = u32::try_from(tag >> 3).ok()?;
        message.rest = &message.rest[..length.min(message.rest.len())];
        (tag & 7 == 2).then_some((number, message))
    }

    #[inline]
    fn varint(&mut self) -> Decoded<u64> {
        if let Some((&byte @ ..0x80, rest)) = self.rest.split_first() {
            (self.rest, self.at) = (rest, self.at + 1);
            return Ok(byte.into());
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Decoded<u64> {
        let mut value = 0;
        for (ix, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * ix);
            if byte < 0x80 {
                self.skip(ix + 1);
                return Ok(value);
            }
        }
        Err(match self.rest.len() {
            ..10 => DecodeError::ends_at(self.at, (self.at + self.rest.len() + 1) as u64),
            _ => DecodeError::new(
                self.at,
                "expected a number of at most 10 bytes, found a longer one",
            ),
        })
    }

    fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let taken = self.take(N as u64)?;
        Ok(*taken.rest.first_chunk().expect("as many bytes were taken"))
    }

    fn take(&mut self, length: u64) -> Decoded<Message<'b>> {
        let here = usize::try_from(length).ok();
        let Some(taken) = here.and_then(|length| self.rest.get(..length)) else {
            let end = (self.at as u64).saturating_add(length);
            return Err(DecodeError::ends_at(self.at, end));
        };
        let taken = Message {
            rest: taken,
            at: self.at,
        };
        self.skip(taken.rest.len());
        Ok(taken)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.at += bytes;
    }
}

impl<'b> Field<'b> {
    pub(crate) fn number(&self) -> Decoded<u64> {
        match self.value {
            Value::Varint(value) | Value::Fixed64(value) => Ok(value),
            Value::Fixed32(value) => Ok(value.into()),
            Value::Bytes(_) => Err(self.unexpected("expected a number, found text or a message")),
        }
    }

    /// The value of a field that is a message, a string or bytes.
    pub(crate) fn message(&self) -> Decoded<Message<'b>> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(self.unexpected("expected a message, found a number")),
        }
    }

    /// The value of a field that is a string or bytes.
    pub(crate) fn bytes(&self) -> Decoded<&'b [u8]> {
        Ok(self.message()?.rest)
    }

    /// Adds the values of a repeated integer field, packed or not.
    pub(crate) fn numbers_into(&self, numbers: &mut Vec<u64>) -> Decoded<()> {
        match self.value {
            Value::Bytes(mut packed) => {
                while !packed.rest.is_empty() {
                    numbers.push(packed.varint()?);
                }
            }
            _ => numbers.push(self.number()?),
        }
        Ok(())
    }

    /// Adds the values of a repeated field of eight bytes each, packed or not.
    pub(crate) fn fixed64_into(&self, numbers: &mut Vec<u64>) -> Decoded<()> {
        match self.value {
            Value::Bytes(mut packed) => {
                while !packed.rest.is_empty() {
                    numbers.push(u64::from_le_bytes(packed.array()?));
                }
            }
            _ => numbers.push(self.number()?),
        }
        Ok(())
    }

    fn unexpected(&self, problem: &'static str) -> DecodeError {
        DecodeError::new(self.at, problem)
    }
}

/// What the fields of one number are read into.
pub(crate) trait FromField<'b> {
    /// Takes a field; a list takes one after the other.
    fn take(&mut self, field: &Field<'b>) -> Decoded<()>;
}

/// Reads those fields of a message that have these numbers.
macro_rules! fields {
    ($message:expr, { $($number:literal => $into:expr),* $(,)? }) => {{
        let mut message = $message;
        while let Some(field) = message.next()? {
            match field.number {
                $($number => $crate::wire::protobuf::FromField::take(&mut $into, &field)?,)*
                _ => {}
            }
        }
    }};
}
pub(crate) use fields;

impl FromField<'_> for u64 {
    fn take(&mut self, field: &Field<'_>) -> Decoded<()> {
        *self = field.number()?;
        Ok(())
    }
}

impl FromField<'_> for Vec<u64> {
    fn take(&mut self, field: &Field<'_>) -> Decoded<()> {
        field.numbers_into(self)
    }
}

impl<'b> FromField<'b> for Vec<&'b [u8]> {
    fn take(&mut self, field: &Field<'b>) -> Decoded<()> {
        self.push(field.bytes()?);
        Ok(())
    }
}

impl<'b> FromField<'b> for Vec<Message<'b>> {
    fn take(&mut self, field: &Field<'b>) -> Decoded<()> {
        self.push(field.message()?);
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

/// Bytes for the length of a part, which is known once the part is written: a number may have zeros in
/// front.
const LENGTH: usize = 5;

impl Writer {
    /// Writes an integer field; negative ones as their two's complement.
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    /// Writes a field of eight bytes.
    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a field that is a message, a string or bytes: what `write` adds.
    pub(crate) fn part<T>(&mut self, field: u32, write: impl FnOnce(&mut Writer) -> T) -> T {
        self.varint(u64::from(field) << 3 | 2);
        let start = self.bytes.len() + LENGTH;
        self.bytes.resize(start, 0);
        let written = write(self);
        let length = self.bytes.len() - start;
        for (ix, byte) in self.bytes[start - LENGTH..start].iter_mut().enumerate() {
            *byte = (length >> (7 * ix)) as u8 | 0x80;
        }
        self.bytes[start - 1] &= 0x7f;
        written
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn problem_of(bytes: &[u8]) -> DecodeError {
        let mut message = Message::of_file(bytes);
        loop {
            match message.next() {
                Ok(field) => assert!(field.is_some(), "{bytes:?} is well-formed"),
                Err(error) => return error,
            }
        }
    }

    #[test]
    fn a_field_that_ends_behind_its_message_is_named_with_its_end() {
        assert_eq!(problem_of(&[0x0a, 5, b'a']), DecodeError::ends_at(2, 7));
        assert_eq!(problem_of(&[0x08, 0x80]), DecodeError::ends_at(1, 3));
        assert_eq!(problem_of(&[0x08, 1, 0x09, 0]), DecodeError::ends_at(3, 11));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut out = Writer::default();
        for value in [0, 127, 128, u64::MAX] {
            out.number(3, value);
            out.fixed64(100, value);
        }
        let long = [7; 300];
        out.part(2, |out| {
            out.part(1, |out| out.bytes.extend_from_slice(&long))
        });
        let mut message = Message::of_file(&out.bytes);
        let mut next = || message.next().unwrap().unwrap();
        for value in [0, 127, 128, u64::MAX] {
            for number in [3, 100] {
                let field = next();
                assert_eq!((field.number, field.number()), (number, Ok(value)));
            }
        }
        let mut outer = next().message().unwrap();
        let inner = outer.next().unwrap().unwrap();
        assert_eq!((inner.number, inner.bytes()), (1, Ok(&long[..])));
        assert!(message.bytes().is_empty());
    }

    #[test]
    fn bytes_that_are_no_message_are_refused_where_they_stand() {
        let long = [&[0x08][..], &[0xff; 11]].concat();
        for (bytes, expected) in [
            (&[0x00, 1][..], "x: byte 0: expected a field"),
            (&[0x0b], "x: byte 0: expected a field"),
            (&[0x0e], "x: byte 0: expected a field"),
            (&[0x07], "x: byte 0: expected a field"),
            (&long, "x: byte 1: expected a number"),
        ] {
            let error = problem_of(bytes).in_file(Path::new("x"), bytes.len());
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }
}
