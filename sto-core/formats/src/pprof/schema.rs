//! The messages of a pprof profile that are read.
//!
//! Source: `proto/profile.proto` of <https://github.com/google/pprof>.

use crate::error::{DecodeError, Decoded};
use crate::wire::protobuf::{Field, FromField, Message, fields};
use hashbrown::HashMap;
use sto_model::FrameKind;

/// A profile without its samples.
#[derive(Default)]
pub(crate) struct Profile<'b> {
    pub(crate) sample_types: Vec<ValueType>,
    pub(crate) mappings: Table<Mapping>,
    pub(crate) locations: Table<Location<'b>>,
    pub(crate) functions: Table<Function>,
    pub(crate) drop_frames: Text,
    pub(crate) keep_frames: Text,
    /// Time of the recording, in nanoseconds since 1970.
    pub(crate) time: u64,
    /// Duration in nanoseconds.
    pub(crate) duration: u64,
    pub(crate) period_type: ValueType,
    pub(crate) period: u64,
    pub(crate) comments: Vec<Text>,
    pub(crate) default_sample_type: Text,
    pub(crate) strings: Vec<&'b [u8]>,
}

/// An index into the string table.
#[derive(Clone, Copy, Default)]
pub(crate) struct Text {
    pub(crate) ix: u64,
    /// Offset in the file of the reference.
    pub(crate) at: usize,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct ValueType {
    pub(crate) kind: Text,
    pub(crate) unit: Text,
}

#[derive(Default)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) offset: u64,
    pub(crate) file: Text,
    pub(crate) build_id: Text,
}

#[derive(Default)]
pub(crate) struct Location<'b> {
    pub(crate) at: usize,
    /// Id of the mapping, or 0.
    pub(crate) mapping: u64,
    pub(crate) address: u64,
    /// The lines, innermost first.
    pub(crate) lines: Vec<Message<'b>>,
    /// The frame kind, if the file has one; pprof never does.
    pub(crate) kind: Option<FrameKind>,
}

#[derive(Default)]
pub(crate) struct Line {
    /// Id of the function, or 0.
    pub(crate) function: u64,
    pub(crate) line: u64,
}

#[derive(Default)]
pub(crate) struct Function {
    pub(crate) name: Text,
    pub(crate) system_name: Text,
    pub(crate) file: Text,
}

#[derive(Default)]
pub(crate) struct Label {
    pub(crate) key: Text,
    pub(crate) text: Text,
    pub(crate) number: u64,
    pub(crate) unit: Text,
}

pub(crate) type Named<'b> = (&'b [u8], &'b [u8]);

/// Rows by the ids that the file gives them.
pub(crate) struct Table<T> {
    pub(crate) rows: Vec<T>,
    /// Number of leading rows whose ids are 1, 2, 3 and so on, as most writers number them.
    in_order: usize,
    others: HashMap<u64, usize>,
}

impl<'b> Profile<'b> {
    /// Parses a profile from the parts of a file of `size` bytes.
    pub(crate) fn parse(
        parts: impl Iterator<Item = Message<'b>>,
        size: usize,
    ) -> Decoded<Profile<'b>> {
        let mut profile = Profile::default();
        for part in parts {
            fields!(part, {
                1 => profile.sample_types,
                3 => profile.mappings,
                4 => profile.locations,
                5 => profile.functions,
                6 => profile.strings,
                7 => profile.drop_frames,
                8 => profile.keep_frames,
                9 => profile.time,
                10 => profile.duration,
                11 => profile.period_type,
                12 => profile.period,
                13 => profile.comments,
                14 => profile.default_sample_type,
            });
        }
        if profile.strings.is_empty() {
            return Err(DecodeError::cut(size, "before its string table"));
        }
        Ok(profile)
    }

    pub(crate) fn named(&self, value_type: &ValueType) -> Decoded<Named<'b>> {
        Ok((self.text(value_type.kind)?, self.text(value_type.unit)?))
    }

    /// The sampling period and its event, if known.
    pub(crate) fn period_of(
        &self,
        value_type: &ValueType,
        period: u64,
    ) -> Decoded<Option<(Named<'b>, u64)>> {
        match period {
            0 => Ok(None),
            _ => Ok(Some((self.named(value_type)?, period))),
        }
    }

    pub(crate) fn text(&self, text: Text) -> Decoded<&'b [u8]> {
        let found = usize::try_from(text.ix)
            .ok()
            .and_then(|ix| self.strings.get(ix));
        found.copied().ok_or_else(|| {
            let problem = format!(
                "string {} of a string table that has {}; was the file cut short, or edited?",
                text.ix,
                self.strings.len()
            );
            DecodeError::new(text.at, problem)
        })
    }
}

impl FromField<'_> for Text {
    fn take(&mut self, field: &Field<'_>) -> Decoded<()> {
        (self.ix, self.at) = (field.number()?, field.at);
        Ok(())
    }
}

impl FromField<'_> for Vec<Text> {
    fn take(&mut self, field: &Field<'_>) -> Decoded<()> {
        let (mut indices, at) = (Vec::new(), field.at);
        field.numbers_into(&mut indices)?;
        self.extend(indices.into_iter().map(|ix| Text { ix, at }));
        Ok(())
    }
}

impl FromField<'_> for ValueType {
    fn take(&mut self, field: &Field<'_>) -> Decoded<()> {
        *self = ValueType::default();
        fields!(field.message()?, { 1 => self.kind, 2 => self.unit });
        Ok(())
    }
}

impl FromField<'_> for Vec<ValueType> {
    fn take(&mut self, field: &Field<'_>) -> Decoded<()> {
        self.push(ValueType::default());
        self.last_mut().map_or(Ok(()), |last| last.take(field))
    }
}

impl Line {
    pub(crate) fn parse(message: Message<'_>) -> Decoded<Line> {
        let mut line = Line::default();
        fields!(message, { 1 => line.function, 2 => line.line });
        Ok(line)
    }
}

impl Label {
    pub(crate) fn parse(message: Message<'_>) -> Decoded<Label> {
        let mut label = Label::default();
        fields!(message, { 1 => label.key, 2 => label.text, 3 => label.number, 4 => label.unit });
        Ok(label)
    }
}

pub(crate) trait Row<'b>: Default {
    /// Reads a row and returns its id.
    fn read(&mut self, message: Message<'b>) -> Decoded<u64>;
}

impl Row<'_> for Mapping {
    fn read(&mut self, message: Message<'_>) -> Decoded<u64> {
        let mut id = 0;
        fields!(message, {
            1 => id, 2 => self.start, 4 => self.offset, 5 => self.file, 6 => self.build_id,
        });
        Ok(id)
    }
}

impl<'b> Row<'b> for Location<'b> {
    fn read(&mut self, message: Message<'b>) -> Decoded<u64> {
        let mut id = 0;
        self.at = message.at();
        fields!(message, { 1 => id, 2 => self.mapping, 3 => self.address, 4 => self.lines });
        Ok(id)
    }
}

impl Row<'_> for Function {
    fn read(&mut self, message: Message<'_>) -> Decoded<u64> {
        let mut id = 0;
        fields!(message, { 1 => id, 2 => self.name, 3 => self.system_name, 4 => self.file });
        Ok(id)
    }
}

impl<'b, T: Row<'b>> FromField<'b> for Table<T> {
    fn take(&mut self, field: &Field<'b>) -> Decoded<()> {
        let mut row = T::default();
        let id = row.read(field.message()?)?;
        self.insert(id, row, field.at)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table {
            rows: Vec::new(),
            in_order: 0,
            others: HashMap::new(),
        }
    }
}

impl<T> Table<T> {
    pub(crate) fn insert(&mut self, id: u64, row: T, at: usize) -> Decoded<()> {
        if id == 0 {
            let problem = "the id 0, which stands for no id; expected 1 or more";
            return Err(DecodeError::new(at, problem));
        }
        if self.index_of(id).is_some() {
            let problem = format!("the id {id} for the second time; expected another");
            return Err(DecodeError::new(at, problem));
        }
        let index = self.rows.len();
        if self.in_order == index && id == index as u64 + 1 {
            self.in_order += 1;
        } else {
            self.others.insert(id, index);
        }
        self.rows.push(row);
        Ok(())
    }

    /// The index in [`Table::rows`] of the row with an id.
    pub(crate) fn index_of(&self, id: u64) -> Option<usize> {
        let index = usize::try_from(id.checked_sub(1)?).ok();
        let in_order = index.filter(|&index| index < self.in_order);
        in_order.or_else(|| self.others.get(&id).copied())
    }

    /// Replaces the location ids of a stack by indices. Returns an error if one is missing.
    pub(crate) fn indices_of(&self, ids: &mut [u64], at: usize) -> Decoded<()> {
        for id in ids {
            let index = self.index_of(*id);
            *id = index.ok_or_else(|| DecodeError::undefined_id(at, "the location", *id))? as u64;
        }
        Ok(())
    }

    /// The row with an id, or `None` for the id 0.
    ///
    /// # Errors
    /// Returns an error if no row has the id.
    pub(crate) fn get(&self, id: u64, what: &str, at: usize) -> Decoded<Option<&T>> {
        if id == 0 {
            return Ok(None);
        }
        match self.index_of(id) {
            Some(index) => Ok(Some(&self.rows[index])),
            None => Err(DecodeError::undefined_id(at, what, id)),
        }
    }
}
