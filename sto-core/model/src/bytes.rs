//! Reading numbers and byte strings from a slice, and numbers of variable length (LEB128).

/// A slice that is read from its beginning to its end.
///
/// Fixed-size numbers are little-endian. After an error the cursor is where it was.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'b> {
    rest: &'b [u8],
    /// Position in the file of the end of `rest`, which reads don't change.
    end: usize,
}

/// Why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// The value at `at` ends at `end`, but what holds it ends at `limit`.
    #[error("expected a value that ends by byte {limit}, found one that ends at byte {end}")]
    EndsEarly {
        /// Position of the value in the file.
        at: usize,
        /// The value's end; a lower bound for a number of variable length.
        end: u64,
        /// The end of what holds the value.
        limit: usize,
    },
    /// A number of variable length does not fit in `bits` bits.
    #[error("expected a number of at most {bits} bits, found a longer one")]
    TooManyBits {
        /// Position of the number in the file.
        at: usize,
        /// The number of bits that may be used.
        bits: u32,
    },
}

/// The result of a read.
pub type Read<T> = Result<T, CursorError>;

/// Maximum number of bytes of a 64-bit number.
const MAX_VARINT: usize = 10;

impl<'b> Cursor<'b> {
    /// Creates a cursor at the beginning of a whole file.
    pub fn new(file: &'b [u8]) -> Cursor<'b> {
        Cursor::from_part(file, 0)
    }

    /// Creates a cursor at position `at` of a whole file, or with nothing left to read if the file is shorter.
    pub fn at_position(file: &'b [u8], at: usize) -> Cursor<'b> {
        Cursor::from_part(file.get(at..).unwrap_or_default(), at)
    }

    /// Creates a cursor at the beginning of a part of a file, whose first byte is at position `at` of the file.
    pub fn from_part(part: &'b [u8], at: usize) -> Cursor<'b> {
        Cursor {
            rest: part,
            end: at + part.len(),
        }
    }

    /// Returns the position in the file of the next byte.
    #[inline]
    pub fn at(&self) -> usize {
        self.end - self.rest.len()
    }

    /// Returns the bytes that are left to read.
    #[inline]
    pub fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Returns the number of bytes that are left to read.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns `true` if all bytes are read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads `length` bytes.
    #[inline]
    pub fn take(&mut self, length: u64) -> Read<&'b [u8]> {
        let parts = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = parts.ok_or_else(|| self.ends_early(length))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads `length` bytes as a cursor of their own.
    #[inline]
    pub fn part(&mut self, length: u64) -> Read<Cursor<'b>> {
        let at = self.at();
        Ok(Cursor::from_part(self.take(length)?, at))
    }

    /// Reads the bytes before the next zero byte, and passes over that.
    #[inline]
    pub fn until_zero(&mut self) -> Read<&'b [u8]> {
        let end = memchr::memchr(0, self.rest);
        let end = end.ok_or_else(|| self.ends_early(self.left() as u64 + 1))?;
        let text = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(text)
    }

    /// Reads `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let parts = self.rest.split_first_chunk();
        let (&array, rest) = parts.ok_or_else(|| self.ends_early(N as u64))?;
        self.rest = rest;
        Ok(array)
    }

    /// Reads a byte.
    #[inline]
    pub fn u8(&mut self) -> Read<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// Reads a number of two bytes.
    #[inline]
    pub fn u16(&mut self) -> Read<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads a number of four bytes.
    #[inline]
    pub fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a number of eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Read<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a number of variable length: seven bits a byte, lowest first; a set top bit says that more follow.
    ///
    /// Zeros after the highest bit are allowed, up to ten bytes.
    #[inline]
    pub fn varint(&mut self) -> Read<u64> {
        match self.rest {
            // Most by far.
            &[byte @ ..0x80, ref rest @ ..] => {
                self.rest = rest;
                Ok(byte.into())
            }
            _ => self.long_varint(),
        }
    }

    /// Up to eight bytes at once, as a branch that depends on their number is mispredicted.
    #[inline]
    fn long_varint(&mut self) -> Read<u64> {
        let Some((&bytes, _)) = self.rest.split_first_chunk() else {
            return self.varint_by_bytes();
        };
        let word = u64::from_le_bytes(bytes);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return self.varint_by_bytes();
        }
        let length = ends.trailing_zeros() as usize / 8 + 1;
        self.rest = &self.rest[length..];
        // Closes the gaps of one bit between bytes, then of two, then of four.
        let word = word & (ends ^ (ends - 1));
        let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
        let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
        Ok(word & 0x0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4)
    }

    #[inline(never)]
    fn varint_by_bytes(&mut self) -> Read<u64> {
        let mut number = 0;
        for (ix, &byte) in self.rest.iter().take(MAX_VARINT).enumerate() {
            // The tenth byte has room for one bit.
            if ix == MAX_VARINT - 1 && byte > 1 {
                return Err(self.too_many_bits(64));
            }
            number |= u64::from(byte & 0x7f) << (7 * ix);
            if byte < 0x80 {
                self.rest = &self.rest[ix + 1..];
                return Ok(number);
            }
        }
        Err(self.ends_early(self.left() as u64 + 1))
    }

    /// Reads a number of variable length of at most 32 bits.
    #[inline]
    pub fn varint32(&mut self) -> Read<u32> {
        // Up to four bytes at once, even of numbers of one.
        if let Some((&bytes, _)) = self.rest.split_first_chunk() {
            let word = u32::from_le_bytes(bytes);
            let ends = !word & 0x8080_8080;
            if ends != 0 {
                let length = ends.trailing_zeros() as usize / 8 + 1;
                let word = word & (ends ^ (ends - 1));
                let bits = |byte: u32| (word >> byte) & (0x7f << (7 * byte));
                self.rest = &self.rest[length..];
                return Ok(bits(0) | bits(1) | bits(2) | bits(3));
            }
        }
        let before = *self;
        u32::try_from(self.varint()?).map_err(|_| {
            *self = before;
            self.too_many_bits(32)
        })
    }

    /// Reads a number of variable length whose lowest bit is its sign.
    #[inline]
    pub fn signed_varint(&mut self) -> Read<i64> {
        self.varint().map(|number| unzigzag(number) as i64)
    }

    #[cold]
    fn ends_early(&self, length: u64) -> CursorError {
        let at = self.at();
        CursorError::EndsEarly {
            at,
            end: (at as u64).saturating_add(length),
            limit: self.end,
        }
    }

    #[cold]
    fn too_many_bits(&self, bits: u32) -> CursorError {
        let at = self.at();
        CursorError::TooManyBits { at, bits }
    }
}

/// The little-endian number of four bytes at an offset; `None` if the bytes end before it does.
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The little-endian number of eight bytes at an offset; `None` if the bytes end before it does.
#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Appends a number of variable length in its shortest form, which [`Cursor::varint`] reads.
#[inline]
pub fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Maps a signed number modulo 2^64 to an unsigned one that is small if the signed one is near zero.
#[inline]
pub fn zigzag(number: u64) -> u64 {
    let number = number as i64;
    ((number << 1) ^ (number >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub fn unzigzag(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A number with this many bytes in front of it that hold no bits of it.
    fn padded(number: u64, zeros: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_varint(&mut bytes, number);
        if zeros > 0 {
            *bytes.last_mut().unwrap() |= 0x80;
            bytes.resize(bytes.len() + zeros - 1, 0x80);
            bytes.push(0);
        }
        bytes
    }

    proptest! {
        #[test]
        fn varints_come_back(numbers: Vec<u64>, shift in 0u32..64) {
            let numbers: Vec<u64> = numbers.into_iter().map(|number| number >> shift).collect();
            let mut bytes = Vec::new();
            for &number in &numbers {
                push_varint(&mut bytes, number);
            }
            let [mut whole, mut narrow, mut signed] = [Cursor::new(&bytes); 3];
            for number in numbers {
                let before = narrow;
                prop_assert_eq!(whole.varint(), Ok(number));
                prop_assert_eq!(signed.signed_varint(), Ok(unzigzag(number) as i64));
                let too_long = CursorError::TooManyBits { at: before.at(), bits: 32 };
                let expected = u32::try_from(number).map_err(|_| too_long);
                prop_assert_eq!(narrow.varint32(), expected);
                if expected.is_err() {
                    prop_assert_eq!(narrow.at(), before.at());
                    narrow = whole;
                }
            }
            prop_assert!(whole.is_empty() && narrow.is_empty() && signed.is_empty());
        }

        #[test]
        fn padded_varints_are_read(number: u64, shift in 0u32..64, zeros in 0usize..12) {
            let number = number >> shift;
            let bytes = padded(number, zeros);
            let expected = match bytes.len() {
                ..=10 => Ok(number),
                _ => Err(CursorError::TooManyBits { at: 0, bits: 64 }),
            };
            prop_assert_eq!(Cursor::new(&bytes).varint(), expected);
            if let (Ok(number), Ok(_)) = (u32::try_from(number), expected) {
                prop_assert_eq!(Cursor::new(&bytes).varint32(), Ok(number));
            }
        }

        #[test]
        fn varints_that_are_cut_are_named_with_their_place(number in 1u64 << 7.., at in 0usize..100) {
            let bytes = padded(number, 0);
            let left = bytes.len() - 1;
            let mut cursor = Cursor::from_part(&bytes[..left], at);
            let (limit, end) = (at + left, (at + left + 1) as u64);
            prop_assert_eq!(cursor.varint(), Err(CursorError::EndsEarly { at, end, limit }));
            prop_assert_eq!((cursor.at(), cursor.left()), (at, left));
        }

        #[test]
        fn any_bytes_are_read_or_refused_without_panic(bytes: Vec<u8>, length: u64) {
            let mut cursor = Cursor::new(&bytes);
            while !cursor.is_empty() {
                let before = cursor.at();
                let [mut narrow, mut text, mut part] = [cursor; 3];
                let _ = (narrow.varint32(), text.until_zero(), part.part(length));
                if cursor.varint().is_err() {
                    prop_assert_eq!(cursor.at(), before);
                    cursor.take(1).unwrap();
                }
                prop_assert!(cursor.at() > before);
            }
        }

        #[test]
        fn small_numbers_of_either_sign_become_small_numbers(number: i64) {
            prop_assert_eq!(unzigzag(zigzag(number as u64)), number as u64);
            prop_assert_eq!(zigzag(number as u64) / 2, number.max(!number) as u64);
        }
    }

    #[test]
    fn varints_of_more_than_64_bits_are_refused() {
        let ending_in = |last: &[u8]| [&[0xff; 9][..], last].concat();
        assert_eq!(Cursor::new(&ending_in(&[1])).varint(), Ok(u64::MAX));
        let refused = Err(CursorError::TooManyBits { at: 7, bits: 64 });
        for last in [&[2][..], &[0x7f], &[0x81, 0], &[0x80, 0], &[0xff]] {
            let bytes = ending_in(last);
            let mut cursor = Cursor::from_part(&bytes, 7);
            assert_eq!(cursor.varint(), refused, "{bytes:x?}");
            assert_eq!(cursor.at(), 7);
        }
    }

    #[test]
    fn values_are_read_one_after_the_other() {
        let bytes = b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0fname\0xyz";
        let mut cursor = Cursor::from_part(bytes, 100);
        assert_eq!(cursor.u8(), Ok(1));
        assert_eq!(cursor.u16(), Ok(0x0302));
        assert_eq!(cursor.u32(), Ok(0x0706_0504));
        assert_eq!(cursor.u64(), Ok(0x0f0e_0d0c_0b0a_0908));
        assert_eq!(cursor.until_zero(), Ok(&b"name"[..]));
        let mut part = cursor.part(2).unwrap();
        assert_eq!(
            (part.at(), part.rest(), cursor.at()),
            (120, &b"xy"[..], 122)
        );
        let ends = |at, end, limit| CursorError::EndsEarly { at, end, limit };
        assert_eq!(part.u32(), Err(ends(120, 124, 122)));
        assert_eq!(cursor.take(u64::MAX), Err(ends(122, u64::MAX, 123)));
        assert_eq!(cursor.until_zero(), Err(ends(122, 124, 123)));
        assert_eq!(cursor.take(1), Ok(&b"z"[..]));
        assert!(cursor.is_empty());
    }

    #[test]
    fn numbers_are_found_at_offsets() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(u32_at(&bytes, 5), Some(0x0908_0706));
        assert_eq!(u64_at(&bytes, 1), Some(0x0908_0706_0504_0302));
        assert_eq!((u32_at(&bytes, 6), u64_at(&bytes, 2)), (None, None));
        assert_eq!(u32_at(&bytes, usize::MAX), None);
    }

    #[test]
    fn errors_say_what_was_found_and_expected() {
        let messages = [
            Cursor::from_part(&[0x80], 5).varint().unwrap_err(),
            Cursor::new(&[0xff; 10]).varint().unwrap_err(),
        ];
        let messages = messages.map(|error| error.to_string());
        assert_eq!(
            messages,
            [
                "expected a value that ends by byte 6, found one that ends at byte 7",
                "expected a number of at most 64 bits, found a longer one",
            ]
        );
    }
}
