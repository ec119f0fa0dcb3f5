//! Text with a byte order mark: UTF-16, which Windows PowerShell writes when it redirects output,
//! and UTF-8.

use std::io::{self, Read};

/// Number of bytes read at once.
const BLOCK: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16LittleEndian,
    Utf16BigEndian,
}

impl Encoding {
    /// The encoding according to the byte order mark; `None` without one.
    pub(super) fn detect(bytes: &[u8]) -> Option<Encoding> {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => Some(Encoding::Utf8),
            [0xff, 0xfe, ..] => Some(Encoding::Utf16LittleEndian),
            [0xfe, 0xff, ..] => Some(Encoding::Utf16BigEndian),
            _ => None,
        }
    }

    /// Converts the text to UTF-8 without the mark.
    pub(super) fn to_utf8<'a>(self, mut input: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        let unit: fn([u8; 2]) -> u16 = match self {
            Encoding::Utf8 => {
                input.read_exact(&mut [0; 3])?;
                return Ok(Box::new(input));
            }
            Encoding::Utf16LittleEndian => u16::from_le_bytes,
            Encoding::Utf16BigEndian => |[high, low]| u16::from_le_bytes([low, high]),
        };
        input.read_exact(&mut [0; 2])?;
        Ok(Box::new(Utf16 {
            input,
            unit,
            coded: Vec::new(),
            text: io::Cursor::default(),
        }))
    }
}

struct Utf16<R> {
    input: R,
    unit: fn([u8; 2]) -> u16,
    /// Bytes of an incomplete character.
    coded: Vec<u8>,
    text: io::Cursor<Vec<u8>>,
}

impl<R: Read> Utf16<R> {
    /// Decodes the buffered bytes. At the end, an incomplete character is replaced.
    fn decode(&mut self, is_end: bool) {
        let mut units: Vec<u16> = self
            .coded
            .chunks_exact(2)
            .map(|unit| (self.unit)([unit[0], unit[1]]))
            .collect();
        // A high surrogate waits for the low one.
        units.pop_if(|unit| !is_end && (0xd800..0xdc00).contains(unit));
        let mut text: String = char::decode_utf16(units.iter().copied())
            .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.coded.drain(..units.len() * 2);
        if is_end && !self.coded.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            self.coded.clear();
        }
        self.text = io::Cursor::new(text.into_bytes());
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let before = self.coded.len();
            self.coded.resize(before + BLOCK, 0);
            let read = self.input.read(&mut self.coded[before..]);
            self.coded.truncate(before + *read.as_ref().unwrap_or(&0));
            let is_end = read? == 0;
            if is_end && before == 0 {
                return Ok(0);
            }
            self.decode(is_end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time.
    struct Bytes<'a>(&'a [u8]);

    impl Read for Bytes<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(buffer.len()).min(1);
            let read;
            (read, self.0) = self.0.split_at(length);
            buffer[..length].copy_from_slice(read);
            Ok(length)
        }
    }

    fn decoded(bytes: &[u8]) -> String {
        let encoding = Encoding::detect(bytes).unwrap();
        let mut texts = [String::new(), String::new()];
        let [one, all] = &mut texts;
        let mut input = encoding.to_utf8(Bytes(bytes)).unwrap();
        input.read_to_string(one).unwrap();
        let mut input = encoding.to_utf8(bytes).unwrap();
        input.read_to_string(all).unwrap();
        assert_eq!(one, all);
        std::mem::take(one)
    }

    #[test]
    fn decodes_both_byte_orders_in_any_pieces() {
        let text = "main;größe;日本;🦀 42\r\n";
        let units = || [0xfeff].into_iter().chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units()
            .flat_map(|unit| unit.swap_bytes().to_le_bytes())
            .collect();
        assert_eq!(decoded(&little), text);
        assert_eq!(decoded(&big), text);
        assert_eq!(decoded(format!("\u{feff}{text}").as_bytes()), text);
    }

    #[test]
    fn replaces_invalid_characters() {
        // A lone surrogate, a letter, a lone surrogate at the end, and an odd byte.
        let bytes = [0xff, 0xfe, 0x3e, 0xd8, b'a', 0, 0x3e, 0xd8, 7];
        assert_eq!(decoded(&bytes), "\u{fffd}a\u{fffd}\u{fffd}");
    }
}
