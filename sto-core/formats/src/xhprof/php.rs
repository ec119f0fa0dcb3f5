//! Calls serialized by PHP: `a:1:{s:6:"main()";a:2:{s:2:"ct";i:1;s:2:"wt";i:93;}}`.

use super::{Calls, Costs};
use crate::error::{DecodeError, Decoded};
use crate::wire::text::decimal;

/// The first key of an array; `None` for anything else.
pub(super) fn first_key(bytes: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader { bytes, at: 0 };
    reader.array().ok()?;
    reader.key().ok()
}

pub(super) fn read(bytes: &[u8]) -> Decoded<Calls<'_>> {
    let mut reader = Reader { bytes, at: 0 };
    let mut calls = Calls::new();
    for _ in 0..reader.array()? {
        let call = reader.key()?;
        let mut costs = Costs::default();
        for _ in 0..reader.array()? {
            let (key, at) = (reader.key()?, reader.at);
            let number = reader.number()?;
            let count = || {
                let problem = format!("{number}; expected a number of 0 or more");
                u64::try_from(number).map_err(|_| DecodeError::new(at, problem))
            };
            match key {
                b"ct" => costs.ct = count()?,
                b"wt" => costs.wt = count()?,
                b"cpu" => costs.cpu = count()?,
                b"mu" => costs.mu = number,
                _ => {}
            }
        }
        reader.expect(b"}")?;
        calls.insert(call.into(), costs);
    }
    reader.expect(b"}")?;
    Ok(calls)
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    /// Reads the number of entries of an array.
    fn array(&mut self) -> Decoded<u64> {
        self.expect(b"a:")?;
        let count = self.digits(b':')?;
        self.expect(b"{")?;
        Ok(count)
    }

    fn key(&mut self) -> Decoded<&'b [u8]> {
        self.expect(b"s:")?;
        let length = self.digits(b':')?;
        self.expect(b"\"")?;
        let rest = &self.bytes[self.at..];
        let text = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length));
        let text = text.ok_or_else(|| self.ends())?;
        self.at += text.len();
        self.expect(b"\";")?;
        Ok(text)
    }

    fn number(&mut self) -> Decoded<i64> {
        self.expect(b"i:")?;
        let is_negative = self.bytes[self.at..].starts_with(b"-");
        self.at += usize::from(is_negative);
        let at = self.at;
        let number = i64::try_from(self.digits(b';')?);
        let number = number.map_err(|_| DecodeError::new(at, "a number of more than 63 bits"))?;
        Ok(if is_negative { -number } else { number })
    }

    fn digits(&mut self, end: u8) -> Decoded<u64> {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(end, rest).ok_or_else(|| self.ends())?;
        let number = decimal(&rest[..length]);
        let number = number.ok_or_else(|| DecodeError::new(self.at, "expected a number"))?;
        self.at += length + 1;
        Ok(number)
    }

    fn expect(&mut self, text: &[u8]) -> Decoded<()> {
        let rest = &self.bytes[self.at..];
        if text.starts_with(rest) && rest.len() < text.len() {
            return Err(self.ends());
        }
        if !rest.starts_with(text) {
            let problem = format!(
                "expected `{}`, as PHP's `serialize` writes it",
                text.escape_ascii()
            );
            return Err(DecodeError::new(self.at, problem));
        }
        self.at += text.len();
        Ok(())
    }

    fn ends(&self) -> DecodeError {
        DecodeError::cut(
            self.bytes.len(),
            format_args!("within the value at byte {}", self.at),
        )
    }
}
