//! The dictionary of a request, and the part that some resources use.
//!
//! Entries are found by their index, so an entry that is not used becomes empty and keeps its place.

use super::resources::messages;
use sto_core::formats::{DecodeError, Field, Message, MessageWriter};

const MAPPINGS: usize = 1;
const LOCATIONS: usize = 2;
const FUNCTIONS: usize = 3;
const STRINGS: usize = 5;
const ATTRIBUTES: usize = 6;
const STACKS: usize = 7;

/// Number of tables, with one for the field number 0, which does not exist.
const TABLES: usize = 8;

/// A dictionary.
pub(super) struct Dictionary<'b> {
    whole: Message<'b>,
    /// The entries of each table.
    tables: [Vec<Message<'b>>; TABLES],
}

/// The entries of each table that are used, and those that still have to be followed.
struct Used {
    is_used: [Vec<bool>; TABLES],
    /// A table and an index.
    left: Vec<(usize, usize)>,
}

impl<'b> Dictionary<'b> {
    pub(super) fn parse(message: Message<'b>) -> Result<Dictionary<'b>, DecodeError> {
        let mut tables = [const { Vec::new() }; TABLES];
        for field in message.fields() {
            let field = field?;
            if let Some(table) = tables.get_mut(field.number as usize) {
                table.push(field.message()?);
            }
        }
        Ok(Dictionary {
            whole: message,
            tables,
        })
    }

    /// The text at an index.
    pub(super) fn text(&self, ix: u64) -> Option<&'b [u8]> {
        let text = self.tables[STRINGS].get(usize::try_from(ix).ok()?)?;
        Some(text.bytes())
    }

    /// Encodes the part that these `ResourceProfiles` use; all of it if it cannot be followed, because the reader explains
    /// the reason.
    pub(super) fn used_by(&self, resources: &[Message<'b>]) -> MessageWriter {
        self.follow(resources).unwrap_or_else(|_| MessageWriter {
            bytes: self.whole.bytes().to_vec(),
        })
    }

    fn follow(&self, resources: &[Message<'b>]) -> Result<MessageWriter, DecodeError> {
        let mut used = Used {
            is_used: self.tables.each_ref().map(|table| vec![false; table.len()]),
            left: Vec::new(),
        };
        for resource in resources {
            used.follow_resource(*resource)?;
        }
        while let Some((table, ix)) = used.left.pop() {
            used.follow_entry(table, self.tables[table][ix])?;
        }
        let mut part = MessageWriter::default();
        for (table, number) in self.tables.iter().zip(0u32..) {
            for (entry, &is_used) in table.iter().zip(&used.is_used[number as usize]) {
                part.bytes(number, if is_used { entry.bytes() } else { &[] });
            }
        }
        Ok(part)
    }
}

impl Used {
    /// Marks the entry that a field refers to, or each entry of a list.
    fn mark(&mut self, table: usize, field: &Field<'_>) -> Result<(), DecodeError> {
        let mut indices = Vec::new();
        field.numbers_into(&mut indices)?;
        for ix in indices {
            // The reader of the profile complains about indices outside of the table.
            let Ok(ix) = usize::try_from(ix) else {
                continue;
            };
            if let Some(is_used) = self.is_used[table].get_mut(ix)
                && !std::mem::replace(is_used, true)
            {
                self.left.push((table, ix));
            }
        }
        Ok(())
    }

    fn follow_resource(&mut self, resource: Message<'_>) -> Result<(), DecodeError> {
        for attributes in messages(resource, 1) {
            for attribute in messages(attributes?, 1) {
                self.follow_attribute(attribute?, 3)?;
            }
        }
        for scope in messages(resource, 2) {
            for profile in messages(scope?, 2) {
                self.follow_profile(profile?)?;
            }
        }
        Ok(())
    }

    fn follow_profile(&mut self, profile: Message<'_>) -> Result<(), DecodeError> {
        for field in profile.fields() {
            let field = field?;
            match field.number {
                1 | 5 => self.mark_each(STRINGS, &[1, 2], field.message()?)?,
                2 => {
                    let sample = field.message()?;
                    self.mark_each(STACKS, &[1], sample)?;
                    // In version 1.9, field 2 has values, of which some may be indices by chance, and field 3 attributes.
                    self.mark_each(ATTRIBUTES, &[2, 3], sample)?;
                }
                11 => self.mark(ATTRIBUTES, &field)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn follow_entry(&mut self, table: usize, entry: Message<'_>) -> Result<(), DecodeError> {
        match table {
            MAPPINGS => {
                self.mark_each(STRINGS, &[4], entry)?;
                self.mark_each(ATTRIBUTES, &[5], entry)
            }
            LOCATIONS => {
                self.mark_each(MAPPINGS, &[1], entry)?;
                self.mark_each(ATTRIBUTES, &[4], entry)?;
                for line in messages(entry, 3) {
                    self.mark_each(FUNCTIONS, &[1], line?)?;
                }
                Ok(())
            }
            FUNCTIONS => self.mark_each(STRINGS, &[1, 2, 3], entry),
            ATTRIBUTES => self.follow_attribute(entry, 1),
            STACKS => self.mark_each(LOCATIONS, &[1], entry),
            _ => Ok(()),
        }
    }

    /// Follows a `KeyValue` or `KeyValueAndUnit`, whose field `key` has the index of its key.
    fn follow_attribute(&mut self, attribute: Message<'_>, key: u32) -> Result<(), DecodeError> {
        for field in attribute.fields() {
            let field = field?;
            match field.number {
                // In older versions, the key is a text, which the reader complains about.
                number if number == key || number == 3 => self.mark(STRINGS, &field)?,
                2 => self.mark_each(STRINGS, &[8], field.message()?)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Marks the entries that fields with these numbers refer to.
    fn mark_each(
        &mut self,
        table: usize,
        fields: &[u32],
        message: Message<'_>,
    ) -> Result<(), DecodeError> {
        for field in message.fields() {
            let field = field?;
            if fields.contains(&field.number) {
                self.mark(table, &field)?;
            }
        }
        Ok(())
    }
}
