//! The log of all threads, as a format writes it.

use super::irregular::Irregular;
use super::read::CallLog;
use super::spool::{Spool, SpoolError};
use super::thread::ThreadLog;
use super::{Lost, ThreadNo};
use crate::trace::arguments::CallArguments;
use crate::trace::calls::CallThread;
use crate::trace::paths::FunctionNo;
use crate::units::Nanoseconds;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Takes the calls of a trace, whose threads may come in any order; each thread's events by time.
#[derive(Debug)]
pub struct CallLogWriter {
    spool: Arc<Spool>,
    threads: Vec<ThreadLog>,
    known: HashMap<CallThread, ThreadNo>,
    arguments: CallArguments,
}

impl CallLogWriter {
    /// A log with its temporary file in this folder; without one, all calls stay in memory.
    pub fn new(folder: Option<&Path>) -> CallLogWriter {
        CallLogWriter::of(Spool::new(folder))
    }

    pub(super) fn of(spool: Spool) -> CallLogWriter {
        CallLogWriter {
            spool: Arc::new(spool),
            threads: Vec::new(),
            known: HashMap::new(),
            arguments: CallArguments::default(),
        }
    }

    /// The number of a thread; equal ones are one.
    pub fn thread(&mut self, thread: CallThread) -> ThreadNo {
        let next = ThreadNo(self.threads.len() as u32);
        *self.known.entry(thread).or_insert_with_key(|thread| {
            self.threads
                .push(ThreadLog::new(thread.clone(), &self.spool));
            next
        })
    }

    /// A call of a function begins.
    #[inline]
    pub fn begin(
        &mut self,
        thread: ThreadNo,
        function: FunctionNo,
        time: Nanoseconds,
    ) -> Result<(), SpoolError> {
        self.threads[thread.get()].begin(function, time)
    }

    /// The call of a function ends; without one, the innermost call.
    #[inline]
    pub fn end(&mut self, thread: ThreadNo, function: Option<FunctionNo>, time: Nanoseconds) {
        self.threads[thread.get()].end(function, time);
    }

    /// What the calls were called with, for who begins calls with numbers of these.
    pub fn set_arguments(&mut self, arguments: CallArguments) {
        self.arguments = arguments;
    }

    /// Events of a thread were lost here.
    pub fn lost(&mut self, thread: ThreadNo, lost: Lost) {
        self.threads[thread.get()].lost(lost);
    }

    /// The logs of all threads by their numbers, for who writes them side by side.
    pub fn thread_logs(&mut self) -> &mut [ThreadLog] {
        &mut self.threads
    }

    /// The log, and whole sentences about what was not as it should be.
    pub fn finish(self) -> Result<(CallLog, Vec<String>), SpoolError> {
        let written = self.threads.into_par_iter().map(ThreadLog::finish);
        let threads = written.collect::<Result<Vec<_>, _>>()?;
        let mut irregular = Irregular::default();
        threads
            .iter()
            .for_each(|thread| irregular.add(&thread.irregular));
        let mut warnings = irregular.warnings();
        let arguments = threads.iter().map(|thread| &thread.arguments);
        warnings.extend(CallArguments::warning(arguments.chain([&self.arguments])));
        let log = CallLog::new(self.spool, threads, self.arguments, irregular.lost);
        Ok((log, warnings))
    }
}
