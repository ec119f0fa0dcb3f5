//! The log of one thread, and the rules by which its calls nest.

use super::Lost;
use super::chunk::{ChunkWriter, Start};
use super::irregular::Irregular;
use super::spool::{Spool, SpoolError, Stored};
use crate::limits::MAX_DEPTH;
use crate::trace::arguments::CallArguments;
use crate::trace::calls::CallThread;
use crate::trace::paths::FunctionNo;
use crate::units::Nanoseconds;
use hashbrown::HashMap;
use std::sync::Arc;

/// Writes the calls of one thread, in the order of time. Threads may be written side by side.
#[derive(Debug)]
pub struct ThreadLog {
    spool: Arc<Spool>,
    pub(super) written: WrittenThread,
    chunk: ChunkWriter,
    buffer: Vec<u8>,
    /// The calls that have not ended, outermost first.
    open: Vec<Open>,
    /// How many calls of a function are open further out than the [`NEAR`] innermost ones.
    far: HashMap<FunctionNo, u32>,
    /// Calls beyond the deepest that are left out, and open.
    too_deep: u64,
    /// The time of the last event.
    now: u64,
}

/// What was written of a thread.
#[derive(Debug)]
pub(super) struct WrittenThread {
    pub(super) thread: CallThread,
    pub(super) chunks: Vec<Chunk>,
    /// The calls that had not ended when their chunk was written, in their order.
    pub(super) late: Vec<LateCall>,
    pub(super) calls: u64,
    pub(super) begin: Nanoseconds,
    pub(super) end: Nanoseconds,
    /// By the number that this thread has for a function: the one that the log has.
    pub(super) functions: Option<Vec<FunctionNo>>,
    /// What its calls were called with, where it has them by itself.
    pub(super) arguments: CallArguments,
    pub(super) irregular: Irregular,
}

/// Calls that follow each other.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) start: Start,
    pub(super) calls: u32,
    pub(super) stored: Stored,
}

/// A call that had not ended when its chunk was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateCall {
    /// Its number in the thread.
    pub(super) call: u64,
    pub(super) duration: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    function: FunctionNo,
    begin: u64,
    /// Its number in the thread.
    call: u64,
    late: Option<u32>,
}

/// How many of the innermost calls are gone through to find the one that ends.
const NEAR: usize = 64;

/// Calls that all threads hold until they write a chunk, and the fewest and most of one.
const HELD: usize = 1 << 22;
const CHUNK: std::ops::RangeInclusive<usize> = 1 << 8..=1 << 14;

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
                arguments: CallArguments::default(),
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

    /// A call of a function begins.
    #[inline]
    pub fn begin(&mut self, function: FunctionNo, time: Nanoseconds) -> Result<(), SpoolError> {
        self.begin_with(function, function, time)
    }

    /// The same with what it is called with, by name.
    pub fn call(
        &mut self,
        function: FunctionNo,
        arguments: &[(impl AsRef<str>, f64)],
        time: Nanoseconds,
    ) -> Result<(), SpoolError> {
        let with = self.written.arguments.number(function, arguments);
        self.begin_with(function, with, time)
    }

    /// The same of a function with arguments, by the number of these.
    #[inline]
    pub fn begin_with(
        &mut self,
        function: FunctionNo,
        with: FunctionNo,
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
        self.open.push(Open {
            function,
            begin,
            call,
            late: None,
        });
        if let Some(far) = self.open.len().checked_sub(NEAR + 1) {
            *self.far.entry(self.open[far].function).or_default() += 1;
        }
        match self.spool.is_full(self.chunk.len(), HELD, CHUNK) {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// The function of the innermost call that has not ended.
    #[inline]
    pub fn innermost(&self) -> Option<FunctionNo> {
        self.open.last().map(|open| open.function)
    }

    /// The call of a function ends; without one, the innermost call.
    #[inline]
    pub fn end(&mut self, function: Option<FunctionNo>, time: Nanoseconds) {
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
        self.end_further_out(function, end);
    }

    #[cold]
    fn end_further_out(&mut self, function: Option<FunctionNo>, end: u64) {
        let depth = function.and_then(|function| self.open_call(function));
        let is_lossy = self.written.irregular.losses > 0;
        let count = |count: &mut u64, after_loss: &mut u64, events: u64| match is_lossy {
            true => *after_loss += events,
            false => *count += events,
        };
        let irregular = &mut self.written.irregular;
        let Some(depth) = depth else {
            count(&mut irregular.ends_alone, &mut irregular.after_loss, 1);
            return;
        };
        let above = (self.open.len() - depth - 1) as u64;
        count(
            &mut irregular.ended_with_caller,
            &mut irregular.after_loss,
            above,
        );
        while self.open.len() > depth {
            self.pop(end);
        }
    }

    /// Where the innermost open call of a function is.
    fn open_call(&self, function: FunctionNo) -> Option<usize> {
        let is_it = |open: &Open| open.function == function;
        let near = self.open.len().saturating_sub(NEAR);
        let found = self.open[near..].iter().rposition(is_it);
        match found {
            Some(found) => Some(near + found),
            None if self.far.contains_key(&function) => self.open[..near].iter().rposition(is_it),
            None => None,
        }
    }

    /// Events of the thread were lost here.
    pub fn lost(&mut self, lost: Lost) {
        self.written.irregular.lost(lost);
    }

    /// Says which functions of the log the numbers of this thread are.
    pub fn set_functions(&mut self, functions: Vec<FunctionNo>) {
        self.written.functions = Some(functions);
    }

    /// The time of an event, or that of the one before where the clock went backwards.
    #[inline]
    fn advance(&mut self, time: Nanoseconds) -> u64 {
        match self.now.checked_sub(time.0) {
            None | Some(0) => self.now = time.0,
            Some(back) => self.written.irregular.back(back),
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
        // Those that were open when the last chunk was written come before the others.
        let known = self.open.partition_point(|open| open.late.is_some());
        for open in &mut self.open[known..] {
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

    /// Ends the calls that did not end, and writes what is left.
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
