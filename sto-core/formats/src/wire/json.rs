//! JSON values as profiles contain them, and JSON errors.

use super::text::excerpt;
use crate::error::{DecodeError, Decoded};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

pub(crate) fn parse<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Decoded<T> {
    serde_json::from_slice(bytes).map_err(|error| syntax(bytes, 0, &error))
}

/// Converts a JSON error in a text that begins at byte `start` of a file.
pub(crate) fn syntax(text: &[u8], start: usize, error: &serde_json::Error) -> DecodeError {
    let lines_before = error.line().saturating_sub(1);
    let line_start = match lines_before {
        0 => 0,
        before => {
            let ends = memchr::memchr_iter(b'\n', text);
            ends.take(before).last().map_or(0, |end| end + 1)
        }
    };
    let within = (line_start + error.column()).min(text.len());
    let at = start + within;
    // A truncated number in a raw value is reported as another error than an unexpected end.
    let is_half_a_number = error.is_syntax()
        && within == text.len()
        && matches!(text.last(), Some(b'.' | b'-' | b'+' | b'e' | b'E'));
    if error.is_eof() || is_half_a_number {
        return DecodeError::cut(at, "in the middle of its JSON");
    }
    let said = error.to_string();
    let said = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(said, _)| said);
    let mut text: String = said.chars().take(200).flat_map(plain).collect();
    if said.chars().nth(200).is_some() {
        text.push_str("...");
    }
    DecodeError::new(at, text)
}

/// Escapes a character for a message of one line.
fn plain(c: char) -> impl Iterator<Item = char> {
    let escaped = (c.is_control() || c == '\u{202e}').then(|| c.escape_debug());
    let kept = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(kept)
}

/// The members of an object, in order; names may occur more than once.
pub(crate) struct Members<'b, N>(pub(crate) Vec<(N, &'b RawValue)>);

impl<'d: 'b, 'b, N: Deserialize<'d>> Deserialize<'d> for Members<'b, N> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<N>(PhantomData<N>);
        impl<'d, N: Deserialize<'d>> Visitor<'d> for Object<N> {
            type Value = Members<'d, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Members<'d, N>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object(PhantomData))
    }
}

/// A string, which may not be valid UTF-8: JavaScript strings may contain unpaired surrogates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Text<'b>(pub(crate) Cow<'b, [u8]>);

impl<'d: 'b, 'b> Deserialize<'d> for Text<'b> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'b> Visitor<'b> for Bytes {
            type Value = Text<'b>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'b [u8]) -> Result<Text<'b>, E> {
                Ok(Text(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text<'b>, E> {
                Ok(Text(Cow::Owned(bytes.to_owned())))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// Implements deserialization of a type from any of several kinds of values.
macro_rules! read_as {
    ($name:ident, $expected:literal,
     $($visit:ident($($value:ident: $type:ty)?) => $made:expr,)*) => {
        impl<'b> Deserialize<'b> for $name {
            fn deserialize<D: Deserializer<'b>>(deserializer: D) -> Result<Self, D::Error> {
                struct Any;
                impl Visitor<'_> for Any {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    $(fn $visit<E>(self $(, $value: $type)?) -> Result<$name, E> {
                        Ok($made)
                    })*
                }
                deserializer.deserialize_any(Any)
            }
        }
    };
}

/// A name that may be written as a number, such as a process or thread id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) String);

read_as! { Id, "a number or a string",
    visit_u64(id: u64) => Id(id.to_string()),
    visit_i64(id: i64) => Id(id.to_string()),
    visit_f64(id: f64) => Id(id.to_string()),
    visit_str(id: &str) => Id(id.to_owned()),
    visit_unit() => Id::default(),
}

impl Id {
    /// The number that the id begins with; see [`leading_number`].
    pub(crate) fn number(&self) -> u32 {
        leading_number(&self.0)
    }
}

/// The number that an id begins with, or 0. Some viewers call a second thread of one id `773.1`.
pub(crate) fn leading_number(id: &str) -> u32 {
    let digits = id.bytes().take_while(u8::is_ascii_digit).count();
    id[..digits].parse().unwrap_or(0)
}

/// A number as it is written; integers stay exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Whole(u64),
    Negative(i64),
    Fraction(f64),
}

read_as! { Number, "a number",
    visit_u64(number: u64) => Number::Whole(number),
    visit_i64(number: i64) => Number::Negative(number),
    visit_f64(number: f64) => Number::Fraction(number),
}

impl Number {
    /// The number times `factor`, rounded; `None` if the product exceeds 96 bits.
    pub(crate) fn multiply(self, factor: u64) -> Option<i128> {
        const MOST: f64 = (1u128 << 96) as f64;
        match self {
            Number::Whole(number) => Some(i128::from(number) * i128::from(factor)),
            Number::Negative(number) => Some(i128::from(number) * i128::from(factor)),
            Number::Fraction(number) => {
                let product = (number * factor as f64).round();
                (product.abs() < MOST).then_some(product as i128)
            }
        }
    }

    pub(crate) fn is_negative(self) -> bool {
        match self {
            Number::Whole(_) => false,
            Number::Negative(number) => number < 0,
            Number::Fraction(number) => number < 0.0,
        }
    }

    pub(crate) fn magnitude(self) -> Number {
        match self {
            Number::Whole(_) => self,
            Number::Negative(number) => Number::Whole(number.unsigned_abs()),
            Number::Fraction(number) => Number::Fraction(number.abs()),
        }
    }

    /// The number times `factor`, rounded, or an error if it is negative or exceeds 64 bits.
    pub(crate) fn weight(self, factor: u64, at: impl FnOnce() -> String) -> Decoded<u64> {
        let product = self.multiply(factor);
        let weight = product.and_then(|product| u64::try_from(product).ok());
        weight.ok_or_else(|| {
            let when = match factor {
                1 => String::new(),
                _ => format!(" when multiplied by {factor}"),
            };
            let problem = format!(
                "{self}; expected a number from 0 to 2^64 - 1{when}: negative ones are in differences of \
                 two profiles; use the two profiles it was made from"
            );
            DecodeError::new(at(), problem)
        })
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(number) => number.fmt(f),
            Number::Negative(number) => number.fmt(f),
            Number::Fraction(number) => write!(f, "{number:e}"),
        }
    }
}

/// The entry of a table at an index from the file; `at` is the path of the index, for messages.
pub(crate) fn entry<'t, T>(
    table: &'t [T],
    index: i64,
    name: &str,
    at: impl FnOnce() -> String,
) -> Decoded<&'t T> {
    let entry = usize::try_from(index).ok().and_then(|ix| table.get(ix));
    entry.ok_or_else(|| DecodeError::index_out_of_range(at(), name, table.len(), index))
}

/// Checks that a column has as many entries as another.
pub(crate) fn same_length(
    found: usize,
    (expected, other): (usize, &str),
    at: impl FnOnce() -> String,
) -> Decoded<()> {
    if found == expected {
        Ok(())
    } else {
        Err(DecodeError::new(
            at(),
            format!("{found} entries; expected {expected}, as many as `{other}` has"),
        ))
    }
}

/// The keys, without quotes, of the object that a file begins with, as far as `bytes` contains
/// them.
pub(crate) fn first_keys(bytes: &[u8]) -> Vec<&[u8]> {
    let mut keys = Vec::new();
    let (mut depth, mut at) = (0u32, 0);
    let mut is_key = false;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 && byte == b'[' {
                    return keys;
                }
                is_key = depth == 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return keys;
                }
            }
            b',' => is_key = depth == 1,
            b'"' => {
                let Some(length) = string_length(&bytes[at..]) else {
                    return keys;
                };
                if is_key {
                    keys.push(&bytes[at..at + length]);
                    is_key = false;
                }
                at += length + 1;
            }
            _ if depth == 0 && !byte.is_ascii_whitespace() => return keys,
            _ => {}
        }
    }
    keys
}

/// Length of a string up to its closing quote, if `bytes` contains that.
pub(crate) fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at = (at + 2).min(bytes.len());
    }
}

/// A name from the file, quoted for a message.
pub(crate) fn quote_name(text: &Text<'_>) -> String {
    excerpt(&text.0)
}
