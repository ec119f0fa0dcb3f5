//! The messages of a pprof profile, as far as they are read.
//!
//! Source: `proto/profile.proto` of <https://github.com/google/pprof>.

use super::columns::Named;
use crate::formats::error::DecodeError;
use crate::formats::wire::protobuf::{Field, Message};
use crate::model::FrameKind;
use hashbrown::HashMap;

/// A profile. Samples are left where they are: the tables that they refer to stand behind them.
#[derive(Default)]
pub(in crate::formats) struct Profile<'b> {
    pub(in crate::formats) sample_types: Vec<ValueType>,
    pub(in crate::formats) samples: Vec<Message<'b>>,
    pub(in crate::formats) mappings: Table<Mapping>,
    pub(in crate::formats) locations: Table<Location<'b>>,
    pub(in crate::formats) functions: Table<Function>,
    pub(in crate::formats) drop_frames: Text,
    pub(in crate::formats) keep_frames: Text,
    /// Nanoseconds since 1970.
    pub(in crate::formats) time: u64,
    /// Nanoseconds.
    pub(in crate::formats) duration: u64,
    pub(in crate::formats) period_type: Option<ValueType>,
    pub(in crate::formats) period: u64,
    pub(in crate::formats) comments: Vec<Text>,
    pub(in crate::formats) default_sample_type: Text,
    pub(in crate::formats) strings: Vec<&'b [u8]>,
}

/// A string, by its place in the string table.
#[derive(Clone, Copy, Default)]
pub(in crate::formats) struct Text {
    pub(in crate::formats) ix: u64,
    /// Where the file refers to it.
    pub(in crate::formats) at: usize,
}

#[derive(Clone, Copy, Default)]
pub(in crate::formats) struct ValueType {
    pub(in crate::formats) kind: Text,
    pub(in crate::formats) unit: Text,
}

#[derive(Default)]
pub(in crate::formats) struct Mapping {
    pub(in crate::formats) start: u64,
    pub(in crate::formats) offset: u64,
    pub(in crate::formats) file: Text,
    pub(in crate::formats) build_id: Text,
}

pub(in crate::formats) struct Location<'b> {
    pub(in crate::formats) at: usize,
    /// Id of its mapping; 0 without one.
    pub(in crate::formats) mapping: u64,
    pub(in crate::formats) address: u64,
    /// Its lines, of which the innermost comes first.
    pub(in crate::formats) lines: Vec<Message<'b>>,
    /// What the file says of its kind; nothing in pprof.
    pub(in crate::formats) kind: Option<FrameKind>,
}

#[derive(Default)]
pub(in crate::formats) struct Line {
    /// Id of its function; 0 without one.
    pub(in crate::formats) function: u64,
    pub(in crate::formats) line: u64,
}

#[derive(Default)]
pub(in crate::formats) struct Function {
    pub(in crate::formats) name: Text,
    pub(in crate::formats) system_name: Text,
    pub(in crate::formats) file: Text,
}

/// What a label says.
#[derive(Default)]
pub(in crate::formats) struct Label {
    pub(in crate::formats) key: Text,
    pub(in crate::formats) text: Text,
    pub(in crate::formats) number: u64,
    pub(in crate::formats) unit: Text,
}

/// Rows by the ids that a file gives them.
pub(in crate::formats) struct Table<T> {
    pub(in crate::formats) rows: Vec<T>,
    /// Number of rows from the first on whose ids are 1, 2, 3, as most writers give them.
    in_order: usize,
    others: HashMap<u64, usize>,
}

impl<'b> Profile<'b> {
    pub(in crate::formats) fn parse(bytes: &'b [u8]) -> Result<Profile<'b>, DecodeError> {
        let mut profile = Profile::default();
        let mut message = Message::of_file(bytes);
        while let Some(field) = message.next()? {
            profile.field(&field)?;
        }
        if profile.strings.is_empty() {
            return Err(DecodeError::cut(bytes.len(), "before its string table"));
        }
        Ok(profile)
    }

    fn field(&mut self, field: &Field<'b>) -> Result<(), DecodeError> {
        match field.number {
            1 => self.sample_types.push(ValueType::parse(field.message()?)?),
            2 => self.samples.push(field.message()?),
            3 => {
                let (id, mapping) = Mapping::parse(field.message()?)?;
                self.mappings.insert(id, mapping, field.at)?;
            }
            4 => {
                let (id, location) = Location::parse(field.message()?)?;
                self.locations.insert(id, location, field.at)?;
            }
            5 => {
                let (id, function) = Function::parse(field.message()?)?;
                self.functions.insert(id, function, field.at)?;
            }
            6 => self.strings.push(field.bytes()?),
            7 => self.drop_frames = Text::parse(field)?,
            8 => self.keep_frames = Text::parse(field)?,
            9 => self.time = field.number()?,
            10 => self.duration = field.number()?,
            11 => self.period_type = Some(ValueType::parse(field.message()?)?),
            12 => self.period = field.number()?,
            13 => {
                let mut places = Vec::new();
                field.numbers_into(&mut places)?;
                let at = field.at;
                let comments = places.into_iter().map(|ix| Text { ix, at });
                self.comments.extend(comments);
            }
            14 => self.default_sample_type = Text::parse(field)?,
            _ => {}
        }
        Ok(())
    }

    pub(in crate::formats) fn named(
        &self,
        value_type: &ValueType,
    ) -> Result<Named<'b>, DecodeError> {
        Ok((self.text(value_type.kind)?, self.text(value_type.unit)?))
    }

    /// The bytes of a string.
    pub(in crate::formats) fn text(&self, text: Text) -> Result<&'b [u8], DecodeError> {
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

impl Text {
    pub(in crate::formats) fn parse(field: &Field<'_>) -> Result<Text, DecodeError> {
        Ok(Text {
            ix: field.number()?,
            at: field.at,
        })
    }
}

impl ValueType {
    pub(in crate::formats) fn parse(mut message: Message<'_>) -> Result<ValueType, DecodeError> {
        let mut value_type = ValueType::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => value_type.kind = Text::parse(&field)?,
                2 => value_type.unit = Text::parse(&field)?,
                _ => {}
            }
        }
        Ok(value_type)
    }
}

impl Mapping {
    fn parse(mut message: Message<'_>) -> Result<(u64, Mapping), DecodeError> {
        let (mut id, mut mapping) = (0, Mapping::default());
        while let Some(field) = message.next()? {
            match field.number {
                1 => id = field.number()?,
                2 => mapping.start = field.number()?,
                4 => mapping.offset = field.number()?,
                5 => mapping.file = Text::parse(&field)?,
                6 => mapping.build_id = Text::parse(&field)?,
                _ => {}
            }
        }
        Ok((id, mapping))
    }
}

impl<'b> Location<'b> {
    fn parse(mut message: Message<'b>) -> Result<(u64, Location<'b>), DecodeError> {
        let mut id = 0;
        let mut location = Location {
            at: message.at(),
            mapping: 0,
            address: 0,
            lines: Vec::new(),
            kind: None,
        };
        while let Some(field) = message.next()? {
            match field.number {
                1 => id = field.number()?,
                2 => location.mapping = field.number()?,
                3 => location.address = field.number()?,
                4 => location.lines.push(field.message()?),
                _ => {}
            }
        }
        Ok((id, location))
    }
}

impl Line {
    pub(in crate::formats) fn parse(mut message: Message<'_>) -> Result<Line, DecodeError> {
        let mut line = Line::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => line.function = field.number()?,
                2 => line.line = field.number()?,
                _ => {}
            }
        }
        Ok(line)
    }
}

impl Function {
    fn parse(mut message: Message<'_>) -> Result<(u64, Function), DecodeError> {
        let (mut id, mut function) = (0, Function::default());
        while let Some(field) = message.next()? {
            match field.number {
                1 => id = field.number()?,
                2 => function.name = Text::parse(&field)?,
                3 => function.system_name = Text::parse(&field)?,
                4 => function.file = Text::parse(&field)?,
                _ => {}
            }
        }
        Ok((id, function))
    }
}

impl Label {
    pub(in crate::formats) fn parse(mut message: Message<'_>) -> Result<Label, DecodeError> {
        let mut label = Label::default();
        while let Some(field) = message.next()? {
            match field.number {
                1 => label.key = Text::parse(&field)?,
                2 => label.text = Text::parse(&field)?,
                3 => label.number = field.number()?,
                4 => label.unit = Text::parse(&field)?,
                _ => {}
            }
        }
        Ok(label)
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
    pub(in crate::formats) fn insert(
        &mut self,
        id: u64,
        row: T,
        at: usize,
    ) -> Result<(), DecodeError> {
        if id == 0 {
            return Err(DecodeError::new(
                at,
                "the id 0, which stands for no id; expected 1 or more",
            ));
        }
        if self.place(id).is_some() {
            let problem = format!("the id {id} for the second time; expected another");
            return Err(DecodeError::new(at, problem));
        }
        let place = self.rows.len();
        if self.in_order == place && id == place as u64 + 1 {
            self.in_order += 1;
        } else {
            self.others.insert(id, place);
        }
        self.rows.push(row);
        Ok(())
    }

    /// Where in [`Table::rows`] the row of an id stands.
    pub(in crate::formats) fn place(&self, id: u64) -> Option<usize> {
        let place = usize::try_from(id.checked_sub(1)?).ok();
        place
            .filter(|&place| place < self.in_order)
            .or_else(|| self.others.get(&id).copied())
    }

    /// The row of an id; `None` for the id 0, which stands for none.
    ///
    /// # Errors
    /// Where no row has the id.
    pub(in crate::formats) fn get(
        &self,
        id: u64,
        what: &str,
        at: usize,
    ) -> Result<Option<&T>, DecodeError> {
        if id == 0 {
            return Ok(None);
        }
        match self.place(id) {
            Some(place) => Ok(Some(&self.rows[place])),
            None => Err(DecodeError::missing(at, what, id)),
        }
    }
}
