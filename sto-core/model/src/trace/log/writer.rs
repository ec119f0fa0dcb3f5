//! Writing the calls of a trace to a log.

use super::irregular::Irregular;
use super::read::CallLog;
use super::spool::{Spool, SpoolError};
use super::thread::ThreadLog;
use super::{LostEvents, TraceThreadIx};
use crate::trace::arguments::ArgumentTable;
use crate::trace::calls::CallThread;
use crate::trace::paths::TraceFunctionIx;
use crate::units::Nanoseconds;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Writes the calls of a trace. Threads may be interleaved; the events of each thread must be ordered by time.
#[derive(Debug)]
pub struct CallLogWriter {
    spool: Arc<Spool>,
    threads: Vec<ThreadLog>,
    known: HashMap<CallThread, TraceThreadIx>,
    arguments: ArgumentTable,
}

impl CallLogWriter {
    /// Creates a log with its temporary file in `folder`. If that is `None`, all calls stay in memory.
    pub fn new(folder: Option<&Path>) -> CallLogWriter {
        CallLogWriter::with_spool(Spool::new(folder))
    }

    pub(super) fn with_spool(spool: Spool) -> CallLogWriter {
        CallLogWriter {
            spool: Arc::new(spool),
            threads: Vec::new(),
            known: HashMap::new(),
            arguments: ArgumentTable::default(),
        }
    }

    /// Returns the index of a thread, and adds the thread if it is new.
    pub fn intern_thread(&mut self, thread: CallThread) -> TraceThreadIx {
        let next = TraceThreadIx(self.threads.len() as u32);
        *self.known.entry(thread).or_insert_with_key(|thread| {
            self.threads
                .push(ThreadLog::new(thread.clone(), &self.spool));
            next
        })
    }

    /// Begins a call of a function.
    #[inline]
    pub fn begin(
        &mut self,
        thread: TraceThreadIx,
        function: TraceFunctionIx,
        time: Nanoseconds,
    ) -> Result<(), SpoolError> {
        self.threads[thread.get()].begin(function, time)
    }

    /// Ends the innermost call of a function, or the innermost call of all if no function is given.
    #[inline]
    pub fn end(
        &mut self,
        thread: TraceThreadIx,
        function: Option<TraceFunctionIx>,
        time: Nanoseconds,
    ) {
        self.threads[thread.get()].end(function, time);
    }

    /// Sets the table of arguments, if calls are begun with its numbers instead of functions.
    pub fn set_arguments(&mut self, arguments: ArgumentTable) {
        self.arguments = arguments;
    }

    /// Records that events of a thread were lost at this point.
    pub fn record_loss(&mut self, thread: TraceThreadIx, lost: LostEvents) {
        self.threads[thread.get()].record_loss(lost);
    }

    /// The logs of all threads, ordered by index, so that they can be written in parallel.
    pub fn thread_logs(&mut self) -> &mut [ThreadLog] {
        &mut self.threads
    }

    /// Completes the log. Returns it with warnings about irregular events.
    pub fn finish(self) -> Result<(CallLog, Vec<String>), SpoolError> {
        let written = self.threads.into_par_iter().map(ThreadLog::finish);
        let threads = written.collect::<Result<Vec<_>, _>>()?;
        let mut irregular = Irregular::default();
        threads
            .iter()
            .for_each(|thread| irregular.add(&thread.irregular));
        let mut warnings = irregular.warnings();
        let arguments = threads.iter().map(|thread| &thread.arguments);
        warnings.extend(ArgumentTable::warning(arguments.chain([&self.arguments])));
        let log = CallLog::new(self.spool, threads, self.arguments, irregular.lost);
        Ok((log, warnings))
    }
}
