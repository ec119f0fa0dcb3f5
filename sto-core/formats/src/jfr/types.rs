//! The types of a chunk and the layout of their values.

use super::cursor::JfrCursor;
use super::metadata::{Class, MAX_NESTING, StringIx, classes};
use crate::error::{DecodeError, Decoded};
use crate::names::nanoseconds_in;
use crate::wire::text::excerpt;
use hashbrown::HashMap;
use std::borrow::Cow;
use sto_model::bytes::Cursor;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TypeIx(usize);

pub(super) struct Types<'b> {
    strings: Vec<Cow<'b, [u8]>>,
    types: Vec<Type>,
    by_id: HashMap<i64, TypeIx>,
}

struct Type {
    name: StringIx,
    shape: Shape,
    /// Minimum size of a value in bytes.
    least: u64,
}

#[derive(Debug)]
pub(super) enum Shape {
    Byte,
    /// A compressed unsigned 16-bit number.
    Char,
    /// A compressed signed number with this many bits.
    Number(u32),
    /// An uncompressed 32-bit float.
    Float,
    /// An uncompressed 64-bit float.
    Double,
    Text,
    /// A sequence of fields, without fields of zero size.
    Fields(Vec<Field>),
}

#[derive(Debug)]
pub(super) struct Field {
    name: StringIx,
    /// `None` if the chunk does not describe the type.
    pub(super) of: Option<TypeIx>,
    /// Whether the field has the key of a constant instead of the value.
    pub(super) is_pooled: bool,
    pub(super) is_array: bool,
    pub(super) unit: Unit,
}

/// The unit of a time span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Ticks,
    Nanoseconds(u64),
}

/// Type id of the event with the types.
pub(super) const METADATA: i64 = 0;

impl<'b> Types<'b> {
    pub(super) fn read(bytes: &'b [u8], at: usize) -> Decoded<Types<'b>> {
        let mut cursor = Cursor::at_position(bytes, at);
        let event = cursor.event()?;
        if event.kind != METADATA {
            let problem = format!(
                "expected the chunk's types, an event of type 0, found type {}",
                event.kind
            );
            return Err(DecodeError::new(at, problem));
        }
        let mut cursor = event.fields;
        // Start time, duration, and version of the types.
        for _ in 0..3 {
            cursor.number()?;
        }
        let mut strings = Vec::new();
        for _ in 0..cursor.count(1)? {
            strings.push(cursor.text()?.bytes());
        }
        let classes = classes(cursor, &strings)?;
        let mut types = Types {
            by_id: HashMap::new(),
            types: Vec::new(),
            strings,
        };
        types.add(classes)?;
        types.measure(at)?;
        Ok(types)
    }

    fn add(&mut self, classes: Vec<Class>) -> Decoded<()> {
        for (index, class) in classes.iter().enumerate() {
            if self.by_id.insert(class.id, TypeIx(index)).is_some() {
                let problem = format!(
                    "the type {} for the second time; expected another id",
                    class.id
                );
                return Err(DecodeError::new(class.at, problem));
            }
        }
        let names: Vec<StringIx> = classes.iter().map(|class| class.name).collect();
        for class in classes {
            let fields = class.fields.into_iter().map(|field| {
                let spans = field.annotations.iter().find(|(of, _)| {
                    let of = self.by_id.get(of).map(|ix| names[ix.0]);
                    of.is_some_and(|name| self.string(name) == b"jdk.jfr.Timespan")
                });
                Field {
                    name: field.name,
                    of: self.by_id.get(&field.of).copied(),
                    is_pooled: field.is_pooled,
                    is_array: field.is_array,
                    unit: spans.map_or(Unit::Ticks, |&(_, unit)| Unit::parse(self.string(unit))),
                }
            });
            let shape = match self.string(class.name) {
                b"boolean" | b"byte" => Shape::Byte,
                b"char" => Shape::Char,
                b"short" => Shape::Number(16),
                b"int" => Shape::Number(32),
                b"long" => Shape::Number(64),
                b"float" => Shape::Float,
                b"double" => Shape::Double,
                b"java.lang.String" => Shape::Text,
                _ => Shape::Fields(fields.collect()),
            };
            self.types.push(Type {
                name: class.name,
                shape,
                least: 0,
            });
        }
        Ok(())
    }

    /// Computes the minimum size of each type and removes fields of zero size: a huge number of
    /// values without bytes would take forever.
    fn measure(&mut self, at: usize) -> Decoded<()> {
        let mut known = vec![None; self.types.len()];
        for ix in 0..self.types.len() {
            self.measure_type(TypeIx(ix), 0, &mut known)
                .map_err(|problem| DecodeError::new(at, problem))?;
        }
        let known: Vec<u64> = known
            .into_iter()
            .flatten()
            .map(|(least, _)| least)
            .collect();
        for (of, &least) in self.types.iter_mut().zip(&known) {
            of.least = least;
            if let Shape::Fields(fields) = &mut of.shape {
                fields.retain(|field| match field.of {
                    Some(of) if !field.is_pooled && !field.is_array => known[of.0] > 0,
                    _ => true,
                });
            }
        }
        Ok(())
    }

    /// The minimum size of a type and the depth of its nesting.
    fn measure_type(
        &self,
        ix: TypeIx,
        depth: u32,
        known: &mut [Option<(u64, u32)>],
    ) -> Result<(u64, u32), String> {
        if let Some(known) = known[ix.0] {
            return Ok(known);
        }
        let of = &self.types[ix.0];
        let (mut least, mut height) = match &of.shape {
            Shape::Float => (4, 0),
            Shape::Double => (8, 0),
            Shape::Fields(_) => (0, 0),
            _ => (1, 0),
        };
        if let Shape::Fields(fields) = &of.shape {
            for field in fields {
                let mut of_field = 1;
                if let Some(of) = field.of.filter(|_| !field.is_pooled) {
                    if depth == MAX_NESTING {
                        return Err(self.too_deep(ix));
                    }
                    let (inner, inner_height) = self.measure_type(of, depth + 1, known)?;
                    height = height.max(inner_height + 1);
                    if !field.is_array {
                        of_field = inner;
                    }
                }
                least = u64::saturating_add(least, of_field);
            }
        }
        if height > MAX_NESTING {
            return Err(self.too_deep(ix));
        }
        known[ix.0] = Some((least, height));
        Ok((least, height))
    }

    fn too_deep(&self, ix: TypeIx) -> String {
        format!(
            "the type {} has types in it more than {MAX_NESTING} deep, or itself; was the file damaged?",
            excerpt(self.name(ix))
        )
    }

    pub(super) fn by_id(&self, id: i64) -> Option<TypeIx> {
        self.by_id.get(&id).copied()
    }

    pub(super) fn by_name(&self, name: &str) -> Option<TypeIx> {
        let mut types = self.types.iter();
        let found = types.position(|of| self.string(of.name) == name.as_bytes());
        found.map(TypeIx)
    }

    pub(super) fn name(&self, ix: TypeIx) -> &[u8] {
        self.string(self.types[ix.0].name)
    }

    pub(super) fn shape(&self, ix: TypeIx) -> &Shape {
        &self.types[ix.0].shape
    }

    /// The fields of a type; empty for numbers and strings.
    pub(super) fn fields(&self, ix: TypeIx) -> &[Field] {
        match self.shape(ix) {
            Shape::Fields(fields) => fields,
            _ => &[],
        }
    }

    pub(super) fn name_of(&self, field: &Field) -> &[u8] {
        self.string(field.name)
    }

    /// Minimum size in bytes of a value of a type.
    pub(super) fn min_size(&self, ix: TypeIx) -> u64 {
        self.types[ix.0].least
    }

    fn string(&self, ix: StringIx) -> &[u8] {
        &self.strings[ix.0]
    }
}

impl Unit {
    fn parse(name: &[u8]) -> Unit {
        let factor = nanoseconds_in(&name.to_ascii_lowercase());
        factor.map_or(Unit::Ticks, Unit::Nanoseconds)
    }
}
