//! Values of the wanted fields, found by name.

use super::cursor::{JfrCursor, Text};
use super::types::{Field, Shape, TypeIx, Types};
use crate::error::{DecodeError, Decoded};
use crate::wire::text::excerpt;
use sto_model::bytes::Cursor;

#[derive(Clone, Copy)]
pub(super) enum Value<'b> {
    /// The field is missing or of an unsupported kind.
    None,
    Number(i64),
    Fraction(f64),
    Text(Text<'b>),
    /// The key of a constant of a type.
    Key(TypeIx, i64),
    /// A value with fields: its type and position.
    Fields(TypeIx, Cursor<'b>),
    /// Consecutive values of a type: type, number and position.
    Array(TypeIx, usize, Cursor<'b>),
}

/// See [`Value::identity`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    Key(TypeIx, i64),
    At(usize),
    None,
}

impl Value<'_> {
    /// The number, or 0 if the value is not a number.
    pub(super) fn number(self) -> i64 {
        match self {
            Value::Number(number) => number,
            _ => 0,
        }
    }

    /// A key that identifies a value with fields.
    pub(super) fn identity(self) -> Identity {
        match self {
            Value::Key(of, key) => Identity::Key(of, key),
            Value::Fields(_, cursor) => Identity::At(cursor.at()),
            _ => Identity::None,
        }
    }
}

/// The wanted fields of a type.
pub(super) struct WantedFields<const N: usize> {
    of: TypeIx,
    /// For each field of the type, its index among the wanted ones.
    indices: Vec<Option<usize>>,
}

impl<const N: usize> WantedFields<N> {
    pub(super) fn new(types: &Types<'_>, of: TypeIx, names: [&str; N]) -> WantedFields<N> {
        let fields = types.fields(of).iter();
        let index = |field| {
            let name = types.name_of(field);
            names.iter().position(|wanted| wanted.as_bytes() == name)
        };
        WantedFields {
            of,
            indices: fields.map(index).collect(),
        }
    }

    /// Reads the values in the order of the wanted names.
    pub(crate) fn read<'b>(
        &self,
        types: &Types<'_>,
        cursor: &mut Cursor<'b>,
    ) -> Decoded<[Value<'b>; N]> {
        let mut values = [Value::None; N];
        for (field, index) in types.fields(self.of).iter().zip(&self.indices) {
            match index {
                Some(index) => values[*index] = types.field_value(field, cursor)?,
                None => types.skip_field(field, cursor)?,
            }
        }
        Ok(values)
    }
}

impl Types<'_> {
    fn field_value<'b>(&self, field: &Field, cursor: &mut Cursor<'b>) -> Decoded<Value<'b>> {
        let Some(of) = field.of else {
            self.skip_field(field, cursor)?;
            return Ok(Value::None);
        };
        if field.is_array {
            let mut ahead = *cursor;
            let count = ahead.count(self.least_of_item(field))?;
            self.skip_field(field, cursor)?;
            // A count of values without bytes is not limited by the file's size.
            let has_bytes = !field.is_pooled && self.min_size(of) > 0;
            return Ok(if has_bytes {
                Value::Array(of, count, ahead)
            } else {
                Value::None
            });
        }
        if field.is_pooled {
            return Ok(Value::Key(of, cursor.number()?));
        }
        self.value(of, cursor)
    }

    pub(super) fn value<'b>(&self, of: TypeIx, cursor: &mut Cursor<'b>) -> Decoded<Value<'b>> {
        Ok(match *self.shape(of) {
            Shape::Byte => Value::Number(cursor.u8()?.into()),
            Shape::Char => Value::Number((cursor.number()? as u16).into()),
            Shape::Number(16) => Value::Number((cursor.number()? as i16).into()),
            // Negative 32-bit numbers are not sign-extended in the file.
            Shape::Number(32) => Value::Number((cursor.number()? as i32).into()),
            Shape::Number(_) => Value::Number(cursor.number()?),
            Shape::Text => Value::Text(cursor.text()?),
            Shape::Float => Value::Fraction(f32::from_bits(cursor.u32()?.swap_bytes()).into()),
            Shape::Double => Value::Fraction(f64::from_bits(cursor.u64()?.swap_bytes())),
            Shape::Fields(_) => {
                let start = *cursor;
                self.skip(of, cursor)?;
                Value::Fields(of, start)
            }
        })
    }

    /// The first field of a type with fields, otherwise the value itself.
    pub(super) fn first<'b>(&self, of: TypeIx, cursor: &mut Cursor<'b>) -> Decoded<Value<'b>> {
        match self.shape(of) {
            Shape::Fields(fields) => match fields.first() {
                Some(first) => self.field_value(first, cursor),
                None => Ok(Value::None),
            },
            _ => self.value(of, cursor),
        }
    }

    fn skip_field(&self, field: &Field, cursor: &mut Cursor<'_>) -> Decoded<()> {
        let count = if field.is_array {
            cursor.count(self.least_of_item(field))?
        } else {
            1
        };
        match field.of {
            _ if field.is_pooled => {
                for _ in 0..count {
                    cursor.number()?;
                }
            }
            Some(of) if self.min_size(of) > 0 => {
                for _ in 0..count {
                    self.skip(of, cursor)?;
                }
            }
            Some(_) => {}
            None => {
                let problem = format!(
                    "a field {} of a type that the chunk does not describe",
                    excerpt(self.name_of(field))
                );
                return Err(DecodeError::new(cursor.at(), problem));
            }
        }
        Ok(())
    }

    /// Minimum size in bytes of one item of a field.
    fn least_of_item(&self, field: &Field) -> u64 {
        match field.of {
            Some(of) if !field.is_pooled => self.min_size(of),
            _ => 1,
        }
    }

    /// Skips a value.
    pub(super) fn skip(&self, of: TypeIx, cursor: &mut Cursor<'_>) -> Decoded<()> {
        match self.shape(of) {
            Shape::Byte => drop(cursor.u8()?),
            Shape::Char | Shape::Number(_) => drop(cursor.number()?),
            Shape::Float => drop(cursor.take(4)?),
            Shape::Double => drop(cursor.take(8)?),
            Shape::Text => drop(cursor.text()?),
            Shape::Fields(fields) => {
                for field in fields {
                    self.skip_field(field, cursor)?;
                }
            }
        }
        Ok(())
    }
}
