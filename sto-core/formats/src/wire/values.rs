//! What Python's and Ruby's marshal have in common: values that refer to others by number.

use crate::error::{DecodeError, Decoded};
use sto_model::bytes::Cursor;
use sto_model::numbers;

numbers! {
    /// A value by its place in what was read.
    pub(crate) ValueIx;
}

/// A value with all that stands in it.
pub(crate) struct Values<V> {
    pub(super) values: Vec<V>,
    pub(crate) root: ValueIx,
}

impl<V> Values<V> {
    pub(crate) fn get(&self, value: ValueIx) -> &V {
        &self.values[value.get()]
    }
}

/// Refuses more values than can follow: each has a byte at least.
pub(super) fn check_count(mut cursor: Cursor<'_>, count: usize) -> Decoded<()> {
    cursor.take(count as u64)?;
    Ok(())
}

/// The error of a reference to what was not read before.
pub(super) fn no_such(at: usize, number: usize) -> DecodeError {
    let problem =
        format!("refers to value {number}, which does not stand before; was the file damaged?");
    DecodeError::new(at, problem)
}
