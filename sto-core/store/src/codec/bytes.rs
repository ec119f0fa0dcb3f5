//! Varints and compressed columns.

use super::DecodeError;
use crate::tables::ZSTD_LEVEL;
use rayon::prelude::*;
use sto_model::bytes::{Cursor, CursorError, push_varint};

/// Added to the number of bytes if each byte position has its own column.
const SPLIT: usize = 4;

/// A pack under construction.
#[derive(Default)]
pub(super) struct Packer {
    bytes: Vec<u8>,
    /// Whether a column is too long to be read back.
    too_long: bool,
}

impl Packer {
    /// Appends a varint.
    pub(super) fn number(&mut self, value: impl Into<u64>) {
        push_varint(&mut self.bytes, value.into());
    }

    /// Appends bytes unchanged.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends the bytes of another packer.
    pub(super) fn append(&mut self, other: Packer) {
        self.too_long |= other.too_long;
        self.raw(&other.bytes);
    }

    /// Number of bytes so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a column: its length, its compressed length (0 if it is not compressed), and the shorter
    /// of the two forms.
    pub(super) fn column(&mut self, column: Packer) {
        let raw = column.bytes;
        self.too_long |= column.too_long || raw.len() > MAX_COLUMN_LEN;
        let packed = zstd::bulk::compress(&raw, ZSTD_LEVEL)
            .ok()
            .filter(|packed| packed.len() < raw.len());
        self.number(raw.len() as u64);
        self.number(packed.as_ref().map_or(0, |packed| packed.len() as u64));
        self.raw(packed.as_ref().unwrap_or(&raw));
    }

    /// Appends columns, which are compressed in parallel.
    pub(super) fn columns(&mut self, columns: impl IntoParallelIterator<Item = Packer>) {
        let columns = columns.into_par_iter().map(|column| {
            let mut pack = Packer::default();
            pack.column(column);
            pack
        });
        let columns: Vec<Packer> = columns.collect();
        columns.into_iter().for_each(|column| self.append(column));
    }

    /// Appends 32-bit numbers, each in as many bytes as the largest takes, lowest byte first. Either number by
    /// number, or with a column for each byte position, whichever is shorter.
    pub(super) fn numbers(&mut self, numbers: &[u32]) {
        let width = numbers.iter().fold(1, |all, number| all | number).ilog2() as usize / 8 + 1;
        let byte = |number: &u32, at: usize| number.to_le_bytes()[at];
        let [mut whole, mut split] = [(); 2].map(|()| Packer::default());
        let pack_whole = || {
            let one_after_the_other = numbers
                .iter()
                .flat_map(|number| (0..width).map(move |at| byte(number, at)));
            whole.number(width as u64);
            whole.column(Packer::from_bytes(one_after_the_other.collect()));
        };
        let pack_split = || {
            let at =
                |at| Packer::from_bytes(numbers.iter().map(|number| byte(number, at)).collect());
            split.number((width + SPLIT) as u64);
            split.columns((0..width).into_par_iter().map(at));
        };
        rayon::join(pack_whole, pack_split);
        let shorter = if whole.bytes.len() <= split.bytes.len() {
            whole
        } else {
            split
        };
        self.append(shorter);
    }

    /// Continues with these bytes.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Packer {
            bytes,
            too_long: false,
        }
    }

    /// The bytes; an error if a column is too long for readers.
    pub(super) fn finish(self) -> Result<Vec<u8>, DecodeError> {
        if self.too_long {
            Err(DecodeError("one of its columns is longer than 1 GiB"))
        } else {
            Ok(self.bytes)
        }
    }
}

/// Maximum length of a varint of 32 or 64 bits.
pub(super) const MAX_VARINT_32: usize = 5;
pub(super) const MAX_VARINT_64: usize = 10;

/// Maximum compression ratio. zstd stores a block of 128 KiB of one repeated byte in 4 bytes, and
/// nothing compresses better.
const MAX_COMPRESSION_RATIO: usize = 128 * 1024 / 4;

/// Maximum length of a column, which bounds the memory that hostile bytes can make a reader reserve.
pub(super) const MAX_COLUMN_LEN: usize = 1 << 30;

/// A pack being read.
#[derive(Clone, Copy)]
pub(super) struct Unpacker<'a>(Cursor<'a>);

impl<'a> Unpacker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Unpacker(Cursor::new(bytes))
    }

    /// Reads a varint in its shortest form.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, DecodeError> {
        let before = self.remaining();
        let number = self.0.varint().map_err(unreadable)?;
        let length = before - self.remaining();
        if length > 1 && number >> (7 * (length - 1)) == 0 {
            return Err(LONGER);
        }
        Ok(number)
    }

    /// Reads a varint of 32 bits in its shortest form.
    #[inline]
    pub(super) fn number32(&mut self) -> Result<u32, DecodeError> {
        let before = self.remaining();
        let number = self.0.varint32().map_err(unreadable)?;
        let length = (before - self.remaining()) as u32;
        // Branch-free on the length, which would be mispredicted.
        // Of 64 bits, as a longer form than needed has up to 10 bytes.
        if (length > 1) & (u64::from(number) >> (7 * (length - 1)) == 0) {
            return Err(LONGER);
        }
        Ok(number)
    }

    /// The next byte, without consuming it.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.0.rest().first().copied()
    }

    /// Skips numbers up to the zero with index `nth` among the zeros; returns the count of skipped
    /// numbers.
    pub(super) fn skip_to_zero(&mut self, nth: usize) -> Option<usize> {
        // A sum of bytes, which compilers vectorize.
        let count = |bytes: &[u8], what: fn(u8) -> bool| -> u8 {
            bytes.iter().map(|&byte| u8::from(what(byte))).sum()
        };
        let (mut zeros, mut numbers) = (nth, 0);
        let mut ahead = self.0;
        while let Ok(bytes) = ahead.take(64) {
            let Some(left) = zeros.checked_sub(count(bytes, |byte| byte == 0).into()) else {
                break;
            };
            (zeros, self.0) = (left, ahead);
            numbers += usize::from(count(bytes, |byte| byte < 0x80));
        }
        let zero = memchr::memchr_iter(0, self.0.rest()).nth(zeros)?;
        let passed = self.0.take(zero as u64).ok()?;
        Some(numbers + usize::from(count(passed, |byte| byte < 0x80)))
    }

    /// Reads bytes unchanged.
    pub(super) fn raw(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        self.0.take(len as u64).map_err(unreadable)
    }

    /// Skips a column; returns the length that it announces.
    pub(super) fn skip_column(&mut self) -> Result<u64, DecodeError> {
        let raw_len = self.len()?;
        let packed_len = self.len()?;
        self.raw(if packed_len == 0 { raw_len } else { packed_len })?;
        Ok(raw_len as u64)
    }

    /// Reads a column of at most `most` bytes.
    pub(super) fn column_within(&mut self, most: usize) -> Result<Vec<u8>, DecodeError> {
        if Unpacker(self.0).len()? > most {
            Err(DecodeError(
                "a column has more bytes than its content can take",
            ))
        } else {
            self.column()
        }
    }

    /// Reads a column.
    pub(super) fn column(&mut self) -> Result<Vec<u8>, DecodeError> {
        let raw_len = self.len()?;
        let packed_len = self.len()?;
        if packed_len == 0 {
            return Ok(self.raw(raw_len)?.to_vec());
        }
        let packed = self.raw(packed_len)?;
        if raw_len > MAX_COLUMN_LEN || raw_len / MAX_COMPRESSION_RATIO > packed_len {
            return Err(DecodeError(
                "a column announces more bytes than it can have",
            ));
        }
        let raw = zstd::bulk::decompress(packed, raw_len)
            .map_err(|_| DecodeError("a column does not decompress"))?;
        if raw.len() != raw_len {
            return Err(DecodeError("a column has another length than announced"));
        }
        Ok(raw)
    }

    /// Reads 32-bit numbers as written by [`Packer::numbers`].
    pub(super) fn numbers(&mut self, count: usize) -> Result<Vec<u32>, DecodeError> {
        const OTHER: DecodeError = DecodeError("there are not as many numbers as announced");
        let form = self.len()?;
        let mut numbers = Vec::new();
        match form {
            1..=4 => {
                let bytes = form.saturating_mul(count);
                let column = self.column_within(bytes)?;
                if column.len() != bytes {
                    return Err(OTHER);
                }
                numbers.resize(count, 0);
                for (number, bytes) in numbers.iter_mut().zip(column.chunks_exact(form)) {
                    let bytes = bytes.iter().rev();
                    *number = bytes.fold(0, |number, &byte| number << 8 | u32::from(byte));
                }
            }
            5..=8 => {
                for at in 0..form - SPLIT {
                    let column = self.column_within(count)?;
                    if column.len() != count {
                        return Err(OTHER);
                    }
                    numbers.resize(count, 0);
                    for (number, byte) in numbers.iter_mut().zip(column) {
                        *number |= u32::from(byte) << (8 * at);
                    }
                }
            }
            _ => return Err(DecodeError("a number does not have 1 to 4 bytes")),
        }
        Ok(numbers)
    }

    fn len(&mut self) -> Result<usize, DecodeError> {
        usize::try_from(self.number()?).map_err(|_| ENDS_EARLY)
    }

    /// Number of remaining bytes, which bounds the number of remaining items, as each takes at least one.
    pub(super) fn remaining(&self) -> usize {
        self.0.left()
    }

    /// Checks that all bytes were read.
    pub(super) fn finish(self) -> Result<(), DecodeError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(DecodeError("bytes are left over"))
        }
    }
}

/// The difference of two numbers modulo 2^32, zigzag-encoded so that small differences are small numbers.
pub(super) fn difference(value: u32, previous: u32) -> u32 {
    let difference = value.wrapping_sub(previous) as i32;
    ((difference << 1) ^ (difference >> 31)) as u32
}

/// Reverses [`difference`].
pub(super) fn add_difference(previous: u32, difference: u32) -> u32 {
    previous.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg())
}

fn unreadable(error: CursorError) -> DecodeError {
    match error {
        CursorError::EndsEarly { .. } => ENDS_EARLY,
        CursorError::TooManyBits { bits: 32, .. } => {
            DecodeError("a number takes more than 32 bits")
        }
        CursorError::TooManyBits { .. } => DecodeError("a number takes more than 64 bits"),
    }
}

pub(super) const ENDS_EARLY: DecodeError = DecodeError("it ends early");
const LONGER: DecodeError = DecodeError("a number has more bytes than it takes");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip(numbers: Vec<u64>) {
            let mut packer = Packer::default();
            for &number in &numbers {
                packer.number(number);
            }
            let bytes = packer.finish().unwrap();
            let mut unpacker = Unpacker::new(&bytes);
            for number in numbers {
                prop_assert_eq!(unpacker.number(), Ok(number));
            }
            prop_assert_eq!(unpacker.finish(), Ok(()));
        }

        #[test]
        fn columns_round_trip(run in 0usize..300_000, tail: Vec<u8>) {
            let mut column = vec![7; run];
            column.extend(tail);
            let mut packer = Packer::default();
            let mut raw = Packer::default();
            raw.raw(&column);
            packer.column(raw);
            let bytes = packer.finish().unwrap();
            let mut unpacker = Unpacker::new(&bytes);
            prop_assert_eq!(unpacker.column(), Ok(column));
            prop_assert_eq!(unpacker.finish(), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn fixed_width_numbers_round_trip(numbers: Vec<u32>, shift in 0u32..32, repeat in 1usize..9) {
            // Frequently repeated numbers are shorter number by number.
            let numbers: Vec<u32> = numbers.into_iter().map(|number| number >> shift).collect();
            let numbers = numbers.repeat(repeat);
            let mut packer = Packer::default();
            packer.numbers(&numbers);
            let bytes = packer.finish().unwrap();
            let mut unpacker = Unpacker::new(&bytes);
            prop_assert_eq!(unpacker.numbers(numbers.len()), Ok(numbers.clone()));
            prop_assert_eq!(unpacker.finish(), Ok(()));
            prop_assert!(Unpacker::new(&bytes).numbers(numbers.len() + 1).is_err());
        }

        #[test]
        fn differences_round_trip(value: u32, previous: u32) {
            prop_assert_eq!(add_difference(previous, difference(value, previous)), value);
        }
    }

    #[test]
    fn small_differences_are_small_numbers() {
        assert_eq!([5, 4, 6, 3].map(|value| difference(value, 5)), [0, 1, 2, 3]);
    }

    #[test]
    fn rejects_overlong_numbers() {
        for bytes in [
            &[0x80, 0][..],
            &[0xff, 0x80, 0],
            &[0x80, 0x80, 0x80, 0x80, 0],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
        ] {
            assert_eq!(Unpacker::new(bytes).number(), Err(LONGER));
            assert_eq!(Unpacker::new(bytes).number32(), Err(LONGER));
        }
    }

    #[test]
    fn rejects_columns_longer_than_their_bytes_allow() {
        let mut packer = Packer::default();
        packer.number(u64::from(u32::MAX));
        packer.number(4u64);
        packer.raw(&[0; 4]);
        let bytes = packer.finish().unwrap();
        assert_eq!(
            Unpacker::new(&bytes).column(),
            Err(DecodeError(
                "a column announces more bytes than it can have"
            ))
        );
    }
}
