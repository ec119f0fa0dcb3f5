//! Columns of numbers, and readers for stacks, times and counts of calls.

use crate::codec::DecodeError;
use crate::codec::bytes::{Unpacker, add_difference};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

/// Reads nodes, each stored as the difference to the previous one.
pub(in crate::codec) struct Nodes<'a> {
    pub(in crate::codec) column: Unpacker<'a>,
    last: u32,
}

impl<'a> Nodes<'a> {
    pub(in crate::codec) fn new(column: Unpacker<'a>) -> Self {
        Nodes { column, last: 0 }
    }

    pub(in crate::codec) fn next(&mut self) -> Result<NodeIx, DecodeError> {
        self.last = add_difference(self.last, self.column.number32()?);
        Ok(NodeIx(self.last))
    }
}

pub(super) const MANY_CALLS: DecodeError = DecodeError("a number of calls takes more than 64 bits");

/// Reads columns of at most `most` bytes each.
pub(in crate::codec) fn columns<const N: usize>(
    pack: &mut Unpacker<'_>,
    most: usize,
) -> Result<[Vec<u8>; N], DecodeError> {
    let mut columns: [Vec<u8>; N] = std::array::from_fn(|_| Vec::new());
    for column in &mut columns {
        *column = pack.column_within(most)?;
    }
    Ok(columns)
}

pub(in crate::codec) fn add_time(time: Nanoseconds, by: u64) -> Result<Nanoseconds, DecodeError> {
    let time = time.0.checked_add(by).map(Nanoseconds);
    time.ok_or(DecodeError("a time takes more than 64 bits"))
}

pub(in crate::codec) fn add_one_call(calls: u64) -> Result<u64, DecodeError> {
    calls.checked_add(1).ok_or(MANY_CALLS)
}
