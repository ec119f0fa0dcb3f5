//! Frames: columns of indices into distinct strings.

use super::DecodeError;
use super::bytes::{MAX_COLUMN_LEN, Packer, Unpacker};
use hashbrown::HashMap;
use sto_model::{Frame, FrameKind};

/// Packs frames in the given order; frames in ascending order compress best.
pub(crate) fn pack_frames<'a>(
    frames: impl ExactSizeIterator<Item = Frame<'a>>,
) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    pack.number(frames.len() as u64);
    let [mut modules, mut symbols, mut files] = [(); 3].map(|()| Strings::default());
    let [mut kinds, mut lines] = [(); 2].map(|()| Packer::default());
    for frame in frames {
        modules.push(frame.module);
        symbols.push(frame.symbol);
        files.push(frame.file);
        kinds.number(frame.kind as u8);
        lines.number(frame.line);
    }
    let strings = [modules, symbols, files].map(|of| [of.backs, of.shared, of.text]);
    let mut columns: Vec<Packer> = strings.into_iter().flatten().collect();
    columns.extend([kinds, lines]);
    pack.columns(columns);
    pack.finish()
}

/// A column of strings. Each is either new or refers to an earlier one by the number of distinct strings
/// since its first occurrence. A new string stores only the bytes after the prefix that it shares with
/// the previous new one, and ends with [`END`].
#[derive(Default)]
struct Strings<'a> {
    distinct: HashMap<&'a str, u64>,
    backs: Packer,
    shared: Packer,
    text: Packer,
    last: &'a str,
}

/// Ends a string; this byte never occurs in UTF-8.
const END: u8 = 0xff;

impl<'a> Strings<'a> {
    fn push(&mut self, string: &'a str) {
        let count = self.distinct.len() as u64;
        if let Some(first) = self.distinct.get(string) {
            self.backs.number(count - first);
            return;
        }
        self.distinct.insert(string, count);
        self.backs.number(0u32);
        let pairs = string.bytes().zip(self.last.bytes());
        let shared = pairs.take_while(|(a, b)| a == b).count();
        self.shared.number(shared as u64);
        self.text.raw(&string.as_bytes()[shared..]);
        self.text.raw(&[END]);
        self.last = string;
    }
}

/// Unpacked frames, in columns.
pub(crate) struct FrameColumns {
    /// Modules, symbols and files.
    strings: [StringColumn; 3],
    kinds: Vec<FrameKind>,
    lines: Vec<u32>,
}

/// A column of strings.
struct StringColumn {
    text: String,
    /// A zero, then the end in `text` of each distinct string.
    bounds: Vec<usize>,
    /// For each frame, the index of its string.
    indices: Vec<u32>,
}

impl FrameColumns {
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Length of the distinct strings.
    pub(crate) fn text_len(&self) -> usize {
        self.strings.iter().map(|column| column.text.len()).sum()
    }

    /// Number of distinct strings, summed over the columns.
    pub(crate) fn string_count(&self) -> usize {
        let columns = self.strings.iter();
        columns.map(|column| column.bounds.len() - 1).sum()
    }

    pub(crate) fn get(&self, i: usize) -> Frame<'_> {
        let [module, symbol, file] = self.strings.each_ref().map(|column| column.get(i));
        Frame {
            module,
            symbol,
            kind: self.kinds[i],
            file,
            line: self.lines[i],
        }
    }
}

impl StringColumn {
    fn get(&self, i: usize) -> &str {
        let at = self.indices[i] as usize;
        &self.text[self.bounds[at]..self.bounds[at + 1]]
    }
}

/// The sum of the lengths that the columns of a pack announce.
pub(crate) fn claimed_by_frames(pack: &[u8]) -> Result<u64, DecodeError> {
    let mut pack = Unpacker::new(pack);
    pack.number32()?;
    // Three for each column of strings, then kinds and lines.
    (0..3 * 3 + 2).try_fold(0u64, |sum, _| Ok(sum + pack.skip_column()?))
}

/// Unpacks frames.
pub(crate) fn unpack_frames(pack: &[u8]) -> Result<FrameColumns, DecodeError> {
    PackedFrames::decompress(pack)?.unpack()
}

/// Frames with decompressed columns but shared prefixes not yet expanded: expanded strings can be much longer
/// than the pack.
pub(crate) struct PackedFrames {
    strings: [PackedStrings; 3],
    kinds: Vec<FrameKind>,
    lines: Vec<u32>,
}

impl PackedFrames {
    /// Decompresses the columns.
    pub(crate) fn decompress(pack: &[u8]) -> Result<Self, DecodeError> {
        let mut pack = Unpacker::new(pack);
        let count = pack.number32()? as usize;
        let frames = PackedFrames {
            strings: [
                PackedStrings::decompress(&mut pack, count)?,
                PackedStrings::decompress(&mut pack, count)?,
                PackedStrings::decompress(&mut pack, count)?,
            ],
            kinds: unpack_column(&mut pack, count, |kind| {
                let kind = u8::try_from(kind).ok().and_then(FrameKind::from_number);
                kind.ok_or(DecodeError("a frame's kind is unknown"))
            })?,
            lines: unpack_column(&mut pack, count, |line| {
                u32::try_from(line)
                    .map_err(|_| DecodeError("a line number takes more than 32 bits"))
            })?,
        };
        pack.finish()?;
        Ok(frames)
    }

    /// Length of the strings after [`Self::unpack`].
    pub(crate) fn text_len(&self) -> u64 {
        let columns = self.strings.iter();
        columns.map(|column| column.text_len as u64).sum()
    }

    /// Expands the strings.
    pub(crate) fn unpack(self) -> Result<FrameColumns, DecodeError> {
        let [modules, symbols, files] = self.strings;
        Ok(FrameColumns {
            strings: [modules.unpack()?, symbols.unpack()?, files.unpack()?],
            kinds: self.kinds,
            lines: self.lines,
        })
    }
}

fn unpack_column<T>(
    pack: &mut Unpacker<'_>,
    count: usize,
    mut value: impl FnMut(u64) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let column = pack.column()?;
    let mut column = Unpacker::new(&column);
    if count > column.remaining() {
        return Err(DecodeError("there are fewer frames than announced"));
    }
    let values = (0..count)
        .map(|_| value(column.number()?))
        .collect::<Result<_, _>>()?;
    column.finish()?;
    Ok(values)
}

/// A column of strings with shared prefixes.
struct PackedStrings {
    /// For each frame, the index of its string.
    indices: Vec<u32>,
    /// For each distinct string, the length of the prefix shared with the previous one.
    shared: Vec<u32>,
    /// The rest of each distinct string.
    endings: Vec<u8>,
    /// Total length of the expanded strings.
    text_len: usize,
}

impl PackedStrings {
    fn decompress(pack: &mut Unpacker<'_>, count: usize) -> Result<Self, DecodeError> {
        let mut distinct = 0u32;
        let indices = unpack_column(pack, count, |back| {
            let back = u32::try_from(back).ok();
            if back == Some(0) {
                distinct += 1;
                return Ok(distinct - 1);
            }
            back.and_then(|back| distinct.checked_sub(back))
                .ok_or(DecodeError("a string refers to one before the first"))
        })?;
        let mut text_len = 0usize;
        let shared = unpack_column(pack, distinct as usize, |shared| {
            let len = usize::try_from(shared).ok();
            let sum = len.and_then(|len| text_len.checked_add(len));
            text_len = sum.filter(|&sum| sum <= MAX_COLUMN_LEN).ok_or(TOO_LONG)?;
            Ok(shared as u32)
        })?;
        let endings = pack.column()?;
        text_len += endings.len().saturating_sub(shared.len());
        Ok(PackedStrings {
            indices,
            shared,
            endings,
            text_len: Some(text_len)
                .filter(|&len| len <= MAX_COLUMN_LEN)
                .ok_or(TOO_LONG)?,
        })
    }

    fn unpack(self) -> Result<StringColumn, DecodeError> {
        let mut endings = self.endings.as_slice();
        let mut text = Vec::with_capacity(self.text_len);
        let mut bounds = Vec::with_capacity(self.shared.len() + 1);
        bounds.push(0);
        let mut last = 0usize;
        for shared in self.shared {
            let ending_len =
                memchr::memchr(END, endings).ok_or(DecodeError("a string has no end"))?;
            let (ending, rest) = endings.split_at(ending_len);
            endings = &rest[1..];
            let same = Some(last + shared as usize)
                .filter(|&end| end <= text.len())
                .ok_or(DecodeError(
                    "a string shares more bytes than the one before it has",
                ))?;
            let begin = text.len();
            text.extend_from_within(last..same);
            text.extend_from_slice(ending);
            last = begin;
            bounds.push(text.len());
        }
        if !endings.is_empty() {
            return Err(DecodeError("bytes are left over"));
        }
        let text = String::from_utf8(text).map_err(|_| DecodeError("a string is not UTF-8"))?;
        if !bounds.iter().all(|&bound| text.is_char_boundary(bound)) {
            return Err(DecodeError("a string is not UTF-8"));
        }
        Ok(StringColumn {
            text,
            bounds,
            indices: self.indices,
        })
    }
}

const TOO_LONG: DecodeError = DecodeError("strings are longer than 1 GiB");
