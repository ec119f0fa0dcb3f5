//! Reading piece by piece what may be larger than memory.
//!
//! No file is mapped: one that another process cuts at that moment would end this one (SIGBUS), where
//! reading fails.

use super::SafeFile;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes that can be read from any offset on.
#[doc(hidden)]
pub trait ReadAt: Sync {
    /// How many there are.
    fn size(&self) -> u64;

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// # Errors
    /// Where they cannot be read, or are not there.
    fn fill_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn fill_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let piece = self.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// As large as it was when it was opened.
impl ReadAt for SafeFile {
    fn size(&self) -> u64 {
        self.metadata.len()
    }

    fn fill_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let filled = File::read_exact_at(&self.file, buffer, offset);
        filled.map_err(|error| self.why_cut().unwrap_or(error))
    }
}

impl SafeFile {
    /// What to say where the file is shorter now than when it was opened.
    #[doc(hidden)]
    pub fn why_cut(&self) -> Option<io::Error> {
        let (had, has) = (self.metadata.len(), self.file.metadata().ok()?.len());
        let why = format!(
            "it was cut from {had} to {has} bytes while it was read; try again when nothing writes to it"
        );
        (has < had).then(|| io::Error::other(why))
    }
}

/// A view of bytes that are read, which moves on with what is asked for.
#[doc(hidden)]
pub struct Window<'a> {
    source: &'a dyn ReadAt,
    buffer: Arc<Vec<u8>>,
    /// Buffers that parts were kept of, the oldest first.
    kept: VecDeque<Arc<Vec<u8>>>,
    /// Bytes that are read at once.
    piece: usize,
    /// Where the buffer begins in the source.
    start: u64,
    /// Where [`Read`] goes on.
    position: u64,
}

/// Bytes of a window that stay when it moves on.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Part {
    buffer: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }
}

impl From<&[u8]> for Part {
    fn from(bytes: &[u8]) -> Part {
        Part {
            buffer: Arc::new(bytes.to_vec()),
            range: 0..bytes.len(),
        }
    }
}

/// Bytes that a window reads at once where nothing else is said.
const WINDOW: usize = 1 << 16;

impl<'a> Window<'a> {
    /// A view that begins at the first byte.
    pub fn new(source: &'a dyn ReadAt) -> Window<'a> {
        Window::of_pieces(source, WINDOW)
    }

    /// One that reads so many bytes at once.
    pub fn of_pieces(source: &'a dyn ReadAt, piece: usize) -> Window<'a> {
        Window {
            source,
            buffer: Arc::default(),
            kept: VecDeque::new(),
            piece,
            start: 0,
            position: 0,
        }
    }

    /// How many bytes the source has.
    pub fn size(&self) -> u64 {
        self.source.size()
    }

    /// Bytes of the source, for which memory is taken.
    ///
    /// # Errors
    /// As [`ReadAt::fill_at`].
    pub fn slice(&mut self, offset: u64, length: usize) -> io::Result<&[u8]> {
        let within = self.within(offset);
        if within.is_none_or(|within| self.buffer.len() - within < length) {
            let left = self.size().saturating_sub(offset);
            if (length as u64) > left {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let length = left.min(length.max(self.piece) as u64) as usize;
            let buffer = free_buffer(&mut self.buffer, &mut self.kept);
            buffer.resize(length, 0);
            self.start = offset;
            if let Err(error) = self.source.fill_at(buffer, offset) {
                buffer.clear();
                return Err(error);
            }
        }
        let within = self.within(offset).unwrap_or_default();
        Ok(&self.buffer[within..within + length])
    }

    /// Bytes of the source that are kept when the window moves on.
    ///
    /// # Errors
    /// As [`ReadAt::fill_at`].
    pub fn part(&mut self, offset: u64, length: usize) -> io::Result<Part> {
        self.slice(offset, length)?;
        let start = self.within(offset).unwrap_or_default();
        Ok(Part {
            buffer: Arc::clone(&self.buffer),
            range: start..start + length,
        })
    }

    /// A little-endian number of the source.
    ///
    /// # Errors
    /// As [`ReadAt::fill_at`].
    pub fn u64_at(&mut self, offset: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.slice(offset, 8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn within(&self, offset: u64) -> Option<usize> {
        let within = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        (within <= self.buffer.len()).then_some(within)
    }
}

/// Makes `buffer` one that no part is kept of any more: itself, the oldest, or a new one.
fn free_buffer<'b>(
    buffer: &'b mut Arc<Vec<u8>>,
    kept: &mut VecDeque<Arc<Vec<u8>>>,
) -> &'b mut Vec<u8> {
    if Arc::get_mut(buffer).is_none() {
        let is_free = kept.front_mut().and_then(Arc::get_mut).is_some();
        let free = is_free.then(|| kept.pop_front()).flatten();
        kept.push_back(std::mem::replace(buffer, free.unwrap_or_default()));
    }
    Arc::make_mut(buffer)
}

impl Read for Window<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.size().saturating_sub(self.position);
        let mut length = left.min(buffer.len() as u64) as usize;
        // What the window has is not read again.
        let within = self.within(self.position);
        let there = within.map_or(0, |within| self.buffer.len() - within);
        if there > 0 {
            length = length.min(there);
        }
        let buffer = &mut buffer[..length];
        match length >= self.piece {
            true => self.source.fill_at(buffer, self.position)?,
            false => buffer.copy_from_slice(self.slice(self.position, length)?),
        }
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for Window<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.size().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Links;

    #[test]
    fn a_window_reads_what_the_source_has_at_every_offset() {
        let bytes: Vec<u8> = (0..WINDOW as u32 * 3 + 17)
            .map(|i| (i % 251) as u8)
            .collect();
        let source = &bytes[..];
        let mut window = Window::new(&source);
        for (offset, length) in [
            (0, 8),
            (WINDOW - 3, 8),
            (5, 8),
            (7, WINDOW * 2),
            (bytes.len() - 1, 1),
            (bytes.len(), 0),
        ] {
            let read = window.slice(offset as u64, length).unwrap();
            assert_eq!(read, &bytes[offset..offset + length]);
        }
        assert!(window.slice(bytes.len() as u64 - 1, 2).is_err());
        assert!(window.slice(u64::MAX, 8).is_err());
        let mut read = Vec::new();
        window.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        window.seek(SeekFrom::End(-2)).unwrap();
        read.clear();
        window.read_to_end(&mut read).unwrap();
        assert_eq!(read, &bytes[bytes.len() - 2..]);
    }

    #[test]
    fn parts_stay_when_their_window_moves_on() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        let source = &bytes[..];
        let mut window = Window::of_pieces(&source, 1000);
        let mut kept: VecDeque<(usize, Part)> = VecDeque::new();
        for offset in (0..99_000).step_by(137) {
            kept.push_back((offset, window.part(offset as u64, 500).unwrap()));
            // Buffers are used again in any order in which parts of them are dropped.
            if kept.len() > 20 {
                kept.remove(offset % 20);
            }
            for (offset, part) in &kept {
                assert!(**part == bytes[*offset..offset + 500], "{offset}");
            }
        }
        assert!(window.kept.len() < 25, "{}", window.kept.len());
    }

    #[test]
    fn a_file_that_is_cut_is_an_error_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; WINDOW * 2]).unwrap();
        let file = SafeFile::open(&path, Links::Follow).unwrap();
        let mut window = Window::new(&file);
        assert_eq!(window.u64_at(0).unwrap(), 0x0101_0101_0101_0101);
        assert!(file.why_cut().is_none());
        File::create(&path).unwrap();
        let error = window.u64_at(WINDOW as u64).unwrap_err();
        let cut = format!(
            "it was cut from {} to 0 bytes while it was read",
            WINDOW * 2
        );
        assert!(error.to_string().starts_with(&cut), "{error}");
    }
}
