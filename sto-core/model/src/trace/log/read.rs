//! Reading the calls of a log.

use super::chunk::ChunkReader;
use super::spool::{Spool, SpoolError};
use super::thread::{Chunk, LateCall, WrittenThread};
use super::{Call, TraceThreadIx};
use crate::trace::arguments::ArgumentTable;
use crate::trace::calls::CallThread;
use crate::units::Nanoseconds;
use std::sync::Arc;

/// The calls of a trace by thread. Threads without calls are left out; the others are ordered by the begin of their
/// first call, then by process, thread and name.
#[derive(Debug)]
pub struct CallLog {
    spool: Arc<Spool>,
    threads: Vec<WrittenThread>,
    arguments: ArgumentTable,
    lost: u64,
}

/// Iterates over the calls of a thread in preorder. The iterator ends at the first read error, which
/// [`Calls::check`] returns.
#[derive(Debug)]
pub struct Calls<'l> {
    spool: &'l Spool,
    thread: &'l WrittenThread,
    arguments: &'l ArgumentTable,
    /// The chunks after the current one.
    chunks: std::slice::Iter<'l, Chunk>,
    chunk: ChunkReader,
    /// Index of the next call.
    next: u64,
    /// The late calls from the next call on.
    late: std::slice::Iter<'l, LateCall>,
    error: Option<SpoolError>,
}

impl CallLog {
    pub(super) fn new(
        spool: Arc<Spool>,
        mut threads: Vec<WrittenThread>,
        arguments: ArgumentTable,
        lost: u64,
    ) -> CallLog {
        threads.retain(|thread| thread.calls > 0);
        threads.sort_by(|a, b| (a.begin, &a.thread).cmp(&(b.begin, &b.thread)));
        CallLog {
            spool,
            threads,
            arguments,
            lost,
        }
    }

    /// Iterates over the threads in order.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = TraceThreadIx> + use<> {
        (0..self.threads.len() as u32).map(TraceThreadIx)
    }

    /// The ids and names of a thread.
    pub fn thread(&self, thread: TraceThreadIx) -> &CallThread {
        &self.threads[thread.get()].thread
    }

    /// The begin of a thread's first call, and the end of its last one.
    pub fn time(&self, thread: TraceThreadIx) -> (Nanoseconds, Nanoseconds) {
        let written = &self.threads[thread.get()];
        (written.begin, written.end)
    }

    /// The earliest begin and the latest end of all calls, or `None` if there are no calls.
    pub fn time_range(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        let begin = self.threads.iter().map(|thread| thread.begin).min()?;
        let end = self.threads.iter().map(|thread| thread.end).max()?;
        Some((begin, end))
    }

    /// The number of lost events, as far as the trace has it.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Iterates over the calls of a thread in preorder.
    pub fn calls(&self, thread: TraceThreadIx) -> Calls<'_> {
        Calls::new(
            &self.spool,
            &self.threads[thread.get()],
            self.arguments(thread),
        )
    }

    /// The table of arguments for the calls of a thread.
    pub fn arguments(&self, thread: TraceThreadIx) -> &ArgumentTable {
        let own = &self.threads[thread.get()].arguments;
        if own.is_empty() { &self.arguments } else { own }
    }
}

impl<'l> Calls<'l> {
    fn new(spool: &'l Spool, thread: &'l WrittenThread, arguments: &'l ArgumentTable) -> Calls<'l> {
        Calls {
            spool,
            thread,
            arguments,
            chunks: thread.chunks.iter(),
            chunk: ChunkReader::default(),
            next: 0,
            late: thread.late.iter(),
            error: None,
        }
    }

    /// Returns the error that ended the iteration early, if there was one.
    pub fn check(self) -> Result<(), SpoolError> {
        self.error.map_or(Ok(()), Err)
    }

    /// Opens the next chunk, and returns its first call.
    #[cold]
    fn open_chunk(&mut self) -> Option<Call> {
        let chunk = self.chunks.next()?;
        let fill = |buffer: &mut Vec<u8>| self.spool.read(&chunk.stored, buffer);
        match self.chunk.open(chunk.start, chunk.calls as usize, fill) {
            Ok(()) => self.chunk.next(),
            Err(error) => {
                self.error = Some(error);
                self.chunks = [].iter();
                None
            }
        }
    }
}

impl Iterator for Calls<'_> {
    type Item = Call;

    #[inline]
    fn next(&mut self) -> Option<Call> {
        let mut call = match self.chunk.next() {
            Some(call) => call,
            None => self.open_chunk()?,
        };
        if let Some(late) = self
            .late
            .as_slice()
            .first()
            .filter(|late| late.call == self.next)
        {
            call.duration = Nanoseconds(late.duration);
            self.late.next();
        }
        self.next += 1;
        (call.function, call.arguments) = self.arguments.split(call.function);
        if let Some(functions) = &self.thread.functions {
            call.function = functions[call.function.get()];
        }
        Some(call)
    }
}
