//! Ruby's `Marshal`, version 4.8: numbers, names, arrays and hashes.
//!
//! Source: `marshal.c` of Ruby and its `doc/marshal.rdoc`. A value may be written once and referred
//! to by number afterwards, so the values read take no more memory than the file; equal numbers are
//! one value.

pub(crate) use super::values::ValueIx;
use super::values::{Values, check_count, undefined_value};
use crate::error::{DecodeError, Decoded};
use hashbrown::HashMap;
use sto_model::bytes::Cursor;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'b> {
    Nil,
    /// An integer; `true` and `false` are 1 and 0.
    Whole(u64),
    Negative,
    Fraction(f64),
    /// A string or a symbol.
    Text(&'b [u8]),
    Array(Vec<ValueIx>),
    Hash(Vec<(ValueIx, ValueIx)>),
}

pub(crate) type Marshalled<'b> = Values<Value<'b>>;

pub(crate) const MAGIC: &[u8] = &[4, 8];

impl<'b> Marshalled<'b> {
    pub(crate) fn read(bytes: &'b [u8]) -> Decoded<Marshalled<'b>> {
        let mut reader = Reader {
            cursor: Cursor::at_position(bytes, MAGIC.len()),
            values: Vec::new(),
            whole: HashMap::new(),
            objects: Vec::new(),
            symbols: Vec::new(),
        };
        let root = reader.value(0)?;
        let values = reader.values;
        Ok(Marshalled { values, root })
    }
}

/// Limit to the nesting of values; profiles have five levels.
const MAX_DEPTH: usize = 16;

struct Reader<'b> {
    cursor: Cursor<'b>,
    values: Vec<Value<'b>>,
    whole: HashMap<u64, ValueIx>,
    /// Values that can be referred to, in the order in which they begin; `None` until the value is
    /// complete.
    objects: Vec<Option<ValueIx>>,
    symbols: Vec<ValueIx>,
}

impl<'b> Reader<'b> {
    fn value(&mut self, depth: usize) -> Decoded<ValueIx> {
        let begin = self.cursor.at();
        if depth > MAX_DEPTH {
            let problem =
                format!("values in each other more than {MAX_DEPTH} deep; profiles have five");
            return Err(DecodeError::new(begin, problem));
        }
        let code = self.cursor.u8()?;
        // A value followed by an encoding or other instance variables.
        if code == b'I' {
            let value = self.value(depth + 1)?;
            for _ in 0..self.length()? {
                self.value(depth + 1)?;
                self.value(depth + 1)?;
            }
            return Ok(value);
        }
        let object = self.objects.len();
        if matches!(code, b'"' | b'f' | b'l' | b'[' | b'{' | b'}') {
            self.objects.push(None);
        }
        let value = match code {
            b'0' => Value::Nil,
            b'T' => Value::Whole(1),
            b'F' => Value::Whole(0),
            b'i' => u64::try_from(self.number()?).map_or(Value::Negative, Value::Whole),
            b'l' => self.long(begin)?,
            b'f' => Value::Fraction(self.fraction(begin)?),
            b'"' => Value::Text(self.text()?),
            b':' => {
                let text = Value::Text(self.text()?);
                let symbol = self.push(text);
                self.symbols.push(symbol);
                return Ok(symbol);
            }
            b';' => {
                let number = self.length()?;
                let known = self.symbols.get(number).copied();
                return known.ok_or_else(|| undefined_value(begin, number));
            }
            b'@' => {
                let number = self.length()?;
                let known = self.objects.get(number).copied().flatten();
                let known = known.ok_or_else(|| undefined_value(begin, number))?;
                return match self.values[known.get()] {
                    // References would let a small file contain a large collection many times.
                    Value::Array(_) | Value::Hash(_) => {
                        let problem =
                            "refers to an array or a hash; expected each where it belongs";
                        Err(DecodeError::new(begin, problem))
                    }
                    _ => Ok(known),
                };
            }
            b'[' => {
                let count = self.count()?;
                let values = (0..count).map(|_| self.value(depth + 1));
                Value::Array(values.collect::<Decoded<_>>()?)
            }
            b'{' | b'}' => {
                let count = self.count()?;
                let entries =
                    (0..count).map(|_| Ok((self.value(depth + 1)?, self.value(depth + 1)?)));
                let entries = entries.collect::<Decoded<_>>()?;
                if code == b'}' {
                    let _default = self.value(depth + 1)?;
                }
                Value::Hash(entries)
            }
            other => {
                let problem = format!(
                    "a value of the kind `{}`; expected numbers, names, arrays and hashes",
                    other.escape_ascii()
                );
                return Err(DecodeError::new(begin, problem));
            }
        };
        let value = match value {
            Value::Whole(number) => match self.whole.get(&number) {
                Some(&known) => known,
                None => {
                    let ix = self.push(value);
                    self.whole.insert(number, ix);
                    ix
                }
            },
            value => self.push(value),
        };
        if let Some(object) = self.objects.get_mut(object) {
            *object = Some(value);
        }
        Ok(value)
    }

    fn push(&mut self, value: Value<'b>) -> ValueIx {
        self.values.push(value);
        ValueIx(self.values.len() as u32 - 1)
    }

    /// A number of up to 32 bits, in one byte or in as many bytes as the first one says, which also
    /// has the sign.
    fn number(&mut self) -> Decoded<i64> {
        let first = i64::from(self.cursor.u8()? as i8);
        let size = match first {
            0 => return Ok(0),
            -4..=4 => first.unsigned_abs(),
            5.. => return Ok(first - 5),
            _ => return Ok(first + 5),
        };
        let mut bytes = if first < 0 { [0xff; 8] } else { [0; 8] };
        for (byte, read) in bytes.iter_mut().zip(self.cursor.take(size)?) {
            *byte = *read;
        }
        Ok(i64::from_le_bytes(bytes))
    }

    /// A large number in 16-bit words.
    fn long(&mut self, begin: usize) -> Decoded<Value<'b>> {
        let sign = self.cursor.u8()?;
        let length = self.length()?;
        let parts = self.cursor.take(2 * length as u64)?;
        let mut bytes = [0; 8];
        for (at, &part) in parts.iter().enumerate() {
            match bytes.get_mut(at) {
                Some(byte) => *byte = part,
                None if part == 0 => {}
                None => return Err(DecodeError::new(begin, "a number of more than 64 bits")),
            }
        }
        Ok(match sign {
            b'-' => Value::Negative,
            _ => Value::Whole(u64::from_le_bytes(bytes)),
        })
    }

    fn fraction(&mut self, begin: usize) -> Decoded<f64> {
        let text = std::str::from_utf8(self.text()?).ok();
        let number = text.and_then(|text| text.parse().ok());
        number.ok_or_else(|| DecodeError::new(begin, "expected a number"))
    }

    /// The number of values that follow.
    fn count(&mut self) -> Decoded<usize> {
        let count = self.length()?;
        check_count(self.cursor, count)?;
        Ok(count)
    }

    fn length(&mut self) -> Decoded<usize> {
        let begin = self.cursor.at();
        let length = self.number()?;
        usize::try_from(length)
            .map_err(|_| DecodeError::new(begin, format!("{length}; expected a length")))
    }

    fn text(&mut self) -> Decoded<&'b [u8]> {
        let length = self.length()?;
        Ok(self.cursor.take(length as u64)?)
    }
}
