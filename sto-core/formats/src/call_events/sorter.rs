//! External sorting of records: sorted runs are written to a file and merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io;
use std::sync::Arc;
use sto_model::system::{read_exact_at, write_all_at};

/// A record: numbers, compared in order.
pub(super) type Record<const N: usize> = [u64; N];

/// Collects records in any order.
pub(super) struct Sorter<const N: usize> {
    held: Vec<Record<N>>,
    /// Limit to the records in memory.
    most: usize,
    file: Scratch,
    runs: Vec<Run>,
}

/// Opens a temporary file for sorted runs. Without it, all records stay in memory.
pub(super) type Scratch = Option<Arc<dyn Fn() -> io::Result<File> + Send + Sync>>;

/// A sorted sequence of records in the file.
struct Run {
    file: Arc<File>,
    start: u64,
    end: u64,
}

/// An iterator over sorted records.
pub(super) struct Sorted<const N: usize> {
    heap: BinaryHeap<Reverse<(Record<N>, usize)>>,
    runs: Vec<Reading<N>>,
}

enum Reading<const N: usize> {
    Held(std::vec::IntoIter<Record<N>>),
    Written {
        run: Run,
        buffer: Vec<u8>,
        at: usize,
    },
}

/// Bytes read at once of each run.
const PIECE: usize = 1 << 16;

impl<const N: usize> Sorter<N> {
    const BYTES: usize = N * 8;

    /// Makes a sorter that holds up to `bytes` bytes in memory.
    pub(super) fn new(bytes: usize, file: Scratch) -> Self {
        Sorter {
            held: Vec::new(),
            // A power of two, as vectors grow.
            most: 1 << (bytes / Self::BYTES).max(1).ilog2(),
            file,
            runs: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, record: Record<N>) -> io::Result<()> {
        if self.held.len() >= self.most {
            self.write()?;
        }
        self.held.push(record);
        Ok(())
    }

    /// Writes the records in memory as a run.
    fn write(&mut self) -> io::Result<()> {
        let Some(open) = &self.file else {
            return Ok(());
        };
        let (file, start) = match self.runs.last() {
            Some(last) => (Arc::clone(&last.file), last.end),
            None => (Arc::new(open()?), 0),
        };
        self.held.sort_unstable();
        let mut bytes = Vec::with_capacity(PIECE);
        let mut end = start;
        for records in self.held.chunks(PIECE / Self::BYTES) {
            bytes.clear();
            let numbers = records.iter().flatten();
            bytes.extend(numbers.flat_map(|number| number.to_le_bytes()));
            write_all_at(&file, &bytes, end)?;
            end += bytes.len() as u64;
        }
        self.held.clear();
        self.runs.push(Run { file, start, end });
        Ok(())
    }

    /// All records, sorted.
    pub(super) fn sorted(mut self) -> io::Result<Sorted<N>> {
        self.held.sort_unstable();
        let held = Reading::Held(self.held.into_iter());
        let written = self.runs.into_iter().map(|run| Reading::Written {
            run,
            buffer: Vec::new(),
            at: 0,
        });
        let mut runs: Vec<_> = written.chain([held]).collect();
        let mut heap = BinaryHeap::with_capacity(runs.len());
        for (ix, run) in runs.iter_mut().enumerate() {
            if let Some(first) = run.next()? {
                heap.push(Reverse((first, ix)));
            }
        }
        Ok(Sorted { heap, runs })
    }
}

impl<const N: usize> Sorted<N> {
    #[inline]
    pub(super) fn next(&mut self) -> io::Result<Option<Record<N>>> {
        let Some(mut least) = self.heap.peek_mut() else {
            return Ok(None);
        };
        let (record, run) = least.0;
        match self.runs[run].next()? {
            Some(next) => least.0.0 = next,
            None => drop(PeekMut::pop(least)),
        }
        Ok(Some(record))
    }
}

impl<const N: usize> Reading<N> {
    #[inline]
    fn next(&mut self) -> io::Result<Option<Record<N>>> {
        let (run, buffer, at) = match self {
            Reading::Held(records) => return Ok(records.next()),
            Reading::Written { run, buffer, at } => (run, buffer, at),
        };
        if *at == buffer.len() {
            let most = (PIECE / (N * 8) * N * 8) as u64;
            let length = most.min(run.end - run.start);
            buffer.resize(length as usize, 0);
            read_exact_at(&run.file, buffer, run.start)?;
            run.start += length;
            *at = 0;
        }
        let Some(bytes) = buffer.get(*at..*at + N * 8) else {
            return Ok(None);
        };
        *at += N * 8;
        let mut record = [0; N];
        for (number, bytes) in record.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(bytes);
            *number = u64::from_le_bytes(eight);
        }
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_whatever_fits_in_memory(
            records in prop::collection::vec(any::<[u64; 3]>(), 0..500),
            held in 1..200usize,
        ) {
            let scratch: Scratch = Some(Arc::new(tempfile::tempfile));
            let mut sorter = Sorter::<3>::new(held * 24, scratch);
            for &record in &records {
                sorter.push(record).unwrap();
            }
            let mut sorted = sorter.sorted().unwrap();
            let mut found = Vec::new();
            while let Some(record) = sorted.next().unwrap() {
                found.push(record);
            }
            let mut expected = records;
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
