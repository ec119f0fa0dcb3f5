//! OTLP in JSON: each export is converted to Protocol Buffers.
//!
//! So there is only one reader; an error at a byte of the message is reported at the path of the
//! JSON value that was converted to it.
//!
//! Source: <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding> and
//! <https://protobuf.dev/programming-guides/json/>.

use super::messages::{EXPORT, Field, Kind};
use super::schema::too_old;
use crate::error::Decoded;
use crate::wire::json::{Text, syntax};
use crate::wire::protobuf::{Message, MessageWriter};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Converts an export to Protocol Buffers, with the field numbers of version 1.10. `at` is its
/// offset in the file.
pub(super) fn export(text: &[u8], at: usize) -> Decoded<Vec<u8>> {
    match serde_json::from_slice(text) {
        Ok(Encoded(message)) => Ok(message.bytes),
        Err(error) => Err(syntax(text, at, &error)),
    }
}

/// The path of the JSON value that was converted to a byte of an export:
/// `dictionary.stackTable[4].locationIndices[0]`.
pub(super) fn path(export: &[u8], byte: usize) -> String {
    let mut path = String::new();
    let (mut fields, mut message) = (EXPORT, Message::from_file(export));
    let (mut start, mut separator) = (0, "");
    let mut counts = BTreeMap::new();
    // Errors in a message are at the byte of its first field.
    while byte > start
        && let Ok(Some(part)) = message.next()
    {
        let count: &mut usize = counts.entry(part.number).or_default();
        *count += 1;
        let field = fields.iter().find(|field| field.number == part.number);
        let Some(field) = field.filter(|_| byte < message.at()) else {
            continue;
        };
        let _ = write!(path, "{separator}{}", field.name);
        if field.is_list {
            let _ = write!(path, "[{}]", *count - 1);
        }
        match (field.kind, part.message()) {
            (Kind::Message(inner), Ok(inside)) => {
                (fields, message) = (inner, inside);
                (start, separator) = (inside.at(), ".");
                counts.clear();
            }
            _ => break,
        }
    }
    path
}

/// Finds the end of an object that arrives in pieces: its last closing brace.
#[derive(Default)]
pub(super) struct Value {
    seen: usize,
    depth: u32,
    is_string: bool,
    is_done: bool,
}

impl Value {
    /// Returns `true` if the object ends in this text, which begins with the text of the previous
    /// calls.
    pub(super) fn ends_in(&mut self, text: &[u8]) -> bool {
        while !self.is_done && self.seen < text.len() {
            let rest = &text[self.seen..];
            if self.is_string {
                // Skip an escaped quote together with its backslash, which may be the last byte so
                // far.
                let at = memchr::memchr2(b'"', b'\\', rest);
                match at.map(|at| &rest[at..]) {
                    None => self.seen = text.len(),
                    Some([b'\\']) => {
                        self.seen = text.len() - 1;
                        return false;
                    }
                    Some(found) => {
                        self.is_string = found[0] == b'\\';
                        let passed = 1 + usize::from(self.is_string);
                        self.seen = text.len() - found.len() + passed;
                    }
                }
                continue;
            }
            match rest[0] {
                b'"' => self.is_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_done = self.depth == 0;
                }
                _ => {}
            }
            self.seen += 1;
        }
        self.is_done
    }

    /// Length of the object in bytes.
    pub(super) fn length(&self) -> usize {
        self.seen
    }
}

/// A message in Protocol Buffers.
struct Encoded(MessageWriter);

impl<'d> Deserialize<'d> for Encoded {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Encoded, D::Error> {
        let mut out = MessageWriter::default();
        deserializer.deserialize_map(Object {
            fields: EXPORT,
            out: &mut out,
        })?;
        Ok(Encoded(out))
    }
}

/// An object whose members are the fields of a message.
struct Object<'o> {
    fields: &'static [Field],
    out: &'o mut MessageWriter,
}

impl<'d> Visitor<'d> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<(), A::Error> {
        let Object { fields, out } = self;
        while let Some(name) = map.next_key::<Text<'d>>()? {
            let field = fields
                .iter()
                .find(|field| field.name.as_bytes() == &*name.0);
            match field {
                Some(field) => map.next_value_seed(Member(One { field, out }))?,
                None => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

/// A field's value: a single value, a list, or `null`.
struct Member<'o>(One<'o>);

impl<'d> DeserializeSeed<'d> for Member<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'d> Visitor<'d> for Member<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.field.is_list {
            deserializer.deserialize_seq(self)
        } else {
            self.0.deserialize(deserializer)
        }
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<(), A::Error> {
        let One { field, out } = self.0;
        while let Some(()) = list.next_element_seed(One { field, out })? {}
        Ok(())
    }
}

struct One<'o> {
    field: &'static Field,
    out: &'o mut MessageWriter,
}

impl<'d> DeserializeSeed<'d> for One<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.field.kind {
            // Strings may be invalid UTF-8: JSON can escape lone surrogates.
            Kind::Text => deserializer.deserialize_bytes(self),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'d> Visitor<'d> for One<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.field.kind {
            Kind::Integer => "a whole number of 64 bits",
            Kind::Fixed64 => "a whole number from 0 to 2^64 - 1",
            Kind::Double => "a number",
            Kind::Bool => "true or false",
            Kind::Text => "a string",
            Kind::Bytes => "a string in base64",
            Kind::Message(_) => "an object",
        })
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        match self.field.kind {
            Kind::Bool => self.out.number_or_zero(self.field.number, value.into()),
            _ => return Err(E::invalid_type(Unexpected::Bool(value), &self)),
        }
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        match self.field.kind {
            Kind::Integer => self.out.number_or_zero(self.field.number, value),
            Kind::Fixed64 => self.out.fixed64(self.field.number, value),
            Kind::Double => return self.visit_f64(value as f64),
            _ => return Err(E::invalid_type(Unexpected::Unsigned(value), &self)),
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        match self.field.kind {
            Kind::Integer => self.out.number_or_zero(self.field.number, value as u64),
            Kind::Double => return self.visit_f64(value as f64),
            _ => return Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        match self.field.kind {
            Kind::Double => self.out.fixed64(self.field.number, value.to_bits()),
            _ => return Err(E::invalid_type(Unexpected::Float(value), &self)),
        }
        Ok(())
    }

    /// Numbers may be strings, because JavaScript's numbers have 53 bits and JSON has no infinity.
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let kind = self.field.kind;
        let whole = matches!(kind, Kind::Integer | Kind::Fixed64);
        if whole && let Ok(value) = text.parse() {
            self.visit_u64(value)
        } else if matches!(kind, Kind::Integer)
            && let Ok(value) = text.parse()
        {
            self.visit_i64(value)
        } else if matches!(kind, Kind::Double)
            && let Ok(value) = text.parse()
        {
            self.visit_f64(value)
        } else if matches!(kind, Kind::Bytes)
            && let Ok(bytes) = BASE64_STANDARD.decode(text)
        {
            self.visit_bytes(&bytes)
        } else {
            Err(E::invalid_value(Unexpected::Str(text), &self))
        }
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<(), E> {
        self.out.bytes(self.field.number, bytes);
        Ok(())
    }

    fn visit_map<A: MapAccess<'d>>(self, map: A) -> Result<(), A::Error> {
        let Kind::Message(fields) = self.field.kind else {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        };
        let mut message = MessageWriter::default();
        let out = &mut message;
        Object { fields, out }.visit_map(map)?;
        self.out.message(self.field.number, &message);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'d>>(self, _: A) -> Result<(), A::Error> {
        let found = format!("{} is a list", self.field.name);
        Err(A::Error::custom(too_old(&found)))
    }
}
