//! Pairs of mostly small numbers, one byte per pair.

use super::DecodeError;
use super::bytes::{ENDS_EARLY, MAX_VARINT_64, Packer, Unpacker};

/// The smallest number that does not fit into half a byte.
const LARGE: u64 = 15;

/// Pairs under construction.
#[derive(Default)]
pub(super) struct PairPacker {
    bytes: Packer,
    large: [Packer; 2],
}

impl PairPacker {
    /// Appends a pair.
    pub(super) fn push(&mut self, pair: [u64; 2]) {
        let [high, low] = pair.map(|number| number.min(LARGE) as u8);
        self.bytes.raw(&[high << 4 | low]);
        for (large, number) in self.large.iter_mut().zip(pair) {
            if let Some(more) = number.checked_sub(LARGE) {
                large.number(more);
            }
        }
    }

    /// Appends the bytes, then the excess over 15 of the large numbers of each half.
    pub(super) fn finish(self, pack: &mut Packer) {
        let [high, low] = self.large;
        for column in [self.bytes, high, low] {
            pack.column(column);
        }
    }
}

/// Decompressed pairs.
pub(super) struct Pairs {
    bytes: Vec<u8>,
    large: [Vec<u8>; 2],
}

impl Pairs {
    /// Reads the columns of at most `most` pairs.
    pub(super) fn unpack(pack: &mut Unpacker<'_>, most: usize) -> Result<Self, DecodeError> {
        let bytes = pack.column_within(most)?;
        let longest = bytes.len() * MAX_VARINT_64;
        Ok(Pairs {
            bytes,
            large: [pack.column_within(longest)?, pack.column_within(longest)?],
        })
    }

    /// Number of pairs.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn reader(&self) -> PairReader<'_> {
        PairReader {
            bytes: self.bytes.iter(),
            large: self.large.each_ref().map(|column| Unpacker::new(column)),
        }
    }
}

/// A reader of pairs.
pub(super) struct PairReader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    large: [Unpacker<'a>; 2],
}

impl PairReader<'_> {
    /// Reads a pair.
    #[inline]
    pub(super) fn next(&mut self) -> Result<[u64; 2], DecodeError> {
        let byte = self.bytes.next().ok_or(ENDS_EARLY)?;
        let mut pair = [byte >> 4, byte & 15].map(u64::from);
        for (number, large) in pair.iter_mut().zip(&mut self.large) {
            if *number == LARGE {
                let sum = large.number()?.checked_add(LARGE);
                *number = sum.ok_or(DecodeError("a number takes more than 64 bits"))?;
            }
        }
        Ok(pair)
    }

    /// Checks that all pairs were read.
    pub(super) fn finish(self) -> Result<(), DecodeError> {
        if self.bytes.len() > 0 {
            return Err(DecodeError("bytes are left over"));
        }
        self.large.into_iter().try_for_each(Unpacker::finish)
    }
}
