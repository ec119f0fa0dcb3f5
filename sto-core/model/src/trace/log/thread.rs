//! The log of one thread, and the rules that ensure that its calls nest.

use super::LostEvents;
use super::chunk::{ChunkWriter, Start};
use super::irregular::Irregular;
use super::spool::{Spool, SpoolError, StoredChunk};
use crate::limits::MAX_DEPTH;
use crate::trace::arguments::ArgumentTable;
use crate::trace::calls::CallThread;
use crate::trace::paths::TraceFunctionIx;
use crate::units::Nanoseconds;
use hashbrown::HashMap;
use std::sync::Arc;

/// Writes the calls of one thread, ordered by time. Threads may be written in parallel.
#[derive(Debug)]
pub struct ThreadLog {
    spool: Arc<Spool>,
    pub(super) written: WrittenThread,
    chunk: ChunkWriter,
    buffer: Vec<u8>,
    /// The calls that have not ended, outermost first.
    open: Vec<OpenCall>,
    /// Number of open calls by function, without the [`NEAR`] innermost calls.
    far: HashMap<TraceFunctionIx, u32>,
    /// Number of open calls that are left out because they are too deep.
    too_deep: u64,
    /// The time of the last event.
    now: u64,
}

/// The written calls of a thread.
#[derive(Debug)]
pub(super) struct WrittenThread {
    pub(super) thread: CallThread,
    pub(super) chunks: Vec<Chunk>,
    /// The calls that had not ended when their chunk was written, in order.
    pub(super) late: Vec<LateCall>,
    pub(super) calls: u64,
    pub(super) begin: Nanoseconds,
    pub(super) end: Nanoseconds,
    /// The log's function for each function number of the thread, if they differ.
    pub(super) functions: Option<Vec<TraceFunctionIx>>,
    /// The thread's own table of arguments, which is empty if the log has one.
    pub(super) arguments: ArgumentTable,
    pub(super) irregular: Irregular,
}

/// A chunk of consecutive calls.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) start: Start,
    pub(super) calls: u32,
    pub(super) stored: StoredChunk,
}

/// A call that had not ended when its chunk was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateCall {
    /// Index of the call in the thread.
    pub(super) call: u64,
    pub(super) duration: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenCall {
    function: TraceFunctionIx,
    begin: u64,
    /// Index of the call in the thread.
    call: u64,
    /// Index in [`WrittenThread::late`], if the chunk of the call was written.
    late: Option<u32>,
}

/// Number of innermost calls that are always searched for the call that ends.
const NEAR: usize = 64;

/// Maximum number of calls that all threads together hold in unwritten chunks.
const MAX_HELD_CALLS: usize = 1 << 22;
/// Minimum and maximum number of calls of a chunk.
const CHUNK_CALLS: std::ops::RangeInclusive<usize> = 1 << 8..=1 << 14;

impl ThreadLog {
    pub(super) fn new(thread: CallThread, spool: &Arc<Spool>) -> ThreadLog {
        spool.add_thread();
        ThreadLog {
            spool: Arc::clone(spool),
            written: WrittenThread {
                thread,
                chunks: Vec::new(),
                late: Vec::new(),
                calls: 0,
                begin: Nanoseconds(0),
                end: Nanoseconds(0),
                functions: None,
                arguments: ArgumentTable::default(),
                irregular: Irregular::default(),
            },
            chunk: ChunkWriter::default(),
            buffer: Vec::new(),
            open: Vec::new(),
            far: HashMap::new(),
            too_deep: 0,
            now: 0,
        }
    }

    /// Begins a call of a function.
    #[inline]
    pub fn begin(
        &mut self,
        function: TraceFunctionIx,
        time: Nanoseconds,
    ) -> Result<(), SpoolError> {
        self.begin_with_number(function, function, time)
    }

    /// Begins a call of a function with named arguments.
    pub fn begin_with_arguments(
        &mut self,
        function: TraceFunctionIx,
        arguments: &[(impl AsRef<str>, f64)],
        time: Nanoseconds,
    ) -> Result<(), SpoolError> {
        let with = self.written.arguments.intern(function, arguments);
        self.begin_with_number(function, with, time)
    }

    /// Begins a call of a function with arguments that are already in the table. `with` is their number.
    #[inline]
    pub fn begin_with_number(
        &mut self,
        function: TraceFunctionIx,
        with: TraceFunctionIx,
        time: Nanoseconds,
    ) -> Result<(), SpoolError> {
        let begin = self.advance(time);
        if self.open.len() >= MAX_DEPTH {
            self.too_deep += 1;
            self.written.irregular.too_deep += 1;
            return Ok(());
        }
        let call = self.written.calls;
        if call == 0 {
            self.written.begin = Nanoseconds(begin);
        }
        self.written.calls += 1;
        self.chunk.begin(self.open.len() as u32, with, begin);
        self.open.push(OpenCall {
            function,
            begin,
            call,
            late: None,
        });
        if let Some(far) = self.open.len().checked_sub(NEAR + 1) {
            *self.far.entry(self.open[far].function).or_default() += 1;
        }
        let length = self.chunk.len();
        if self.spool.is_full(length, MAX_HELD_CALLS, CHUNK_CALLS) {
            self.flush()?;
        }
        Ok(())
    }

    /// The function of the innermost open call.
    #[inline]
    pub fn innermost(&self) -> Option<TraceFunctionIx> {
        self.open.last().map(|open| open.function)
    }

    /// Ends the innermost call of a function, or the innermost call of all if no function is given.
    #[inline]
    pub fn end(&mut self, function: Option<TraceFunctionIx>, time: Nanoseconds) {
        let end = self.advance(time);
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let innermost = self.innermost();
        if innermost.is_some() && (function.is_none() || function == innermost) {
            self.pop(end);
            return;
        }
        self.end_outer(function, end);
    }

    /// Ends a call that is not the innermost one, with the calls in it.
    #[cold]
    fn end_outer(&mut self, function: Option<TraceFunctionIx>, end: u64) {
        let depth = function.and_then(|function| self.innermost_call_of(function));
        let irregular = &mut self.written.irregular;
        let (count, irregular_events) = match depth {
            Some(depth) => (
                &mut irregular.ended_with_caller,
                (self.open.len() - depth - 1) as u64,
            ),
            None => (&mut irregular.unmatched_ends, 1),
        };
        if irregular.losses > 0 {
            irregular.after_loss += irregular_events;
        } else {
            *count += irregular_events;
        }
        while depth.is_some_and(|depth| self.open.len() > depth) {
            self.pop(end);
        }
    }

    /// Index of the innermost open call of a function.
    fn innermost_call_of(&self, function: TraceFunctionIx) -> Option<usize> {
        let is_match = |open: &OpenCall| open.function == function;
        let near = self.open.len().saturating_sub(NEAR);
        match self.open[near..].iter().rposition(is_match) {
            Some(found) => Some(near + found),
            None if self.far.contains_key(&function) => {
                self.open[..near].iter().rposition(is_match)
            }
            None => None,
        }
    }

    /// Records that events of the thread were lost at this point.
    pub fn record_loss(&mut self, lost: LostEvents) {
        self.written.irregular.add_loss(lost);
    }

    /// Sets the log's function for each function number of this thread.
    pub fn set_functions(&mut self, functions: Vec<TraceFunctionIx>) {
        self.written.functions = Some(functions);
    }

    /// Returns the time of an event, or the time of the previous event if that is later.
    #[inline]
    fn advance(&mut self, time: Nanoseconds) -> u64 {
        match self.now.checked_sub(time.0) {
            None | Some(0) => self.now = time.0,
            Some(back) => self.written.irregular.add_backwards(back),
        }
        self.now
    }

    #[inline]
    fn pop(&mut self, end: u64) {
        if let Some(far) = self.open.len().checked_sub(NEAR + 1) {
            let function = self.open[far].function;
            if let Some(count) = self.far.get_mut(&function) {
                *count -= 1;
                if *count == 0 {
                    self.far.remove(&function);
                }
            }
        }
        let Some(open) = self.open.pop() else {
            return;
        };
        let duration = end - open.begin;
        self.written.end = Nanoseconds(end);
        match open.late {
            Some(late) => self.written.late[late as usize].duration = duration,
            None => {
                let first = self.written.calls - self.chunk.len() as u64;
                self.chunk.end((open.call - first) as usize, duration);
            }
        }
    }

    fn flush(&mut self) -> Result<(), SpoolError> {
        let calls = self.chunk.len();
        let start = self.chunk.start();
        self.buffer.clear();
        self.chunk.flush(&mut self.buffer);
        let stored = self.spool.write(&self.buffer)?;
        // Calls that are already late are further out than the others.
        let first_new = self.open.partition_point(|open| open.late.is_some());
        for open in &mut self.open[first_new..] {
            open.late = Some(self.written.late.len() as u32);
            self.written.late.push(LateCall {
                call: open.call,
                duration: 0,
            });
        }
        self.written.chunks.push(Chunk {
            start,
            calls: calls as u32,
            stored,
        });
        Ok(())
    }

    /// Ends the open calls, and writes the last chunk.
    pub(super) fn finish(mut self) -> Result<WrittenThread, SpoolError> {
        self.written.irregular.never_ended += self.open.len() as u64;
        while !self.open.is_empty() {
            self.pop(self.now);
        }
        if self.chunk.len() > 0 {
            self.flush()?;
        }
        Ok(self.written)
    }
}
