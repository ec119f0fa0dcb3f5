//! What the formats that are written in JSON share.
//!
#![doc = include_str!("json.md")]

mod spans;
mod threads;
mod tree;

pub(super) use spans::Spans;
pub(super) use threads::Threads;
pub(super) use tree::{CallTree, Caller};

use super::named::{Limit, NamedStacks};
use super::source::Source;
use super::{Format, FormatError, Salvage, excerpt};
use crate::id::SourceDigest;
use crate::model::Origin;
use crate::recording::{Process, Recording, Sample, Thread};
use crate::units::{Bytes, SampleType};
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// What is wrong with a file, and where: `byte 12`, `threads[0].samples.stack[5]`.
#[derive(Debug)]
pub(super) enum Damage {
    At {
        place: String,
        problem: String,
    },
    /// The file ends too soon: where, and in the middle of what.
    Cut(String),
}

impl Damage {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Damage {
        Damage::At {
            place: place.into(),
            problem: problem.into(),
        }
    }

    /// A file that ends at a byte in the middle of its JSON, or whatever it is written in.
    pub(super) fn cut(at: impl fmt::Display, language: &str) -> Damage {
        Damage::Cut(format!(
            "the file ends at byte {at}, in the middle of its {language}"
        ))
    }

    /// An index that is not in its table.
    pub(super) fn index(place: impl Into<String>, table: &str, length: usize, ix: i64) -> Damage {
        let problem = format!(
            "{ix}; expected an index of {table}, which has {length} entries; was the file edited?"
        );
        Damage::new(place, problem)
    }

    /// Says what the place is a place of, where that is not the file.
    pub(super) fn of(self, what: &str) -> Damage {
        match self {
            Damage::At { place, problem } => Damage::new(format!("{place} of {what}"), problem),
            Damage::Cut(_) => Damage::new(what, "it ends in the middle of a value"),
        }
    }

    pub(super) fn in_file(self, path: &Path) -> FormatError {
        let path = path.to_owned();
        match self {
            Damage::At { place, problem } => FormatError::Malformed {
                path,
                place,
                problem,
            },
            Damage::Cut(cut) => FormatError::Truncated {
                path,
                cut,
                salvage: Salvage::Impossible,
            },
        }
    }

    /// Adds the place to a limit that is passed there.
    pub(super) fn limit(place: impl Into<String>) -> impl FnOnce(Limit) -> Damage {
        move |limit| Damage::new(place, limit)
    }
}

/// Reads all of `bytes` as one value.
pub(super) fn parse<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, Damage> {
    serde_json::from_slice(bytes).map_err(|error| syntax(bytes, 0, &error))
}

/// What is wrong with JSON, of which `bytes[start..]` was read.
pub(super) fn syntax(bytes: &[u8], start: usize, error: &serde_json::Error) -> Damage {
    let lines_before = error.line().saturating_sub(1);
    let line_start = match lines_before {
        0 => 0,
        before => {
            let ends = memchr::memchr_iter(b'\n', &bytes[start..]);
            ends.take(before).last().map_or(0, |end| end + 1)
        }
    };
    let at = (start + line_start + error.column()).min(bytes.len());
    if error.is_eof() {
        return Damage::cut(at, "JSON");
    }
    let said = error.to_string();
    let said = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(said, _)| said);
    let mut text: String = said.chars().take(200).flat_map(plain).collect();
    if said.chars().nth(200).is_some() {
        text.push_str("...");
    }
    Damage::new(format!("byte {at}"), text)
}

/// A character of a message, made fit for one line.
fn plain(c: char) -> impl Iterator<Item = char> {
    let escaped = (c.is_control() || c == '\u{202e}').then(|| c.escape_debug());
    let kept = escaped.is_none().then_some(c);
    escaped.into_iter().flatten().chain(kept)
}

/// The parts of a [`Recording`] that a format in JSON fills.
pub(super) struct Parts {
    pub(super) origin: Origin,
    pub(super) sample_types: Vec<SampleType>,
    pub(super) processes: Vec<Process>,
    pub(super) threads: Vec<Thread>,
    pub(super) modules: Vec<crate::recording::Module>,
    pub(super) named: NamedStacks,
    pub(super) samples: Vec<Sample>,
    pub(super) warnings: Vec<String>,
}

/// Reads a file with `parts`, and digests it meanwhile.
pub(super) fn recording(
    source: &Source<'_>,
    format: Format,
    parts: impl FnOnce(&[u8]) -> Result<Parts, Damage> + Send,
) -> Result<Recording, FormatError> {
    let &Source { path, bytes, .. } = source;
    let (digest, parts) = rayon::join(|| SourceDigest::of(bytes), || parts(bytes));
    let Parts {
        origin,
        sample_types,
        processes,
        threads,
        modules,
        named,
        mut samples,
        warnings,
    } = parts.map_err(|damage| damage.in_file(path))?;
    samples.sort_by_key(|sample| sample.time);
    let stacks = named.finish();
    Ok(Recording {
        format,
        source: digest,
        source_bytes: Bytes(bytes.len() as u64),
        origin,
        sample_types,
        processes,
        threads,
        modules,
        locations: stacks.locations,
        named: stacks.frames,
        stacks: stacks.stacks,
        samples,
        lost: 0,
        warnings: stacks.warnings.into_iter().chain(warnings).collect(),
    })
}

/// A string, which may not be text: JavaScript's hold halves of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'b>(pub(super) Cow<'b, [u8]>);

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

/// A name that may be written as a number, as ids of processes and threads are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(pub(super) String);

impl<'b> Deserialize<'b> for Id {
    fn deserialize<D: Deserializer<'b>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a string")
            }

            fn visit_u64<E>(self, id: u64) -> Result<Id, E> {
                Ok(Id(id.to_string()))
            }

            fn visit_i64<E>(self, id: i64) -> Result<Id, E> {
                Ok(Id(id.to_string()))
            }

            fn visit_f64<E>(self, id: f64) -> Result<Id, E> {
                Ok(Id(id.to_string()))
            }

            fn visit_str<E>(self, id: &str) -> Result<Id, E> {
                Ok(Id(id.to_owned()))
            }

            fn visit_unit<E>(self) -> Result<Id, E> {
                Ok(Id::default())
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Id {
    /// The number that it begins with, else 0: viewers tell a second thread of one id by `773.1`.
    pub(super) fn number(&self) -> u32 {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        self.0[..digits].parse().unwrap_or(0)
    }
}

/// A number as it is written: whole ones stay exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(u64),
    Negative(i64),
    Fraction(f64),
}

impl<'b> Deserialize<'b> for Number {
    fn deserialize<D: Deserializer<'b>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number::Whole(number))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number::Negative(number))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number::Fraction(number))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Number {
    /// The number times `factor`, rounded; `None` where it leaves 96 bits.
    pub(super) fn times(self, factor: u64) -> Option<i128> {
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

    pub(super) fn is_negative(self) -> bool {
        match self {
            Number::Whole(_) => false,
            Number::Negative(number) => number < 0,
            Number::Fraction(number) => number < 0.0,
        }
    }

    /// The number without its sign.
    pub(super) fn magnitude(self) -> Number {
        match self {
            Number::Whole(_) => self,
            Number::Negative(number) => Number::Whole(number.unsigned_abs()),
            Number::Fraction(number) => Number::Fraction(number.abs()),
        }
    }

    /// The number times `factor`, rounded, if that is 0 or more and fits 64 bits.
    pub(super) fn weight(self, factor: u64) -> Result<u64, String> {
        let product = self.times(factor);
        let weight = product.and_then(|product| u64::try_from(product).ok());
        weight.ok_or_else(|| {
            format!(
                "{self}; expected a number from 0 to 2^64 - 1{}: negative ones are in differences of \
                 two profiles; give the two that it was made of",
                if factor == 1 { String::new() } else { format!(" when multiplied by {factor}") }
            )
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

/// The keys of the object that a file begins with, as far as they are there, without their quotes.
pub(super) fn first_keys(bytes: &[u8]) -> Vec<&[u8]> {
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

/// Length of a string up to its closing quote, if that is there.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at = (at + 2).min(bytes.len());
    }
}

/// A name of the file in a message.
pub(super) fn shown(text: &Text<'_>) -> String {
    excerpt(&text.0)
}
