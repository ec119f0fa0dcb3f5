//! Reads a file without writing to it, and lets writers in while it is read.

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A redb file that is only read: what redb writes stays in memory.
///
/// redb writes to every file that it opens, and repairs a file whose last writer was killed. But a reader may lack the
/// permission to write, or the disk may be full.
#[derive(Debug)]
pub(crate) struct OverlayFile {
    file: FileBackend,
    written: Mutex<Written>,
    /// The locks on parts of the file.
    locked: Mutex<Vec<LockRange>>,
    is_closed: AtomicBool,
}

pub(super) type LockRange = (Bound<u64>, Bound<u64>);

#[derive(Debug)]
struct Written {
    len: u64,
    /// Bytes of the file after this offset were cut off and read as zeros.
    file_len: u64,
    pages: HashMap<u64, Box<[u8; PAGE]>>,
}

const PAGE: usize = 4096;

impl OverlayFile {
    pub(crate) fn new(file: File) -> Result<Self, redb::DatabaseError> {
        let file = FileBackend::new(file)?;
        let len = file.len()?;
        let written = Written {
            len,
            file_len: len,
            pages: HashMap::new(),
        };
        Ok(OverlayFile {
            file,
            written: Mutex::new(written),
            locked: Mutex::default(),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Replaces the locks that keep writers out by a lock on this range. Keeps them if the file system cannot lock
    /// ranges.
    pub(super) fn lock_only(&self, range: LockRange) -> Result<(), BackendError> {
        if matches!(self.file.try_lock_shared_range(range.0, range.1), Ok(true)) {
            for (start, end) in self.locked().drain(..) {
                self.file.unlock_range(start, end)?;
            }
        }
        Ok(())
    }

    /// Makes all further reads and writes fail, so that redb does not save its list of free pages, which it would
    /// read from pages that a writer may have replaced.
    pub(super) fn close_early(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    fn check_open(&self) -> io::Result<()> {
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(io::Error::other("the file is closed"));
        }
        Ok(())
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<LockRange>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a page of the file; bytes after its end are zeros.
    fn page_of_file(&self, page: u64, file_len: u64) -> io::Result<Box<[u8; PAGE]>> {
        let mut bytes = Box::new([0; PAGE]);
        let start = page * PAGE as u64;
        let len = file_len.saturating_sub(start).min(PAGE as u64) as usize;
        if len > 0 {
            self.file.read(start, &mut bytes[..len])?;
        }
        Ok(bytes)
    }
}

/// Splits a byte range of the file by page, into (page, start in the page, length).
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + len as u64;
    let mut at = offset;
    std::iter::from_fn(move || {
        let start = (at % PAGE as u64) as usize;
        let len = (end - at).min((PAGE - start) as u64) as usize;
        let piece = (at / PAGE as u64, start, len);
        at += len as u64;
        (len > 0).then_some(piece)
    })
}

/// The end of a shared lock range in place of a writer's. A lock on a writer's last byte would tell
/// new readers that somebody is writing, even if it is shared (redb 4.4, `lock_whole_storage`).
fn as_readers_end(end: Bound<u64>) -> Bound<u64> {
    match end {
        Bound::Included(last) => Bound::Excluded(last),
        end => end,
    }
}

/// A handle that redb owns.
#[derive(Debug)]
pub(super) struct OverlayBackend(pub(super) Arc<OverlayFile>);

impl StorageBackend for OverlayBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.written().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.check_open()?;
        let written = self.0.written();
        if offset
            .checked_add(out.len() as u64)
            .is_none_or(|end| end > written.len)
        {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let is_changed =
            pieces(offset, out.len()).any(|(page, ..)| written.pages.contains_key(&page));
        if !is_changed && offset + out.len() as u64 <= written.file_len {
            drop(written);
            return self.0.file.read(offset, out);
        }
        let mut rest = out;
        for (page, start, len) in pieces(offset, rest.len()) {
            let (out, after) = rest.split_at_mut(len);
            match written.pages.get(&page) {
                Some(bytes) => out.copy_from_slice(&bytes[start..start + len]),
                None => {
                    let bytes = self.0.page_of_file(page, written.file_len)?;
                    out.copy_from_slice(&bytes[start..start + len]);
                }
            }
            rest = after;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.0.written();
        written.file_len = written.file_len.min(len);
        written.pages.retain(|&page, bytes| {
            let kept = len.saturating_sub(page * PAGE as u64).min(PAGE as u64) as usize;
            bytes[kept..].fill(0);
            kept > 0
        });
        written.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.check_open()?;
        let mut written = self.0.written();
        let mut rest = data;
        for (page, start, len) in pieces(offset, data.len()) {
            let (data, after) = rest.split_at(len);
            if !written.pages.contains_key(&page) {
                let bytes = self.0.page_of_file(page, written.file_len)?;
                written.pages.insert(page, bytes);
            }
            if let Some(bytes) = written.pages.get_mut(&page) {
                bytes[start..start + len].copy_from_slice(data);
            }
            rest = after;
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.0.file.close()
    }

    // redb locks for writing, but nothing is written to the file. A shared lock is enough, and the
    // only one possible on a file opened for reading.
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.try_lock_shared_range(start, as_readers_end(end))
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        let is_locked = self.0.file.try_lock_shared_range(start, end)?;
        if is_locked {
            self.0.locked().push((start, end));
        }
        Ok(is_locked)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_shared_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.file.unlock_range(start, as_readers_end(end))
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.file.query_lock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    #[derive(Clone, Debug)]
    enum Step {
        Write(usize, u8, usize),
        SetLen(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..20_000usize, any::<u8>(), 1..9000usize)
                .prop_map(|(at, byte, len)| Step::Write(at, byte, len)),
            (0..30_000usize).prop_map(Step::SetLen),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn reads_back_writes_without_changing_the_file(
            content in proptest::collection::vec(any::<u8>(), 0..20_000),
            steps in proptest::collection::vec(step(), 0..12),
        ) {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&content).unwrap();
            let overlay = OverlayFile::new(File::open(file.path()).unwrap()).unwrap();
            let backend = OverlayBackend(Arc::new(overlay));
            let mut expected = content.clone();
            for step in steps {
                match step {
                    Step::Write(at, byte, len) => {
                        let end = (at + len).min(expected.len());
                        if at < end {
                            expected[at..end].fill(byte);
                            backend.write(at as u64, &expected[at..end]).unwrap();
                        }
                    }
                    Step::SetLen(len) => {
                        expected.resize(len, 0);
                        backend.set_len(len as u64).unwrap();
                    }
                }
                prop_assert_eq!(backend.len().unwrap(), expected.len() as u64);
                let mut found = vec![1; expected.len()];
                backend.read(0, &mut found).unwrap();
                prop_assert!(found == expected);
            }
            prop_assert!(backend.read(expected.len() as u64, &mut [0]).is_err());
            prop_assert!(std::fs::read(file.path()).unwrap() == content);
        }
    }
}
