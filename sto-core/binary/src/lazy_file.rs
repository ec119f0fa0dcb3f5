//! Files in memory, or that are read into memory on demand.

use memmap2::{MmapOptions, MmapRaw};
use object::ReadRef;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use sto_model::files::{ReadAt, RegularFile};
use sto_model::system;

/// The contents of a file, which are in memory or are read on first use.
#[derive(Debug)]
pub struct LazyFile(Contents);

#[derive(Debug)]
enum Contents {
    Bytes(Arc<[u8]>),
    Blocks(Blocks),
}

const BLOCK: usize = 1 << 16;

impl LazyFile {
    /// Reserves address space for a file.
    ///
    /// # Errors
    /// Returns an error if the system cannot reserve that much.
    pub(crate) fn new(file: RegularFile) -> io::Result<LazyFile> {
        Ok(LazyFile(Contents::Blocks(Blocks::new(file)?)))
    }

    /// Uses bytes that are in memory.
    pub(crate) fn from_bytes(bytes: Arc<[u8]>) -> LazyFile {
        LazyFile(Contents::Bytes(bytes))
    }

    /// The length that the file had when it was opened.
    pub(crate) fn size(&self) -> u64 {
        match &self.0 {
            Contents::Bytes(bytes) => bytes.len() as u64,
            Contents::Blocks(blocks) => blocks.file.size(),
        }
    }

    /// Returns an error if another process has truncated the file since it was opened.
    pub(crate) fn truncation_error(&self) -> Option<io::Error> {
        match &self.0 {
            Contents::Bytes(_) => None,
            Contents::Blocks(blocks) => blocks.file.truncation_error(),
        }
    }

    /// Returns a part of the file; `None` if it extends past the end of the file or cannot be read.
    pub(crate) fn bytes(&self, part: Range<usize>) -> Option<&[u8]> {
        if part.start > part.end || part.end as u64 > self.size() {
            return None;
        }
        match &self.0 {
            Contents::Bytes(bytes) => bytes.get(part),
            Contents::Blocks(blocks) => blocks.bytes(part),
        }
    }
}

/// A file whose blocks are read into memory on first use.
///
/// The file is not mapped; [`ReadAt`] says why. Blocks that nobody has asked for, and holes of sparse files, take no
/// memory.
#[derive(Debug)]
struct Blocks {
    file: RegularFile,
    /// Anonymous memory of the file's size, initially zero.
    memory: MmapRaw,
    /// For each block that was asked for, whether it could be read.
    blocks: Box<[OnceLock<bool>]>,
}

impl Blocks {
    fn new(file: RegularFile) -> io::Result<Blocks> {
        let length = usize::try_from(file.size()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let memory = MmapOptions::new()
            .len(length.max(1))
            .no_reserve_swap()
            .map_anon()?;
        // Page faults dominate the time of reading, and huge pages need fewer. Not every system has them.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Blocks {
            file,
            memory: memory.into(),
            blocks: (0..length.div_ceil(BLOCK))
                .map(|_| OnceLock::new())
                .collect(),
        })
    }

    /// Returns a part that is within the file; `None` if it cannot be read.
    fn bytes(&self, part: Range<usize>) -> Option<&[u8]> {
        let blocks = part.start / BLOCK..part.end.div_ceil(BLOCK);
        let is_read = |block: usize| *self.blocks[block].get_or_init(|| self.read(block).is_ok());
        if !blocks.into_iter().all(is_read) {
            return None;
        }
        let start = self.memory.as_ptr().wrapping_add(part.start);
        // SAFETY: the part is within the memory, which lives as long as `self`, and its blocks are never written again.
        Some(unsafe { std::slice::from_raw_parts(start, part.len()) })
    }

    fn read(&self, block: usize) -> io::Result<()> {
        let start = block * BLOCK;
        let end = (start + BLOCK).min(self.file.size() as usize);
        if self.is_hole(start as u64, end as u64) {
            return Ok(());
        }
        let memory = self.memory.as_mut_ptr().wrapping_add(start);
        // SAFETY: the block is within the memory, nothing else writes to it while its `OnceLock` is being set, and
        // nothing reads from it before.
        let memory = unsafe { std::slice::from_raw_parts_mut(memory, end - start) };
        self.file.read_exact_at(memory, start as u64)
    }

    /// Returns `true` if a part of the file is a hole: it was never written, and reads as zeros.
    fn is_hole(&self, start: u64, end: u64) -> bool {
        system::is_hole(&self.file.file, start, end) && self.file.truncation_error().is_none()
    }
}

impl<'a> ReadRef<'a> for &'a LazyFile {
    fn len(self) -> Result<u64, ()> {
        Ok(self.size())
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let end = offset.checked_add(size).ok_or(())?;
        let [start, end] = [offset, end].map(usize::try_from);
        self.bytes(start.map_err(drop)?..end.map_err(drop)?)
            .ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let [start, end] = [range.start, range.end].map(usize::try_from);
        let (start, end) = (start.map_err(drop)?, end.map_err(drop)?);
        let mut known = start;
        while known < end {
            let more = end.min((known / BLOCK + 1) * BLOCK);
            let found = memchr::memchr(delimiter, self.bytes(known..more).ok_or(())?);
            if let Some(length) = found {
                return self.bytes(start..known + length).ok_or(());
            }
            known = more;
        }
        Err(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::path::Path;
    use sto_model::files::Links;

    fn open(path: &Path) -> LazyFile {
        LazyFile::new(RegularFile::open(path, Links::Follow).unwrap()).unwrap()
    }

    #[test]
    fn parts_equal_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..BLOCK as u32 * 3 + 17)
            .map(|i| (i % 251) as u8)
            .collect();
        std::fs::write(&path, &bytes).unwrap();
        let file = open(&path);
        for part in [1..9, BLOCK - 1..BLOCK + 1, 0..bytes.len(), 5..5] {
            assert_eq!(file.bytes(part.clone()), Some(&bytes[part]));
        }
        assert_eq!(file.bytes(1..bytes.len() + 1), None);
        assert_eq!((&file).read_bytes_at(u64::MAX, 2), Err(()));
        let until = (&file).read_bytes_at_until(BLOCK as u64 - 3..bytes.len() as u64, 2);
        let length = bytes[BLOCK - 3..]
            .iter()
            .position(|&byte| byte == 2)
            .unwrap();
        assert_eq!(until, Ok(&bytes[BLOCK - 3..BLOCK - 3 + length]));
        assert_eq!((&file).read_bytes_at_until(0..9, 200), Err(()));
        std::fs::write(&path, []).unwrap();
        assert_eq!(open(&path).bytes(0..0), Some(&[][..]));
    }

    #[test]
    fn truncated_file_keeps_only_the_blocks_already_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; BLOCK * 2]).unwrap();
        let file = open(&path);
        assert_eq!(file.bytes(0..2), Some(&[7, 7][..]));
        File::create(&path).unwrap();
        assert_eq!(file.bytes(0..2), Some(&[7, 7][..]));
        assert_eq!(file.bytes(BLOCK..BLOCK + 2), None);
        assert!(file.truncation_error().is_some());
    }

    #[test]
    fn holes_of_a_sparse_file_read_as_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let file = open(&path);
        let part = file.bytes(1 << 39..(1 << 39) + (64 << 20)).unwrap();
        assert!(part[..BLOCK].iter().all(|&byte| byte == 0));
    }
}
