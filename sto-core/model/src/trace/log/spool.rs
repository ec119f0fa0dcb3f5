//! Storage for chunks of bytes, in memory up to a limit and in a temporary file beyond it.

use crate::files::{Folder, TemporaryFiles};
use crate::system::{read_exact_at, write_all_at};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Maximum total size of chunks in memory, in bytes.
const MAX_IN_MEMORY: u64 = 64 << 20;

/// Chunks of all threads of a log. The temporary file has no name, and is deleted when the spool is dropped.
#[derive(Debug)]
pub struct Spool {
    /// The folder of the file. If it is `None`, everything stays in memory.
    folder: Option<PathBuf>,
    max_in_memory: u64,
    /// Total size of chunks in memory and in the file.
    total_size: AtomicU64,
    file: OnceLock<Result<File, Arc<io::Error>>>,
    file_size: AtomicU64,
    /// Number of threads that write to the spool.
    threads: AtomicUsize,
}

/// The location of a chunk.
#[derive(Debug)]
pub enum StoredChunk {
    Memory(Box<[u8]>),
    File { offset: u64, length: u32 },
}

/// The temporary file of a trace's calls cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("its calls do not fit in memory, and the temporary file for them in {} cannot be used: {}; free some space, or name another folder", .0.0.display(), .0.1)]
pub struct SpoolError(Box<(PathBuf, Arc<io::Error>)>);

impl Spool {
    /// Creates a spool with its file in `folder`. If that is `None`, everything stays in memory.
    pub(crate) fn new(folder: Option<&Path>) -> Spool {
        Spool::with_max_in_memory(folder, MAX_IN_MEMORY)
    }

    pub(super) fn with_max_in_memory(folder: Option<&Path>, max_in_memory: u64) -> Spool {
        Spool {
            folder: folder.map(Path::to_owned),
            max_in_memory,
            total_size: AtomicU64::new(0),
            file: OnceLock::new(),
            file_size: AtomicU64::new(0),
            threads: AtomicUsize::new(0),
        }
    }

    /// Registers a thread that writes to the spool.
    pub(super) fn add_thread(&self) {
        self.threads.fetch_add(1, Relaxed);
    }

    /// Whether a thread that holds `held` items has reached its limit: an equal share of `all`, clamped to `bounds`.
    /// For speed, this is only checked if `held` is a multiple of the lower bound.
    #[inline]
    pub(super) fn is_full(&self, held: usize, all: usize, bounds: RangeInclusive<usize>) -> bool {
        let reaches_share = || {
            let threads = self.threads.load(Relaxed).max(1);
            held >= (all / threads).clamp(*bounds.start(), *bounds.end())
        };
        held.is_multiple_of(*bounds.start()) && reaches_share()
    }

    /// Stores a chunk: in memory if all chunks so far fit there, otherwise in the file.
    pub(crate) fn write(&self, chunk: &[u8]) -> Result<StoredChunk, SpoolError> {
        let length = chunk.len() as u64;
        let fits = self.total_size.fetch_add(length, Relaxed) + length <= self.max_in_memory;
        let Some(folder) = self.folder.as_deref().filter(|_| !fits) else {
            return Ok(StoredChunk::Memory(chunk.into()));
        };
        let offset = self.file_size.fetch_add(length, Relaxed);
        let written = write_all_at(self.file(folder)?, chunk, offset);
        written.map_err(|error| SpoolError::new(folder, error))?;
        Ok(StoredChunk::File {
            offset,
            length: chunk.len() as u32,
        })
    }

    /// Replaces the content of the buffer by a chunk.
    pub(crate) fn read(
        &self,
        stored: &StoredChunk,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SpoolError> {
        match *stored {
            StoredChunk::Memory(ref chunk) => {
                buffer.clear();
                buffer.extend_from_slice(chunk);
            }
            StoredChunk::File { offset, length } => {
                buffer.resize(length as usize, 0);
                let folder = self.folder.as_deref().unwrap_or(Path::new(""));
                let read = read_exact_at(self.file(folder)?, buffer, offset);
                read.map_err(|error| SpoolError::new(folder, error))?;
            }
        }
        Ok(())
    }

    fn file(&self, folder: &Path) -> Result<&File, SpoolError> {
        let file = self
            .file
            .get_or_init(|| create_unnamed_file(folder).map_err(Arc::new));
        file.as_ref()
            .map_err(|error| SpoolError(Box::new((folder.to_owned(), Arc::clone(error)))))
    }
}

impl SpoolError {
    fn new(folder: &Path, error: io::Error) -> SpoolError {
        SpoolError(Box::new((folder.to_owned(), Arc::new(error))))
    }
}

impl From<SpoolError> for io::Error {
    fn from(error: SpoolError) -> io::Error {
        io::Error::other(error)
    }
}

/// Creates a temporary file without a name.
pub fn create_unnamed_file(folder: &Path) -> io::Result<File> {
    let folder = Arc::new(Folder::open(folder)?);
    let temporary = TemporaryFiles::default().new_private_in(&folder, OsStr::new(".sto-calls-"))?;
    temporary.into_unlinked()
}
