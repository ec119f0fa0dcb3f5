//! What Python's and Ruby's marshal have in common: values that refer to others by number, and the bytes that these are
//! read from.

use crate::error::{DecodeError, Decoded};
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

/// Bytes, one after the other.
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8], at: usize) -> Cursor<'b> {
        Cursor { bytes, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn take(&mut self, length: usize) -> Decoded<&'b [u8]> {
        let rest = self.bytes.get(self.at..);
        let taken = rest.and_then(|rest| rest.get(..length));
        let taken = taken.ok_or_else(|| self.ends_before(length))?;
        self.at += length;
        Ok(taken)
    }

    /// Refuses more values than can follow: each has a byte at least.
    pub(super) fn check_count(&self, count: usize) -> Decoded<()> {
        match count > self.bytes.len() - self.at {
            true => Err(self.ends_before(count)),
            false => Ok(()),
        }
    }

    fn ends_before(&self, length: usize) -> DecodeError {
        DecodeError::ends_at(self.at, self.at as u64 + length as u64)
    }
}

/// The error of a reference to what was not read before.
pub(super) fn no_such(at: usize, number: usize) -> DecodeError {
    let problem =
        format!("refers to value {number}, which does not stand before; was the file damaged?");
    DecodeError::new(at, problem)
}
