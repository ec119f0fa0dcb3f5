//! Random access to files that may be larger than memory.
//!
//! Files are not mapped into memory: if another process truncated a mapped file, this process would be killed by
//! SIGBUS, whereas reading returns an error.

use super::RegularFile;
use crate::system;
use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A source of bytes with random access.
#[doc(hidden)]
pub trait ReadAt: Sync {
    /// The number of bytes.
    fn size(&self) -> u64;

    /// Fills a buffer with bytes, starting at an offset.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read or do not exist.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Returns a buffer that was read ahead and contains the byte at this offset, and the offset of the buffer.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read.
    fn read_ahead(&self, _offset: u64) -> io::Result<Option<(u64, Arc<Vec<u8>>)>> {
        Ok(None)
    }
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let piece = self.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for RegularFile {
    /// The length that the file had when it was opened.
    fn size(&self) -> u64 {
        self.metadata.len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let filled = system::read_exact_at(&self.file, buffer, offset);
        filled.map_err(|error| self.truncation_error().unwrap_or(error))
    }
}

impl RegularFile {
    /// Returns an error if the file is shorter now than when it was opened.
    #[doc(hidden)]
    pub fn truncation_error(&self) -> Option<io::Error> {
        let (before, now) = (self.metadata.len(), self.file.metadata().ok()?.len());
        let message = format!(
            "it was truncated from {before} to {now} bytes while it was read; try again when nothing writes to it"
        );
        (now < before).then(|| io::Error::other(message))
    }
}

/// A buffered reader with random access, whose buffer holds the part of the source that was last accessed.
#[doc(hidden)]
pub struct ByteWindow<'a> {
    source: &'a dyn ReadAt,
    buffer: Arc<Vec<u8>>,
    /// Earlier buffers that may still be in use by a [`SharedBytes`], oldest first.
    old_buffers: VecDeque<Arc<Vec<u8>>>,
    /// Minimum number of bytes to read at once.
    read_size: usize,
    /// Offset of the buffer in the source.
    start: u64,
    /// Position of [`Read`] and [`Seek`].
    position: u64,
}

/// Bytes of a window that stay valid when the window moves.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct SharedBytes {
    buffer: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }
}

impl From<&[u8]> for SharedBytes {
    fn from(bytes: &[u8]) -> SharedBytes {
        SharedBytes {
            buffer: Arc::new(bytes.to_vec()),
            range: 0..bytes.len(),
        }
    }
}

/// Default minimum number of bytes to read at once.
const READ_SIZE: usize = 1 << 16;

impl<'a> ByteWindow<'a> {
    /// Creates a reader at the start of the source.
    pub fn new(source: &'a dyn ReadAt) -> ByteWindow<'a> {
        ByteWindow::with_read_size(source, READ_SIZE)
    }

    /// Creates a reader that reads at least `read_size` bytes at once.
    pub fn with_read_size(source: &'a dyn ReadAt, read_size: usize) -> ByteWindow<'a> {
        ByteWindow {
            source,
            buffer: Arc::default(),
            old_buffers: VecDeque::new(),
            read_size,
            start: 0,
            position: 0,
        }
    }

    /// The number of bytes of the source.
    pub fn size(&self) -> u64 {
        self.source.size()
    }

    /// Reads bytes of the source into the buffer.
    ///
    /// # Errors
    /// Returns the same errors as [`ReadAt::read_exact_at`].
    pub fn slice(&mut self, offset: u64, length: usize) -> io::Result<&[u8]> {
        let buffered = self.offset_in_buffer(offset);
        if buffered.is_none_or(|start| self.buffer.len() - start < length) {
            let left = self.size().saturating_sub(offset);
            if (length as u64) > left {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some((start, buffer)) = self.source.read_ahead(offset)?
                && start + buffer.len() as u64 >= offset + length as u64
            {
                (self.start, self.buffer) = (start, buffer);
                return Ok(&self.buffer[(offset - start) as usize..][..length]);
            }
            let read_size = left.min(length.max(self.read_size) as u64) as usize;
            let buffer = unused_buffer(&mut self.buffer, &mut self.old_buffers);
            buffer.resize(read_size, 0);
            self.start = offset;
            if let Err(error) = self.source.read_exact_at(buffer, offset) {
                buffer.clear();
                return Err(error);
            }
        }
        let start = self.offset_in_buffer(offset).unwrap_or_default();
        Ok(&self.buffer[start..start + length])
    }

    /// Reads bytes of the source that stay valid when the window moves.
    ///
    /// # Errors
    /// Returns the same errors as [`ReadAt::read_exact_at`].
    pub fn shared_slice(&mut self, offset: u64, length: usize) -> io::Result<SharedBytes> {
        self.slice(offset, length)?;
        let start = self.offset_in_buffer(offset).unwrap_or_default();
        Ok(SharedBytes {
            buffer: Arc::clone(&self.buffer),
            range: start..start + length,
        })
    }

    /// Reads a little-endian 64-bit integer.
    ///
    /// # Errors
    /// Returns the same errors as [`ReadAt::read_exact_at`].
    pub fn u64_at(&mut self, offset: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.slice(offset, 8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Converts an offset in the source to an offset in the buffer, if it is in the buffer or at its end.
    fn offset_in_buffer(&self, offset: u64) -> Option<usize> {
        let offset = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        (offset <= self.buffer.len()).then_some(offset)
    }
}

/// Replaces `buffer` by one that nothing else uses: itself, the oldest one, or a new one.
#[doc(hidden)]
pub fn unused_buffer<'b>(
    buffer: &'b mut Arc<Vec<u8>>,
    old_buffers: &mut VecDeque<Arc<Vec<u8>>>,
) -> &'b mut Vec<u8> {
    if Arc::get_mut(buffer).is_none() {
        let is_unused = old_buffers.front_mut().and_then(Arc::get_mut).is_some();
        let unused = is_unused.then(|| old_buffers.pop_front()).flatten();
        old_buffers.push_back(std::mem::replace(buffer, unused.unwrap_or_default()));
    }
    Arc::make_mut(buffer)
}

impl Read for ByteWindow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.size().saturating_sub(self.position);
        let mut length = left.min(buffer.len() as u64) as usize;
        // Buffered bytes are not read again.
        let start = self.offset_in_buffer(self.position);
        let buffered = start.map_or(0, |start| self.buffer.len() - start);
        if buffered > 0 {
            length = length.min(buffered);
        }
        let target = &mut buffer[..length];
        if length >= self.read_size {
            self.source.read_exact_at(target, self.position)?;
        } else {
            target.copy_from_slice(self.slice(self.position, length)?);
        }
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for ByteWindow<'_> {
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
    use std::fs::File;

    #[test]
    fn reads_at_every_offset() {
        let bytes: Vec<u8> = (0..READ_SIZE as u32 * 3 + 17)
            .map(|i| (i % 251) as u8)
            .collect();
        let source = &bytes[..];
        let mut window = ByteWindow::new(&source);
        for (offset, length) in [
            (0, 8),
            (READ_SIZE - 3, 8),
            (5, 8),
            (7, READ_SIZE * 2),
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
    fn parts_stay_valid_when_the_window_moves() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        let source = &bytes[..];
        let mut window = ByteWindow::with_read_size(&source, 1000);
        let mut kept: VecDeque<(usize, SharedBytes)> = VecDeque::new();
        for offset in (0..99_000).step_by(137) {
            kept.push_back((offset, window.shared_slice(offset as u64, 500).unwrap()));
            // Buffers are reused regardless of the order in which their parts are dropped.
            if kept.len() > 20 {
                kept.remove(offset % 20);
            }
            for (offset, part) in &kept {
                assert!(**part == bytes[*offset..offset + 500], "{offset}");
            }
        }
        let buffers = window.old_buffers.len();
        assert!(buffers < 25, "{buffers}");
    }

    #[test]
    fn reports_truncation_while_reading() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; READ_SIZE * 2]).unwrap();
        let file = RegularFile::open(&path, Links::Follow).unwrap();
        let mut window = ByteWindow::new(&file);
        assert_eq!(window.u64_at(0).unwrap(), 0x0101_0101_0101_0101);
        assert!(file.truncation_error().is_none());
        File::create(&path).unwrap();
        let error = window.u64_at(READ_SIZE as u64).unwrap_err();
        let expected = format!(
            "it was truncated from {} to 0 bytes while it was read",
            READ_SIZE * 2
        );
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}
