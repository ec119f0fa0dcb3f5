//! Values that can refer to others by number, as in the marshal formats of Python and Ruby.

use crate::error::{DecodeError, Decoded};
use sto_model::bytes::Cursor;
use sto_model::index_types;

index_types! {
    /// Index of a value.
    pub(crate) ValueIx;
}

/// A value with all values in it.
pub(crate) struct Values<V> {
    pub(super) values: Vec<V>,
    pub(crate) root: ValueIx,
}

impl<V> Values<V> {
    pub(crate) fn get(&self, value: ValueIx) -> &V {
        &self.values[value.get()]
    }
}

/// Rejects a count of values that exceeds the remaining bytes; each value takes at least one.
pub(super) fn check_count(mut cursor: Cursor<'_>, count: usize) -> Decoded<()> {
    cursor.take(count as u64)?;
    Ok(())
}

/// Makes an error for a reference to a value that was not read before.
pub(super) fn undefined_value(at: usize, number: usize) -> DecodeError {
    let problem =
        format!("refers to value {number}, which was not defined before; was the file damaged?");
    DecodeError::new(at, problem)
}
