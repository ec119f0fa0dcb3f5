//! Reading text on several cores.
//!
//! The text is cut before lines that begin a sample, so that each part can be read without the
//! parts before.

use super::reader::{Reader, header};
use crate::error::{At, DecodeError, Decoded};
use crate::wire::text::lines;
use rayon::FnContext;

/// How text is distributed over cores.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    /// Approximate number of bytes that a core reads before it checks whether another core took the
    /// rest.
    pub(super) part: usize,
    /// Number of parts distributed at once. If the first is invalid, the others are read in vain.
    pub(super) at_once: usize,
    /// Whether the second half gets a separate reader.
    pub(super) is_other_reader: fn(&FnContext) -> bool,
}

/// A new reader has to learn all names again, so the second half gets one only if another core took
/// it.
pub(super) const IDLE_CORES: Sharing = Sharing {
    part: 128 << 10,
    at_once: 4096,
    is_other_reader: FnContext::migrated,
};

impl Sharing {
    /// Reads lines; the result and errors are the same as when reading one line after another.
    pub(super) fn read(self, reader: &mut Reader, text: &[u8]) -> Decoded<()> {
        let parts = Parts {
            text,
            is_other_reader: self.is_other_reader,
        };
        let cuts = cuts(text, self.part);
        let [first, .., last] = cuts[..] else {
            return parts.read_in_order(reader, 0, text.len());
        };
        parts.read_in_order(reader, 0, first)?;
        let mut begin = 0;
        while begin + 1 < cuts.len() {
            let end = (begin + self.at_once).min(cuts.len() - 1);
            parts.read(reader, &cuts[begin..=end])?;
            begin = end;
        }
        parts.read_in_order(reader, last, text.len())
    }
}

struct Parts<'t> {
    text: &'t [u8],
    is_other_reader: fn(&FnContext) -> bool,
}

impl Parts<'_> {
    /// Reads from the first cut to the last.
    fn read(&self, reader: &mut Reader, cuts: &[usize]) -> Decoded<()> {
        if let &[begin, end] = cuts {
            return self.read_in_order(reader, begin, end);
        }
        let middle = cuts.len() / 2;
        let (front, back) = (&cuts[..=middle], &cuts[middle..]);
        let (read, later) = rayon::join_context(
            |_| self.read(reader, front),
            |context| {
                let mut later = (self.is_other_reader)(&context).then(Reader::default)?;
                self.read(&mut later, back).ok()?;
                Some(later)
            },
        );
        read?;
        let Some(later) = later else {
            // Only a reader of all lines before can tell the number of the invalid line.
            return self.read(reader, back);
        };
        reader.append(later).or_else(|limit| {
            self.read(reader, back)?;
            Err(DecodeError::new(At::Line(reader.line_number), limit))
        })
    }

    fn read_in_order(&self, reader: &mut Reader, begin: usize, end: usize) -> Decoded<()> {
        for (_, line) in lines(&self.text[begin..end]) {
            let read = reader.line(line);
            read.map_err(DecodeError::at(At::Line(reader.line_number)))?;
        }
        Ok(())
    }
}

/// Positions at which the text can be cut: the first line that begins a sample, and then each first
/// such line at least `part` bytes after the previous cut.
fn cuts(text: &[u8], part: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut at = 0;
    while let Some((_, line)) = lines(&text[at..]).next() {
        let mut passed = at;
        if header(line).is_some() {
            cuts.push(at);
            passed = at.saturating_add(part - 1);
        }
        let rest = text.get(passed..).unwrap_or_default();
        at = memchr::memchr(b'\n', rest).map_or(text.len(), |end| passed + end + 1);
    }
    cuts
}
