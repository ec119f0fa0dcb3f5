//! The constant pools of a chunk.
//!
//! Events with constants are linked from the last to the first. Each has pools of constants of one
//! type, by key.
//!
//! Source: `jfrCheckpointManager.cpp` of HotSpot, `ChunkParser.java` of the JDK.

use super::chunk::Chunk;
use super::cursor::{JfrCursor, Text};
use super::types::{TypeIx, Types};
use super::values::{Value, WantedFields};
use crate::error::{DecodeError, Decoded};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use sto_model::bytes::Cursor;

/// Type id of events with constants.
pub(super) const CONSTANTS: i64 = 1;

/// Limit to the chain of keys that leads to a string; real files have two.
const MAX_HOPS: usize = 8;

pub(super) struct Pools<'c, 'b> {
    pub(super) types: &'c Types<'b>,
    bytes: &'b [u8],
    /// Offset in the file of each constant.
    offsets: HashMap<(TypeIx, i64), usize>,
    strings: Option<TypeIx>,
    /// The string constants used so far; each is decoded once, because many values may refer to a
    /// long one.
    texts: RefCell<HashMap<(TypeIx, i64), Text<'b>>>,
}

impl<'c, 'b> Pools<'c, 'b> {
    pub(super) fn read(chunk: &Chunk<'b>, types: &'c Types<'b>) -> Decoded<Pools<'c, 'b>> {
        let mut pools = Pools {
            types,
            bytes: chunk.bytes,
            offsets: HashMap::new(),
            strings: types.by_name("java.lang.String"),
            texts: RefCell::default(),
        };
        let mut at = chunk.constants;
        loop {
            let event = Cursor::at_position(chunk.bytes, at).event()?;
            if event.kind != CONSTANTS {
                let problem = format!(
                    "expected constants, an event of type 1, found type {}",
                    event.kind
                );
                return Err(DecodeError::new(at, problem));
            }
            let back = pools.read_event(event.fields)?;
            if back == 0 {
                return Ok(pools);
            }
            // Links only lead backwards, so the chain ends.
            let before = usize::try_from(back.unsigned_abs()).ok();
            let before = before
                .filter(|_| back < 0)
                .and_then(|back| at.checked_sub(back));
            at = before.filter(|&before| before >= chunk.events).ok_or_else(|| {
                let problem = format!(
                    "expected the constants before these, at fewer than 0 bytes from here and inside the chunk, found {back} bytes"
                );
                DecodeError::new(at, problem)
            })?;
        }
    }

    /// Reads an event. Returns the distance to the previous one, or 0 if there is none.
    fn read_event(&mut self, mut cursor: Cursor<'b>) -> Decoded<i64> {
        // Start time and duration.
        cursor.number()?;
        cursor.number()?;
        let back = cursor.number()?;
        // The reason for this checkpoint.
        cursor.u8()?;
        for _ in 0..cursor.count(2)? {
            let at = cursor.at();
            let id = cursor.number()?;
            let of = self.types.by_id(id).ok_or_else(|| {
                let problem =
                    format!("constants of the type {id}, which the chunk does not describe");
                DecodeError::new(at, problem)
            })?;
            for _ in 0..cursor.count(1 + self.types.min_size(of))? {
                let key = cursor.number()?;
                // Events are read from last to first, and the last definition counts.
                self.offsets.entry((of, key)).or_insert(cursor.at());
                self.types.skip(of, &mut cursor)?;
            }
        }
        Ok(back)
    }

    /// All constants of a type, in no particular order.
    pub(super) fn constants_of_type(&self, of: TypeIx) -> impl Iterator<Item = Value<'b>> {
        let of_type = self.offsets.iter().filter(move |((a, _), _)| *a == of);
        of_type.map(move |(_, &at)| Value::Fields(of, Cursor::at_position(self.bytes, at)))
    }

    /// Returns `true` if a value refers to a constant that the chunk does not have. The key 0 is
    /// null.
    pub(super) fn is_missing(&self, value: Value<'_>) -> bool {
        match value {
            Value::Key(of, key) => key != 0 && !self.offsets.contains_key(&(of, key)),
            _ => false,
        }
    }

    /// The wanted fields of a value; all `None` for null.
    pub(super) fn fields<const N: usize>(
        &self,
        value: Value<'b>,
        names: [&str; N],
    ) -> Decoded<[Value<'b>; N]> {
        match self.cursor_of(value) {
            Some((of, mut cursor)) => {
                WantedFields::new(self.types, of, names).read(self.types, &mut cursor)
            }
            None => Ok([Value::None; N]),
        }
    }

    /// The string of a value or of its first field, as for a symbol; empty if there is none.
    pub(super) fn text(&self, value: Value<'b>) -> Decoded<Cow<'b, [u8]>> {
        let mut value = value;
        let mut keys = Vec::new();
        let mut at = 0;
        let text = loop {
            if let (Value::Text(Text::Pooled(key)), Some(strings)) = (value, self.strings) {
                value = Value::Key(strings, key);
            }
            match value {
                Value::Text(text) => break text,
                Value::Key(of, key) => match self.texts.borrow().get(&(of, key)) {
                    Some(&known) => break known,
                    None => keys.push((of, key)),
                },
                _ => {}
            }
            let Some((of, mut cursor)) = self.cursor_of(value) else {
                break Text::Null;
            };
            if keys.len() > MAX_HOPS {
                let problem = format!(
                    "a string that more than {MAX_HOPS} constants lead to, or that refers to itself; was the file damaged?"
                );
                return Err(DecodeError::new(at, problem));
            }
            at = cursor.at();
            value = self.types.first(of, &mut cursor)?;
        };
        let mut texts = self.texts.borrow_mut();
        texts.extend(keys.into_iter().map(|key| (key, text)));
        Ok(text.bytes())
    }

    /// The type and the position of a value's fields.
    pub(super) fn cursor_of(&self, value: Value<'b>) -> Option<(TypeIx, Cursor<'b>)> {
        match value {
            Value::Key(of, key) => {
                let at = *self.offsets.get(&(of, key))?;
                Some((of, Cursor::at_position(self.bytes, at)))
            }
            Value::Fields(of, cursor) => Some((of, cursor)),
            _ => None,
        }
    }
}
