//! Text that several cores read.
//!
//! It is cut before lines that begin a sample, so that what stands between two cuts means the same
//! whoever reads it.

use super::reader::{Reader, header};
use crate::error::{At, DecodeError, Decoded};
use crate::wire::text::lines;
use rayon::FnContext;

/// How text is shared out among cores.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    /// About how much text a core reads before it looks whether another one took the rest.
    pub(super) part: usize,
    /// How many parts are shared out at once; so many may be read in vain where the first is wrong.
    pub(super) at_once: usize,
    /// Whether the second half has a reader of its own.
    pub(super) is_other_reader: fn(&FnContext) -> bool,
}

/// Every reader has to learn names anew, so there is another one only where a core was idle.
pub(super) const AMONG_IDLE: Sharing = Sharing {
    part: 128 << 10,
    at_once: 4096,
    is_other_reader: FnContext::migrated,
};

impl Sharing {
    /// Goes on with lines. It comes to the same as to read one after the other, errors too.
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
            // If something is wrong there, only the reader of all lines before can say in which line.
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

/// Where text can be cut: at the first line that begins a sample, then at the first such line that is
/// at least `part` bytes after another, and so on.
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
