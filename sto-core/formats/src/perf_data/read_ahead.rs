//! Reading and hashing a file ahead of the walk over its records, on other threads.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use sto_model::files::{ReadAt, unused_buffer};
use sto_model::id::{RecordingDigest, RecordingHasher, RecordingPart};
use sto_model::{Stage, Timings};

/// Number of bytes of a block, which is hashed by one thread.
const BLOCK: usize = RecordingHasher::PART_SIZE;
/// Number of bytes after a block that are read with it, so that no record that begins in the block is cut.
const OVERLAP: usize = 1 << 16;
/// Number of bytes read and then hashed, while they are in the processor's cache.
const STEP: usize = 1 << 18;
/// Maximum number of threads that read a file; more would wait for memory.
const MAX_THREADS: usize = 4;

/// A file that is read and hashed once, block by block. Bytes can also be read from it at random.
pub(super) struct ReadAhead<'a> {
    source: &'a dyn ReadAt,
    blocks: Mutex<Blocks<'a>>,
}

struct Blocks<'a> {
    /// Receivers of blocks, one per reading thread; the threads take turns.
    ahead: Vec<Receiver<io::Result<Block>>>,
    /// Reads the blocks that no thread reads.
    here: BlockReader<'a>,
    /// The hash of each block that was taken.
    parts: Vec<RecordingPart>,
}

struct Block {
    /// The bytes of the block and the overlap.
    bytes: Arc<Vec<u8>>,
    part: RecordingPart,
}

impl<'a> ReadAhead<'a> {
    /// Makes a reader that reads blocks when they are needed.
    pub(super) fn new(source: &'a dyn ReadAt, timings: &'a Timings) -> Self {
        ReadAhead {
            source,
            blocks: Mutex::new(Blocks {
                ahead: Vec::new(),
                here: BlockReader::new(source, timings),
                parts: Vec::new(),
            }),
        }
    }

    /// Makes a reader whose threads read ahead, unless there is only one core.
    pub(super) fn start<'s>(
        source: &'a dyn ReadAt,
        timings: &'a Timings,
        scope: &'s Scope<'s, 'a>,
    ) -> Self {
        let count = block_count(source);
        let threads = match rayon::current_num_threads() {
            1 => 0,
            cores => cores.min(MAX_THREADS),
        };
        let ahead = (0..threads).map(|first| {
            let (done, blocks) = sync_channel(1);
            let read = move || {
                let mut reader = BlockReader::new(source, timings);
                for index in (first..count).step_by(threads) {
                    let block = reader.read(index);
                    let is_last = block.is_err();
                    if done.send(block).is_err() || is_last {
                        break;
                    }
                }
            };
            let thread = Builder::new().spawn_scoped(scope, read).ok();
            thread.map(|_| blocks)
        });
        // If not all threads can be started, those that were end at their first block.
        let ahead: Option<Vec<_>> = ahead.collect();
        let reader = ReadAhead::new(source, timings);
        reader.blocks().ahead = ahead.unwrap_or_default();
        reader
    }

    /// Returns the digest of the whole file, after reading the blocks that were not taken.
    ///
    /// # Errors
    /// Returns an error if [`ReadAt::read_exact_at`] does.
    pub(super) fn finish(self) -> io::Result<RecordingDigest> {
        let count = block_count(self.source);
        let mut blocks = self.blocks();
        while blocks.parts.len() < count {
            blocks.take()?;
        }
        Ok(RecordingDigest::from_parts(&blocks.parts))
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks<'a>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blocks<'_> {
    /// Takes the next block.
    fn take(&mut self) -> io::Result<Arc<Vec<u8>>> {
        let index = self.parts.len();
        let turn = index % self.ahead.len().max(1);
        let received = self.ahead.get(turn).map(Receiver::recv);
        // A thread ends after an error.
        let block = match received {
            Some(Ok(block)) => block?,
            _ => self.here.read(index)?,
        };
        self.parts.push(block.part);
        Ok(block.bytes)
    }
}

impl ReadAt for ReadAhead<'_> {
    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.source.read_exact_at(buffer, offset)
    }

    fn read_ahead(&self, offset: u64) -> io::Result<Option<(u64, Arc<Vec<u8>>)>> {
        let mut blocks = self.blocks();
        let wanted = (offset / BLOCK as u64) as usize;
        while blocks.parts.len() < wanted.min(block_count(self.source)) {
            blocks.take()?;
        }
        if blocks.parts.len() != wanted {
            return Ok(None);
        }
        Ok(Some(((wanted * BLOCK) as u64, blocks.take()?)))
    }
}

/// Reads and hashes blocks, and reuses the memory of those that are not needed any more.
struct BlockReader<'a> {
    source: &'a dyn ReadAt,
    timings: &'a Timings,
    buffer: Arc<Vec<u8>>,
    old_buffers: VecDeque<Arc<Vec<u8>>>,
}

impl<'a> BlockReader<'a> {
    fn new(source: &'a dyn ReadAt, timings: &'a Timings) -> Self {
        BlockReader {
            source,
            timings,
            buffer: Arc::default(),
            old_buffers: VecDeque::new(),
        }
    }

    fn read(&mut self, index: usize) -> io::Result<Block> {
        let timings = self.timings;
        timings.measure_thread(Stage::Hashing, || self.read_and_hash(index))
    }

    fn read_and_hash(&mut self, index: usize) -> io::Result<Block> {
        let start = (index * BLOCK) as u64;
        let left = self.source.size() - start;
        let [own, length] = [BLOCK, BLOCK + OVERLAP].map(|most| left.min(most as u64) as usize);
        let buffer = unused_buffer(&mut self.buffer, &mut self.old_buffers);
        buffer.resize(length, 0);
        let mut hasher = RecordingHasher::for_part(start);
        for at in (0..length).step_by(STEP) {
            let end = length.min(at + STEP);
            self.source
                .read_exact_at(&mut buffer[at..end], start + at as u64)?;
            hasher.update(&buffer[at.min(own)..end.min(own)]);
        }
        Ok(Block {
            bytes: Arc::clone(&self.buffer),
            part: hasher.finish_part(self.source.size()),
        })
    }
}

fn block_count(source: &dyn ReadAt) -> usize {
    source.size().div_ceil(BLOCK as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use sto_model::files::ByteWindow;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i % 251) as u8).collect()
    }

    #[test]
    fn digest_covers_all_bytes_whatever_was_read() {
        let timings = Timings::default();
        for length in [1, 1024, 1025, BLOCK, BLOCK + 1, 3 * BLOCK, 6 * BLOCK + 17] {
            let bytes = bytes(length);
            let source = &bytes[..];
            let digest = RecordingDigest::hash_bytes(source);
            for reads in [0, length / 2, length - 1] {
                let read = |file: ReadAhead<'_>| {
                    let mut window = ByteWindow::new(&file);
                    window.slice(reads as u64, 1).unwrap();
                    file.finish().unwrap()
                };
                assert_eq!(read(ReadAhead::new(&source, &timings)), digest, "{length}");
                let ahead = thread::scope(|scope| read(ReadAhead::start(&source, &timings, scope)));
                assert_eq!(ahead, digest, "{length}");
            }
        }
    }

    #[test]
    fn parts_in_order_have_the_bytes_of_the_file() {
        let bytes = bytes(3 * BLOCK + 5000);
        let source = &bytes[..];
        let timings = Timings::default();
        thread::scope(|scope| {
            let file = ReadAhead::start(&source, &timings, scope);
            let mut window = ByteWindow::new(&file);
            let mut at = 100;
            while at < bytes.len() {
                let length = (at % OVERLAP).min(bytes.len() - at);
                let part = window.slice(at as u64, length).unwrap();
                assert!(part == &bytes[at..at + length], "{at}");
                at += length.max(1);
            }
        });
    }
}
