//! JSON slabs (JSLB), in which the Firefox Profiler saves profiles: JSON whose long columns are
//! stored separately as arrays of numbers.
//!
//! `{"$s": 7}` in the JSON is replaced by slab 7, an array or more JSON.
//!
//! Source: `FORMAT.md` of <https://github.com/mstange/json-slabs>.

use crate::error::{DecodeError, Decoded};
use crate::wire::text::decimal;
use json_slabs::{ParseError, ParsedFile, SlabBytes, SlabPlaceholder, SlabPrimitive, SlabType};
use serde::Serializer;
use serde_json::Value;

/// Limit to the bytes of slabs inserted, per byte of the file. Writers use each slab once; slabs
/// that contain each other would never end.
const MAX_USE: usize = 2;

/// Converts a file to plain JSON.
pub(super) fn json(file: &[u8]) -> Decoded<Vec<u8>> {
    let slabs = ParsedFile::parse(file).map_err(|error| match error {
        ParseError::TooShort(_)
        | ParseError::SlabTableOverrun
        | ParseError::SlabDataOverrun { .. } => {
            DecodeError::cut(file.len(), "in the middle of its slabs")
        }
        _ => {
            let problem = format!("{error}; was the file edited? Save it as JSON");
            DecodeError::new("the table of its slabs", problem)
        }
    })?;
    let mut json = Vec::with_capacity(file.len());
    let mut used = 0;
    // The remaining text of each open slab, innermost last.
    let mut open = vec![slabs.root_json_bytes()];
    while let Some(text) = open.pop() {
        let Some(Placeholder { before, ix, after }) = Placeholder::first_of(text) else {
            json.extend_from_slice(text);
            continue;
        };
        json.extend_from_slice(before);
        open.push(after);
        let path = || format!("slab {ix}");
        let slab = slabs.slab_at(SlabPlaceholder(ix)).map_err(|_| {
            let count = slabs.slabs().len();
            let problem =
                format!("the file has {count}, from 0 on; was it edited? Save it as JSON");
            DecodeError::new(path(), problem)
        })?;
        used += slab.bytes.len();
        if used > MAX_USE * file.len() {
            let problem = "the slabs inserted up to this one are twice as large as the file; expected each once: do they contain each other? Save it as JSON";
            return Err(DecodeError::new(path(), problem));
        }
        match slab.slab_type {
            SlabType::Json => open.push(slab.bytes),
            SlabType::Int8 => write(slab, |number: i8| number.into(), &mut json),
            SlabType::Uint8 => write(slab, |number: u8| number.into(), &mut json),
            SlabType::Int16 => write(slab, |number: i16| number.into(), &mut json),
            SlabType::Uint16 => write(slab, |number: u16| number.into(), &mut json),
            SlabType::Int32 => write(slab, |number: i32| number.into(), &mut json),
            SlabType::Uint32 => write(slab, |number: u32| number.into(), &mut json),
            SlabType::Int64 => write(slab, |number: i64| number.into(), &mut json),
            SlabType::Uint64 => write(slab, |number: u64| number.into(), &mut json),
            SlabType::Float32 => write(slab, |number: f32| fraction(number.into()), &mut json),
            SlabType::Float64 => write(slab, fraction, &mut json),
        }
    }
    Ok(json)
}

fn write<T: SlabPrimitive>(slab: &SlabBytes<'_>, value: impl Fn(T) -> Value, json: &mut Vec<u8>) {
    let numbers = slab.bytes.chunks_exact(slab.slab_type.element_size());
    let values = numbers.map(|bytes| value(T::from_le_bytes(bytes)));
    let written = serde_json::Serializer::new(json).collect_seq(values);
    written.expect("numbers can be written into memory");
}

/// A number as JavaScript writes it: integers without decimals, and `null` for NaN.
fn fraction(number: f64) -> Value {
    const MAX_SAFE_INTEGER: f64 = ((1u64 << 53) - 1) as f64;
    if number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER {
        (number as i64).into()
    } else {
        number.into()
    }
}

/// A reference to a slab, and the text around it.
struct Placeholder<'b> {
    before: &'b [u8],
    ix: usize,
    after: &'b [u8],
}

impl<'b> Placeholder<'b> {
    /// The first reference in a text. Strings cannot contain it, because quotes in strings are
    /// escaped.
    fn first_of(json: &'b [u8]) -> Option<Placeholder<'b>> {
        let key = b"\"$s\"";
        memchr::memmem::find_iter(json, key).find_map(|at| {
            let (before, value) = (&json[..at], &json[at + key.len()..]);
            let value = value
                .trim_ascii_start()
                .strip_prefix(b":")?
                .trim_ascii_start();
            let digits = value
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let (ix, after) = value.split_at(digits);
            Some(Placeholder {
                before: before.trim_ascii_end().strip_suffix(b"{")?,
                ix: usize::try_from(decimal(ix)?).ok()?,
                after: after.trim_ascii_start().strip_prefix(b"}")?,
            })
        })
    }
}
