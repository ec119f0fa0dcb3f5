//! The digest of a file, computed while the file is read and checked.

use std::io;
use std::sync::{Mutex, PoisonError};
use sto_model::files::ReadAt;
use sto_model::id::{RecordingDigest, RecordingHasher};

/// A file that is digested while it is read from beginning to end.
pub(super) struct DigestingReader<'a> {
    source: &'a dyn ReadAt,
    digest: Mutex<Digest>,
}

#[derive(Default)]
struct Digest {
    hasher: RecordingHasher,
    /// Number of bytes digested so far.
    end: u64,
}

/// Number of bytes read at once; large, so that few reads are needed.
pub(super) const READ_SIZE: usize = 1 << 18;

impl<'a> DigestingReader<'a> {
    pub(super) fn new(source: &'a dyn ReadAt) -> Self {
        DigestingReader {
            source,
            digest: Mutex::default(),
        }
    }

    /// Returns the digest of the whole file, reading the bytes that were not read in order.
    ///
    /// # Errors
    /// Returns an error if [`ReadAt::read_exact_at`] does.
    pub(super) fn finish(self) -> io::Result<RecordingDigest> {
        let mut digest = self
            .digest
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        digest.go_on_to(self.source, self.source.size())?;
        Ok(digest.hasher.finish())
    }
}

impl ReadAt for DigestingReader<'_> {
    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.source.read_exact_at(buffer, offset)?;
        let mut digest = self.digest.lock().unwrap_or_else(PoisonError::into_inner);
        if offset.saturating_sub(digest.end) <= READ_SIZE as u64 {
            digest.go_on_to(self.source, offset)?;
            let known = usize::try_from(digest.end - offset).unwrap_or(usize::MAX);
            if let Some(new) = buffer.get(known..) {
                digest.add(new);
            }
        }
        Ok(())
    }
}

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.end += bytes.len() as u64;
    }

    fn go_on_to(&mut self, source: &dyn ReadAt, end: u64) -> io::Result<()> {
        let mut piece = Vec::new();
        while self.end < end {
            piece.resize((end - self.end).min(READ_SIZE as u64) as usize, 0);
            source.read_exact_at(&mut piece, self.end)?;
            self.add(&piece);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_covers_all_bytes_whatever_was_read() {
        let bytes: Vec<u8> = (0..READ_SIZE as u32 * 3 + 17)
            .map(|i| (i % 251) as u8)
            .collect();
        let source = &bytes[..];
        let all = source.len();
        let read: [&[(usize, usize)]; 6] = [
            &[],
            &[(0, all)],
            &[
                (0, 64),
                (8, READ_SIZE),
                (READ_SIZE + 60_000, READ_SIZE),
                (0, 64),
                (READ_SIZE * 3, 17),
            ],
            &[(all - 9, 9), (0, 9)],
            &[(READ_SIZE, 9), (5, READ_SIZE), (5, 5)],
            &[(9, 0), (all, 0)],
        ];
        for parts in read {
            let digested = DigestingReader::new(&source);
            for &(offset, length) in parts {
                let mut buffer = vec![0; length];
                digested.read_exact_at(&mut buffer, offset as u64).unwrap();
                assert!(buffer == source[offset..offset + length]);
            }
            assert_eq!(
                digested.finish().unwrap(),
                RecordingDigest::hash_bytes(source),
                "{parts:?}"
            );
        }
    }
}
