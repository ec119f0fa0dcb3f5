//! Where the chunks of a log are: in memory up to a limit, in a temporary file beyond.

use crate::files::{Folder, Temporaries};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// What chunks take in memory before further ones go to the file, in bytes.
const IN_MEMORY: u64 = 64 << 20;

/// The chunks of all threads of a log. The file has no name, and goes when this is dropped.
#[derive(Debug)]
pub struct Spool {
    /// Where the file is made; without one, everything stays in memory.
    folder: Option<PathBuf>,
    in_memory: u64,
    /// Bytes of chunks up to here, wherever they are.
    taken: AtomicU64,
    file: OnceLock<Result<File, Arc<io::Error>>>,
    written: AtomicU64,
    /// Threads that write to it.
    threads: AtomicUsize,
}

/// A chunk that was written.
#[derive(Debug)]
pub enum Stored {
    Memory(Box<[u8]>),
    File { offset: u64, length: u32 },
}

/// The temporary file of a trace's calls cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("its calls do not fit in memory, and the temporary file for them in {} cannot be used: {}; free some space, or name another folder", .0.0.display(), .0.1)]
pub struct SpoolError(Box<(PathBuf, Arc<io::Error>)>);

impl Spool {
    /// A spool with its file in this folder; without one, everything stays in memory.
    pub(crate) fn new(folder: Option<&Path>) -> Spool {
        Spool::with_memory(folder, IN_MEMORY)
    }

    /// The same, with at most so many bytes in memory.
    pub(super) fn with_memory(folder: Option<&Path>, in_memory: u64) -> Spool {
        Spool {
            folder: folder.map(Path::to_owned),
            in_memory,
            taken: AtomicU64::new(0),
            file: OnceLock::new(),
            written: AtomicU64::new(0),
            threads: AtomicUsize::new(0),
        }
    }

    /// Counts a thread that writes to it.
    pub(super) fn add_thread(&self) {
        self.threads.fetch_add(1, Relaxed);
    }

    /// Whether what a thread holds is its share of what all threads may hold together, within these bounds: looked at
    /// where it is a multiple of the lower one.
    #[inline]
    pub(super) fn is_full(&self, held: usize, all: usize, bounds: RangeInclusive<usize>) -> bool {
        let is_share = || {
            let threads = self.threads.load(Relaxed).max(1);
            held >= (all / threads).clamp(*bounds.start(), *bounds.end())
        };
        held.is_multiple_of(*bounds.start()) && is_share()
    }

    /// Keeps a chunk.
    pub(crate) fn write(&self, chunk: &[u8]) -> Result<Stored, SpoolError> {
        let length = chunk.len() as u64;
        let is_within = self.taken.fetch_add(length, Relaxed) + length <= self.in_memory;
        let Some(folder) = self.folder.as_deref().filter(|_| !is_within) else {
            return Ok(Stored::Memory(chunk.into()));
        };
        let offset = self.written.fetch_add(length, Relaxed);
        let written = self.file(folder)?.write_all_at(chunk, offset);
        written.map_err(|error| SpoolError::new(folder, error))?;
        Ok(Stored::File {
            offset,
            length: chunk.len() as u32,
        })
    }

    /// Puts a chunk into the buffer, and nothing else.
    pub(crate) fn read(&self, stored: &Stored, buffer: &mut Vec<u8>) -> Result<(), SpoolError> {
        match *stored {
            Stored::Memory(ref chunk) => {
                buffer.clear();
                buffer.extend_from_slice(chunk);
            }
            Stored::File { offset, length } => {
                buffer.resize(length as usize, 0);
                let folder = self.folder.as_deref().unwrap_or(Path::new(""));
                let read = self.file(folder)?.read_exact_at(buffer, offset);
                read.map_err(|error| SpoolError::new(folder, error))?;
            }
        }
        Ok(())
    }

    fn file(&self, folder: &Path) -> Result<&File, SpoolError> {
        let file = self.file.get_or_init(|| nameless(folder).map_err(Arc::new));
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

pub fn nameless(folder: &Path) -> io::Result<File> {
    let folder = Arc::new(Folder::open(folder)?);
    let temporary = Temporaries::default().private_in(&folder, OsStr::new(".sto-calls-"))?;
    temporary.into_nameless()
}
