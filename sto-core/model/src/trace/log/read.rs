//! The calls of a log, read back.

use super::chunk::ChunkReader;
use super::spool::{Spool, SpoolError};
use super::thread::{Chunk, LateCall, WrittenThread};
use super::{Call, ThreadNo};
use crate::trace::arguments::CallArguments;
use crate::trace::calls::CallThread;
use crate::units::Nanoseconds;
use std::sync::Arc;

/// The calls of all threads of a trace that called anything, in the order of their first call, equals by process,
/// thread and name.
#[derive(Debug)]
pub struct CallLog {
    spool: Arc<Spool>,
    threads: Vec<WrittenThread>,
    arguments: CallArguments,
    lost: u64,
}

/// The calls of a thread, each before those that it made. It ends early where they cannot be read:
/// [`Calls::check`] says so.
#[derive(Debug)]
pub struct Calls<'l> {
    spool: &'l Spool,
    thread: &'l WrittenThread,
    arguments: &'l CallArguments,
    /// The chunks that are not open yet.
    chunks: std::slice::Iter<'l, Chunk>,
    chunk: ChunkReader,
    /// Number of the next call.
    next: u64,
    /// The calls that are late, from the next one on.
    late: std::slice::Iter<'l, LateCall>,
    error: Option<SpoolError>,
}

impl CallLog {
    pub(super) fn new(
        spool: Arc<Spool>,
        mut threads: Vec<WrittenThread>,
        arguments: CallArguments,
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

    /// Every thread, in order.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = ThreadNo> + use<> {
        (0..self.threads.len() as u32).map(ThreadNo)
    }

    /// Which thread of which process it is.
    pub fn thread(&self, thread: ThreadNo) -> &CallThread {
        &self.threads[thread.get()].thread
    }

    /// When its first call began, and when its last one ended.
    pub fn time(&self, thread: ThreadNo) -> (Nanoseconds, Nanoseconds) {
        let of = &self.threads[thread.get()];
        (of.begin, of.end)
    }

    /// When the first call of all began, and when the last one ended.
    pub fn time_range(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        let begin = self.threads.iter().map(|thread| thread.begin).min()?;
        let end = self.threads.iter().map(|thread| thread.end).max()?;
        Some((begin, end))
    }

    /// Number of events that the trace says were lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The calls of a thread, each before those that it made.
    pub fn calls(&self, thread: ThreadNo) -> Calls<'_> {
        Calls::of(
            &self.spool,
            &self.threads[thread.get()],
            self.arguments(thread),
        )
    }

    /// What the calls of a thread were called with.
    pub fn arguments(&self, thread: ThreadNo) -> &CallArguments {
        let own = &self.threads[thread.get()].arguments;
        match own.is_empty() {
            true => &self.arguments,
            false => own,
        }
    }
}

impl<'l> Calls<'l> {
    pub(super) fn of(
        spool: &'l Spool,
        thread: &'l WrittenThread,
        arguments: &'l CallArguments,
    ) -> Calls<'l> {
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

    /// Whether all calls up to the end could be read.
    pub fn check(self) -> Result<(), SpoolError> {
        self.error.map_or(Ok(()), Err)
    }

    /// The next call of a chunk that is opened for it.
    #[cold]
    fn open(&mut self) -> Option<Call> {
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
            None => self.open()?,
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
        (call.function, call.with) = self.arguments.split(call.function);
        if let Some(functions) = &self.thread.functions {
            call.function = functions[call.function.get()];
        }
        Some(call)
    }
}
