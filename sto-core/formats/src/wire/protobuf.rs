//! The wire format of Protocol Buffers: the fields of a message, read in place.
//!
//! Profiles consist mostly of samples, and a sample is a few dozen small numbers. Reading them in
//! place takes no memory, and errors can name the byte.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

use crate::error::{DecodeError, Decoded};
use sto_model::bytes::{Cursor, Read, push_varint};

/// A message and the position in it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Message<'b>(Cursor<'b>);

/// A field of a message.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Field<'b> {
    /// The field number in the schema.
    pub number: u32,
    /// Offset of the field in the file.
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
    /// Makes a message of all bytes of a file.
    pub fn from_file(bytes: &'b [u8]) -> Message<'b> {
        Message(Cursor::new(bytes))
    }

    /// Makes a message of a part of the file that begins at byte `at`.
    pub(crate) fn from_part(bytes: &'b [u8], at: usize) -> Message<'b> {
        Message(Cursor::from_part(bytes, at))
    }

    /// Offset in the file of the unread part.
    pub(crate) fn at(&self) -> usize {
        self.0.at()
    }

    /// The bytes of the unread part.
    pub fn bytes(&self) -> &'b [u8] {
        self.0.rest()
    }

    /// The fields; after an error, no more of them can be read.
    pub fn fields(mut self) -> impl Iterator<Item = Result<Field<'b>, DecodeError>> {
        std::iter::from_fn(move || self.next().transpose())
    }

    /// The next field; `None` after the last.
    pub(crate) fn next(&mut self) -> Decoded<Option<Field<'b>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let at = self.at();
        let tag = self.0.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        if number == 0 {
            return Err(DecodeError::new(
                at,
                "expected a field's number, found none that may be",
            ));
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.0.varint()?),
            1 => Value::Fixed64(self.0.u64()?),
            2 => {
                let length = self.0.varint()?;
                Value::Bytes(Message(self.0.part(length)?))
            }
            5 => Value::Fixed32(self.0.u32()?),
            _ => {
                return Err(DecodeError::new(
                    at,
                    "expected a field, found a wire type that no field has",
                ));
            }
        };
        Ok(Some(Field { number, at, value }))
    }

    /// The bytes read between the state `before` and this one.
    pub(crate) fn bytes_since(&self, before: &Message<'b>) -> &'b [u8] {
        &before.bytes()[..self.at() - before.at()]
    }

    /// The number of the next field, if it is a message, and the available part of that message;
    /// for files that are not complete.
    pub(crate) fn partial_message(&self) -> Option<(u32, Message<'b>)> {
        let Message(mut rest) = *self;
        let tag = rest.varint().ok()?;
        let length = rest.varint().ok()?;
        let number = u32::try_from(tag >> 3).ok()?;
        let message = rest.part(length.min(rest.left() as u64)).ok()?;
        (tag & 7 == 2).then_some((number, Message(message)))
    }
}

impl<'b> Field<'b> {
    /// The value of a field that is a number.
    pub fn number(&self) -> Result<u64, DecodeError> {
        match self.value {
            Value::Varint(value) | Value::Fixed64(value) => Ok(value),
            Value::Fixed32(value) => Ok(value.into()),
            Value::Bytes(_) => Err(self.unexpected("expected a number, found text or a message")),
        }
    }

    /// The value of a field that is a message, a string or bytes.
    pub fn message(&self) -> Result<Message<'b>, DecodeError> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(self.unexpected("expected a message, found a number")),
        }
    }

    /// The value of a field that is a string or bytes.
    pub fn bytes(&self) -> Result<&'b [u8], DecodeError> {
        Ok(self.message()?.bytes())
    }

    /// Appends the values of a repeated integer field, packed or not.
    pub fn numbers_into(&self, numbers: &mut Vec<u64>) -> Result<(), DecodeError> {
        self.values_into(numbers, Cursor::varint)
    }

    /// Appends the values of a repeated eight-byte field, packed or not.
    pub(crate) fn fixed64_into(&self, numbers: &mut Vec<u64>) -> Decoded<()> {
        self.values_into(numbers, Cursor::u64)
    }

    #[inline]
    fn values_into(
        &self,
        numbers: &mut Vec<u64>,
        read: impl Fn(&mut Cursor<'b>) -> Read<u64>,
    ) -> Decoded<()> {
        match self.value {
            Value::Bytes(Message(mut packed)) => {
                while !packed.is_empty() {
                    numbers.push(read(&mut packed)?);
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

/// A value that fields of one number are read into.
pub(crate) trait FromField<'b> {
    /// Reads a field; a list appends it.
    fn take(&mut self, field: &Field<'b>) -> Decoded<()>;
}

/// Reads the fields of a message that have the given numbers.
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

/// A writer of messages.
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct MessageWriter {
    /// The encoded fields.
    pub bytes: Vec<u8>,
}

impl MessageWriter {
    /// Writes an integer unless it is zero, the default of missing fields.
    pub fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.number_or_zero(field, value);
        }
    }

    /// Writes an integer, even zero; negative values as two's complement.
    pub fn number_or_zero(&mut self, field: u32, value: u64) {
        self.tag(field, 0);
        push_varint(&mut self.bytes, value);
    }

    /// Writes an eight-byte number.
    pub fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a string or bytes.
    pub fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.head(field, bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes the key and length of a field of `length` bytes that follow.
    pub fn head(&mut self, field: u32, length: usize) {
        self.tag(field, 2);
        push_varint(&mut self.bytes, length as u64);
    }

    /// Writes a message.
    pub fn message(&mut self, field: u32, message: &MessageWriter) {
        self.bytes(field, &message.bytes);
    }

    /// Writes a packed repeated integer.
    pub fn numbers(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        let mut packed = Vec::new();
        for number in numbers {
            push_varint(&mut packed, number);
        }
        self.bytes(field, &packed);
    }

    fn tag(&mut self, field: u32, wire_type: u64) {
        push_varint(&mut self.bytes, u64::from(field) << 3 | wire_type);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use sto_model::bytes::CursorError;

    fn problem_of(bytes: &[u8]) -> DecodeError {
        let mut message = Message::from_file(bytes);
        loop {
            match message.next() {
                Ok(field) => assert!(field.is_some(), "{bytes:?} is well-formed"),
                Err(error) => return error,
            }
        }
    }

    #[test]
    fn rejects_field_that_ends_after_its_message() {
        let ends = |at, end, limit| DecodeError::from(CursorError::EndsEarly { at, end, limit });
        assert_eq!(problem_of(&[0x0a, 5, b'a']), ends(2, 7, 3));
        assert_eq!(problem_of(&[0x08, 0x80]), ends(1, 3, 2));
        assert_eq!(problem_of(&[0x08, 1, 0x09, 0]), ends(3, 11, 4));
    }

    #[test]
    fn written_messages_round_trip() {
        let mut out = MessageWriter::default();
        for value in [0, 127, 128, u64::MAX] {
            out.number_or_zero(3, value);
            out.number(4, 0);
            out.fixed64(100, value);
        }
        out.numbers(5, [1, 300]);
        let long = [7; 300];
        let mut inner = MessageWriter::default();
        inner.bytes(1, &long);
        out.message(2, &inner);
        let mut message = Message::from_file(&out.bytes);
        let mut next = || message.next().unwrap().unwrap();
        for value in [0, 127, 128, u64::MAX] {
            for number in [3, 100] {
                let field = next();
                assert_eq!((field.number, field.number()), (number, Ok(value)));
            }
        }
        let mut packed = Vec::new();
        next().numbers_into(&mut packed).unwrap();
        assert_eq!(packed, [1, 300]);
        let mut outer = next().message().unwrap();
        let inner = outer.next().unwrap().unwrap();
        assert_eq!((inner.number, inner.bytes()), (1, Ok(&long[..])));
        assert!(message.bytes().is_empty());
    }

    #[test]
    fn rejects_invalid_fields() {
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
