//! Frames: their strings once each, and columns of places.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use crate::model::{Frame, FrameKind};
use hashbrown::HashMap;

/// Packs frames in the order given; sorted ones, as [`Frame`] orders them, pack best.
pub(in crate::store) fn pack_frames<'a>(
    frames: impl ExactSizeIterator<Item = Frame<'a>>,
) -> Result<Vec<u8>, Flaw> {
    let mut pack = Packer::default();
    pack.number(frames.len() as u64);
    let mut modules = Strings::default();
    let mut symbols = Strings::default();
    let mut files = Strings::default();
    let mut kinds = Packer::default();
    let mut lines = Packer::default();
    for frame in frames {
        modules.push(frame.module);
        symbols.push(frame.symbol);
        files.push(frame.file);
        kinds.number(frame.kind as u8);
        lines.number(frame.line);
    }
    for strings in [modules, symbols, files] {
        for column in [strings.backs, strings.lengths, strings.text] {
            pack.column(column);
        }
    }
    pack.column(kinds);
    pack.column(lines);
    pack.finish()
}

/// A column of strings: each is either new, or how many distinct ones back it came up first.
#[derive(Default)]
struct Strings<'a> {
    distinct: HashMap<&'a str, u64>,
    backs: Packer,
    lengths: Packer,
    text: Packer,
}

impl<'a> Strings<'a> {
    fn push(&mut self, string: &'a str) {
        let count = self.distinct.len() as u64;
        if let Some(place) = self.distinct.get(string) {
            self.backs.number(count - place);
        } else {
            self.distinct.insert(string, count);
            self.backs.number(0u32);
            self.lengths.number(string.len() as u64);
            self.text.raw(string.as_bytes());
        }
    }
}

/// Unpacked frames, in columns.
pub(in crate::store) struct FrameColumns {
    modules: StringColumn,
    symbols: StringColumn,
    files: StringColumn,
    kinds: Vec<FrameKind>,
    lines: Vec<u32>,
}

/// A column of strings: places in text.
struct StringColumn {
    text: String,
    /// For each distinct string, where it ends in the text; before them, a zero.
    bounds: Vec<usize>,
    /// For each frame, its string.
    places: Vec<u32>,
}

impl FrameColumns {
    pub(in crate::store) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Bytes of their distinct strings.
    pub(in crate::store) fn text_len(&self) -> usize {
        let columns = [&self.modules, &self.symbols, &self.files];
        columns.iter().map(|column| column.text.len()).sum()
    }

    /// Number of their distinct strings, of each column by itself.
    pub(in crate::store) fn string_count(&self) -> usize {
        let columns = [&self.modules, &self.symbols, &self.files];
        columns.iter().map(|column| column.bounds.len() - 1).sum()
    }

    pub(in crate::store) fn get(&self, i: usize) -> Frame<'_> {
        Frame {
            module: self.modules.get(i),
            symbol: self.symbols.get(i),
            kind: self.kinds[i],
            file: self.files.get(i),
            line: self.lines[i],
        }
    }
}

impl StringColumn {
    fn get(&self, i: usize) -> &str {
        let place = self.places[i] as usize;
        &self.text[self.bounds[place]..self.bounds[place + 1]]
    }
}

/// Unpacks frames.
pub(in crate::store) fn unpack_frames(pack: &[u8]) -> Result<FrameColumns, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    let modules = unpack_strings(&mut pack, count)?;
    let symbols = unpack_strings(&mut pack, count)?;
    let files = unpack_strings(&mut pack, count)?;
    let kinds = unpack_column(&mut pack, count, |kind| {
        let kind = u8::try_from(kind).ok().and_then(FrameKind::from_number);
        kind.ok_or(Flaw("a frame's kind is unknown"))
    })?;
    let lines = unpack_column(&mut pack, count, |line| {
        u32::try_from(line).map_err(|_| Flaw("a line number takes more than 32 bits"))
    })?;
    pack.finish()?;
    Ok(FrameColumns {
        modules,
        symbols,
        files,
        kinds,
        lines,
    })
}

fn unpack_column<T>(
    pack: &mut Unpacker<'_>,
    count: usize,
    mut value: impl FnMut(u64) -> Result<T, Flaw>,
) -> Result<Vec<T>, Flaw> {
    let column = pack.column()?;
    let mut column = Unpacker::new(&column);
    if count > column.left() {
        return Err(Flaw("there are fewer frames than announced"));
    }
    let values = (0..count)
        .map(|_| value(column.number()?))
        .collect::<Result<_, _>>()?;
    column.finish()?;
    Ok(values)
}

fn unpack_strings(pack: &mut Unpacker<'_>, count: usize) -> Result<StringColumn, Flaw> {
    let mut distinct = 0u32;
    let places = unpack_column(pack, count, |back| {
        let back = u32::try_from(back).ok();
        if back == Some(0) {
            distinct += 1;
            return Ok(distinct - 1);
        }
        back.and_then(|back| distinct.checked_sub(back))
            .ok_or(Flaw("a string stands before the first one"))
    })?;
    let mut end = 0usize;
    let mut bounds = vec![0];
    bounds.extend(unpack_column(pack, distinct as usize, |len| {
        end = usize::try_from(len)
            .ok()
            .and_then(|len| end.checked_add(len))
            .ok_or(Flaw("strings are longer than can be"))?;
        Ok(end)
    })?);
    let text = String::from_utf8(pack.column()?).map_err(|_| Flaw("a string is not UTF-8"))?;
    if end != text.len() || !bounds.iter().all(|&bound| text.is_char_boundary(bound)) {
        return Err(Flaw("strings have other lengths than announced"));
    }
    Ok(StringColumn {
        text,
        bounds,
        places,
    })
}
