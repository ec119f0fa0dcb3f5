//! Python's `marshal`, versions 2 to 5: numbers, names, tuples and dictionaries.
//!
//! Source: `Python/marshal.c` of CPython. A value may be written once and referred to by number
//! afterwards, so the values read take no more memory than the file.

pub(crate) use super::values::ValueIx;
use super::values::{Values, check_count, undefined_value};
use crate::error::{DecodeError, Decoded};
use sto_model::bytes::Cursor;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'b> {
    None,
    Whole(i64),
    Fraction(f64),
    /// Bytes or text.
    Text(&'b [u8]),
    Tuple(Vec<ValueIx>),
    Dictionary(Vec<(ValueIx, ValueIx)>),
}

pub(crate) type Marshalled<'b> = Values<Value<'b>>;

impl<'b> Marshalled<'b> {
    pub(crate) fn read(bytes: &'b [u8]) -> Decoded<Marshalled<'b>> {
        let mut reader = Reader {
            cursor: Cursor::new(bytes),
            values: Vec::new(),
            shared: Vec::new(),
            interned: Vec::new(),
        };
        let root = reader.value(0)?;
        let values = reader.values;
        Ok(Marshalled { values, root })
    }
}

/// Flag in the type byte of a value that can be referred to.
const SHARED: u8 = 0x80;
/// Limit to the nesting of values; statistics have four levels.
const MAX_DEPTH: usize = 16;

struct Reader<'b> {
    cursor: Cursor<'b>,
    values: Vec<Value<'b>>,
    /// Values that can be referred to, in the order in which they begin; `None` until the value is
    /// complete.
    shared: Vec<Option<ValueIx>>,
    /// Interned names of Python 2, which can be referred to as well.
    interned: Vec<ValueIx>,
}

impl<'b> Reader<'b> {
    fn value(&mut self, depth: usize) -> Decoded<ValueIx> {
        let begin = self.cursor.at();
        let value = self.value_or_end(depth)?;
        value.ok_or_else(|| {
            DecodeError::new(begin, "expected a value, found the end of a dictionary")
        })
    }

    /// The next value, or `None` at the end of a dictionary.
    fn value_or_end(&mut self, depth: usize) -> Decoded<Option<ValueIx>> {
        let begin = self.cursor.at();
        let code = self.cursor.u8()?;
        let share = (code & SHARED != 0).then(|| {
            self.shared.push(None);
            self.shared.len() - 1
        });
        let value = match code & !SHARED {
            b'0' => return Ok(None),
            b'r' => {
                let number = self.length()?;
                let known = self.shared.get(number).copied().flatten();
                return known
                    .map(Some)
                    .ok_or_else(|| undefined_value(begin, number));
            }
            b'R' => {
                let number = self.length()?;
                let known = self.interned.get(number).copied();
                return known
                    .map(Some)
                    .ok_or_else(|| undefined_value(begin, number));
            }
            b'N' => Value::None,
            b'F' => Value::Whole(0),
            b'T' => Value::Whole(1),
            b'i' => Value::Whole(i32::from_le_bytes(self.cursor.array()?).into()),
            b'I' => Value::Whole(i64::from_le_bytes(self.cursor.array()?)),
            b'l' => Value::Whole(self.long(begin)?),
            b'g' => Value::Fraction(f64::from_le_bytes(self.cursor.array()?)),
            b'f' => {
                let text = self.short()?;
                let number = std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.parse().ok());
                Value::Fraction(number.ok_or_else(|| DecodeError::new(begin, "expected a number"))?)
            }
            b's' | b't' | b'u' | b'a' | b'A' => {
                let length = self.length()?;
                Value::Text(self.cursor.take(length as u64)?)
            }
            b'z' | b'Z' => Value::Text(self.short()?),
            b'(' | b'[' => {
                let length = self.length()?;
                Value::Tuple(self.tuple(length, depth)?)
            }
            b')' => {
                let length = self.cursor.u8()?;
                Value::Tuple(self.tuple(length.into(), depth)?)
            }
            b'{' => Value::Dictionary(self.dictionary(depth)?),
            other => {
                let problem = format!(
                    "a value of the kind `{}`; expected numbers, names, tuples and dictionaries",
                    other.escape_ascii()
                );
                return Err(DecodeError::new(begin, problem));
            }
        };
        let ix = ValueIx(self.values.len() as u32);
        self.values.push(value);
        if let Some(share) = share {
            self.shared[share] = Some(ix);
        }
        if code & !SHARED == b't' {
            self.interned.push(ix);
        }
        Ok(Some(ix))
    }

    fn tuple(&mut self, length: usize, depth: usize) -> Decoded<Vec<ValueIx>> {
        self.check_depth(depth)?;
        check_count(self.cursor, length)?;
        (0..length).map(|_| self.value(depth + 1)).collect()
    }

    fn dictionary(&mut self, depth: usize) -> Decoded<Vec<(ValueIx, ValueIx)>> {
        self.check_depth(depth)?;
        let mut entries = Vec::new();
        while let Some(key) = self.value_or_end(depth + 1)? {
            entries.push((key, self.value(depth + 1)?));
        }
        Ok(entries)
    }

    fn check_depth(&self, depth: usize) -> Decoded<()> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        let problem =
            format!("values in each other more than {MAX_DEPTH} deep; statistics have four");
        Err(DecodeError::new(self.cursor.at(), problem))
    }

    /// A long integer: a count with the sign of the integer, and as many 15-bit digits.
    fn long(&mut self, begin: usize) -> Decoded<i64> {
        let count = i32::from_le_bytes(self.cursor.array()?);
        let mut number: i64 = 0;
        for place in 0..count.unsigned_abs() {
            let digit = i64::from(self.cursor.u16()?);
            number = 1_i64
                .checked_shl(15 * place)
                .and_then(|one| digit.checked_mul(one))
                .and_then(|digit| number.checked_add(digit))
                .filter(|_| place < 4)
                .ok_or_else(|| DecodeError::new(begin, "a number of more than 60 bits"))?;
        }
        Ok(if count < 0 { -number } else { number })
    }

    fn length(&mut self) -> Decoded<usize> {
        Ok(self.cursor.u32()? as usize)
    }

    fn short(&mut self) -> Decoded<&'b [u8]> {
        let length = self.cursor.u8()?;
        Ok(self.cursor.take(length.into())?)
    }
}
