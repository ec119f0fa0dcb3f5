//! Arguments of calls, as described in `info` (`argspec`).

use std::collections::HashMap;

/// The recorded arguments by function name.
#[derive(Default)]
pub(super) struct Specs(HashMap<String, Vec<Field>>);

/// An argument in the data of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    name: String,
    kind: Kind,
    /// In bytes.
    size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
    /// A text preceded by its length.
    Text,
}

impl Specs {
    /// Parses the text of `info`: arguments requested by the user, or else uftrace's own list for
    /// library functions.
    pub(super) fn parse(info: &str) -> Specs {
        let mut specs = Specs::default();
        for of in ["argspec:", "argauto:"] {
            let lines = info.lines().filter_map(|line| line.strip_prefix(of));
            for spec in lines.flat_map(|line| line.split(';')) {
                let Some((function, arguments)) = spec.split_once('@') else {
                    continue;
                };
                let fields = arguments.split(',').map_while(Field::parse).collect();
                specs.0.entry(function.to_owned()).or_insert(fields);
            }
        }
        specs
    }

    /// The arguments of a function, in order.
    pub(super) fn function(&self, name: &str) -> Option<&[Field]> {
        let plain = name.split('(').next().unwrap_or_default();
        let found = self.0.get(name).or_else(|| self.0.get(plain));
        found.map(Vec::as_slice)
    }
}

impl Field {
    /// `arg2`, `arg1/s`, `arg3/d32`, `fparg1/32%stack+1`; `None` for other layouts.
    fn parse(text: &str) -> Option<Field> {
        let (text, _) = text.split_once('%').unwrap_or((text, ""));
        let (name, form) = text.split_once('/').unwrap_or((text, ""));
        let is_float = name.starts_with("fparg");
        if !is_float && !name.starts_with("arg") {
            return None;
        }
        let bits = form.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let bytes = |default| match bits {
            "" => Some(default),
            bits => bits.parse::<usize>().ok().map(|bits| bits / 8),
        };
        let (kind, size) = match form.bytes().next() {
            _ if is_float => (Kind::Float, bytes(8)?),
            None | Some(b'i' | b'd') => (Kind::Signed, bytes(8)?),
            Some(b'u' | b'x' | b'o' | b'p') => (Kind::Unsigned, bytes(8)?),
            Some(b'c') => (Kind::Signed, bytes(1)?),
            Some(b'f') => (Kind::Float, bytes(8)?),
            Some(b'e') => (Kind::Signed, 4),
            Some(b's' | b'S') => (Kind::Text, 0),
            _ => return None,
        };
        Some(Field {
            name: name.to_owned(),
            kind,
            size,
        })
    }
}

/// The numeric arguments by name; each is aligned to 4 bytes.
pub(super) fn read_numbers<'f>(fields: &'f [Field], mut data: &[u8]) -> Vec<(&'f str, f64)> {
    let mut found = Vec::new();
    for field in fields {
        let size = match (field.kind, data.first_chunk()) {
            (Kind::Text, Some(&length)) => 2 + usize::from(u16::from_le_bytes(length)),
            _ => field.size,
        };
        let Some(bytes) = data.get(..size) else {
            break;
        };
        let mut whole = [0; 8];
        let value = match (field.kind, size) {
            (Kind::Text, _) | (_, 0 | 9..) => None,
            (Kind::Float, 4) => bytes.first_chunk().map(|&of| f32::from_le_bytes(of).into()),
            (Kind::Float, 8) => bytes.first_chunk().map(|&of| f64::from_le_bytes(of)),
            (Kind::Float, _) => None,
            (kind, size) => {
                whole[..size].copy_from_slice(bytes);
                let unused = 64 - 8 * size as u32;
                let number = u64::from_le_bytes(whole);
                Some(match kind {
                    Kind::Signed => ((number as i64) << unused >> unused) as f64,
                    _ => number as f64,
                })
            }
        };
        found.extend(value.map(|value| (&*field.name, value)));
        data = data.get(size.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_numbers_between_texts() {
        let info = "cmdline:x\nargspec:lines=5\nargspec:sort@arg1/s,arg2,arg3/d32,fparg1/32;put@arg1/t16,arg2\n\
                    argauto:sort@arg1/p;malloc@arg1/u\n";
        let specs = Specs::parse(info);
        let sort = specs.function("sort(char*, long)").unwrap();
        let data = [
            &b"\x05\0abcde\0"[..],
            &(-7i64).to_le_bytes(),
            &(-2i32).to_le_bytes(),
            &1.5f32.to_le_bytes(),
        ]
        .concat();
        let expected = [("arg2", -7.0), ("arg3", -2.0), ("fparg1", 1.5)];
        assert_eq!(read_numbers(sort, &data), expected);
        assert_eq!(read_numbers(sort, &data[..17]), expected[..1]);
        assert_eq!(specs.function("put"), Some(&[][..]));
        let malloc = specs.function("malloc").unwrap();
        assert_eq!(
            read_numbers(malloc, &u64::MAX.to_le_bytes()),
            [("arg1", u64::MAX as f64)]
        );
        assert_eq!(specs.function("free"), None);
    }
}
