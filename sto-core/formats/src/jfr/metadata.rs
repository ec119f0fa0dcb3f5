//! The description of a chunk's types.
//!
//! It is a tree of elements with attributes. These are read:
//!
//! ```text
//! root
//!   metadata
//!     class            name, id
//!       field          name, class (an id), constantPool ("true"), dimension ("1": an array)
//!         annotation   class (an id), value
//! ```
//!
//! Source: `MetadataReader.java` of the JDK, `jfrMetadata.cpp` of async-profiler.

use super::cursor::JfrCursor;
use crate::error::{DecodeError, Decoded};
use crate::wire::text;
use crate::wire::text::excerpt;
use std::borrow::Cow;
use sto_model::bytes::Cursor;

/// Limit to the nesting of types; the JDK's have four levels.
pub(super) const MAX_NESTING: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StringIx(pub(super) usize);

/// The description of a type.
pub(super) struct Class {
    pub(super) at: usize,
    pub(super) name: StringIx,
    pub(super) id: i64,
    pub(super) fields: Vec<ClassField>,
}

pub(super) struct ClassField {
    pub(super) name: StringIx,
    pub(super) of: i64,
    pub(super) is_pooled: bool,
    pub(super) is_array: bool,
    /// Annotation types and their values.
    pub(super) annotations: Vec<(i64, StringIx)>,
}

/// Reads the types in a metadata event, which come after its strings.
pub(super) fn classes<'b>(cursor: Cursor<'b>, strings: &[Cow<'b, [u8]>]) -> Decoded<Vec<Class>> {
    let mut elements = Elements {
        strings,
        cursor,
        classes: Vec::new(),
    };
    elements.read(Within::Top, 0)?;
    Ok(elements.classes)
}

struct Elements<'s, 'b> {
    strings: &'s [Cow<'b, [u8]>],
    cursor: Cursor<'b>,
    classes: Vec<Class>,
}

/// The parent of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// None, or an element that contains classes.
    Top,
    /// The last class.
    Class,
    /// The last field.
    Field,
    Other,
}

impl Elements<'_, '_> {
    fn read(&mut self, around: Within, depth: u32) -> Decoded<()> {
        let at = self.cursor.at();
        if depth > MAX_NESTING {
            let problem = format!("elements more than {MAX_NESTING} deep; was the file damaged?");
            return Err(DecodeError::new(at, problem));
        }
        let name = self.string()?;
        let mut attributes = Vec::new();
        for _ in 0..self.cursor.count(2)? {
            attributes.push((self.string()?, self.string()?));
        }
        let within = match (&*self.strings[name.0], around) {
            (b"class", Within::Top) => {
                self.classes.push(Class {
                    at,
                    name: self.required(at, &attributes, "name")?,
                    id: self.id(at, &attributes, "id")?,
                    fields: Vec::new(),
                });
                Within::Class
            }
            (b"field", Within::Class) => {
                let field = self.field(at, &attributes)?;
                let class = self.classes.last_mut().expect("a class is around");
                class.fields.push(field);
                Within::Field
            }
            (b"annotation", Within::Field) => {
                if let Some(value) = self.attribute(&attributes, "value") {
                    let of = self.id(at, &attributes, "class")?;
                    let field = self
                        .classes
                        .last_mut()
                        .and_then(|class| class.fields.last_mut());
                    field
                        .expect("a field is around")
                        .annotations
                        .push((of, value));
                }
                Within::Other
            }
            (_, Within::Top) => Within::Top,
            _ => Within::Other,
        };
        for _ in 0..self.cursor.count(3)? {
            self.read(within, depth + 1)?;
        }
        Ok(())
    }

    fn field(&self, at: usize, attributes: &[(StringIx, StringIx)]) -> Decoded<ClassField> {
        let text = |name| {
            self.attribute(attributes, name)
                .map(|ix| &*self.strings[ix.0])
        };
        let is_array = match text("dimension") {
            None | Some(b"0") => false,
            Some(b"1") => true,
            Some(other) => {
                let problem = format!(
                    "expected a field of 0 or 1 dimensions, found {}",
                    excerpt(other)
                );
                return Err(DecodeError::new(at, problem));
            }
        };
        Ok(ClassField {
            name: self.required(at, attributes, "name")?,
            of: self.id(at, attributes, "class")?,
            is_pooled: text("constantPool") == Some(b"true"),
            is_array,
            annotations: Vec::new(),
        })
    }

    fn string(&mut self) -> Decoded<StringIx> {
        let at = self.cursor.at();
        let number = self.cursor.number()?;
        let index = usize::try_from(number).ok();
        let index = index.filter(|&index| index < self.strings.len());
        index.map(StringIx).ok_or_else(|| {
            let problem = format!(
                "the string {number} of types that have {} strings; was the file damaged?",
                self.strings.len()
            );
            DecodeError::new(at, problem)
        })
    }

    fn attribute(&self, attributes: &[(StringIx, StringIx)], name: &str) -> Option<StringIx> {
        let mut attributes = attributes.iter();
        let found = attributes.find(|(key, _)| *self.strings[key.0] == *name.as_bytes());
        found.map(|&(_, value)| value)
    }

    fn required(
        &self,
        at: usize,
        attributes: &[(StringIx, StringIx)],
        name: &str,
    ) -> Decoded<StringIx> {
        self.attribute(attributes, name).ok_or_else(|| {
            DecodeError::new(
                at,
                format!("a type or a field without the attribute `{name}`; expected one"),
            )
        })
    }

    fn id(&self, at: usize, attributes: &[(StringIx, StringIx)], name: &str) -> Decoded<i64> {
        let digits = &self.strings[self.required(at, attributes, name)?.0];
        let id = text::decimal(digits).and_then(|id| i64::try_from(id).ok());
        id.ok_or_else(|| {
            let problem = format!(
                "expected a type's id in decimal digits, found {}",
                excerpt(digits)
            );
            DecodeError::new(at, problem)
        })
    }
}
