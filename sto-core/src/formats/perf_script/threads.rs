//! Threads and processes, as the first lines of samples name them.

use super::header::Header;
use crate::recording::{ProcessIx, RecordingBuilder, Thread, ThreadIx, process_name};
use hashbrown::HashMap;
use std::sync::Arc;

/// The threads that were met.
#[derive(Default)]
pub(super) struct Threads {
    threads: Vec<Thread>,
    pids: Vec<u32>,
    process_of: HashMap<u32, ProcessIx>,
    thread_of: HashMap<(ProcessIx, u32), ThreadIx>,
    any_without_pid: bool,
}

impl Threads {
    /// The thread of a sample. A thread that changes its name, as one does that starts another
    /// program, keeps the last one.
    pub(super) fn insert(&mut self, header: &Header<'_>) -> ThreadIx {
        self.any_without_pid |= header.pid.is_none();
        let thread = self.place(header.pid.unwrap_or(header.tid), header.tid);
        let name = &mut self.threads[thread.0 as usize].name;
        if name.as_bytes() != header.comm {
            *name = process_name(header.comm);
        }
        thread
    }

    fn place(&mut self, pid: u32, tid: u32) -> ThreadIx {
        let process = *self.process_of.entry(pid).or_insert_with(|| {
            self.pids.push(pid);
            ProcessIx(self.pids.len() as u32 - 1)
        });
        *self.thread_of.entry((process, tid)).or_insert_with(|| {
            self.threads.push(Thread {
                tid,
                name: String::new(),
                process,
                labels: Arc::default(),
            });
            ThreadIx(self.threads.len() as u32 - 1)
        })
    }

    /// Adds threads that were met later; returns their places here.
    pub(super) fn append(&mut self, behind: Threads) -> Vec<ThreadIx> {
        self.any_without_pid |= behind.any_without_pid;
        let pids = behind.pids;
        let threads = behind.threads.into_iter().map(|thread| {
            let place = self.place(pids[thread.process.0 as usize], thread.tid);
            self.threads[place.0 as usize].name = thread.name;
            place
        });
        threads.collect()
    }

    /// Adds the processes, named after their main thread, or after the first one that was met, and the threads.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        let mut programs: Vec<&str> = vec![""; self.pids.len()];
        for thread in self.threads.iter().rev() {
            let process = thread.process;
            let main = self
                .thread_of
                .get(&(process, self.pids[process.0 as usize]));
            let named_after = main.map_or(thread, |main| &self.threads[main.0 as usize]);
            programs[process.0 as usize] = &named_after.name;
        }
        for (&pid, program) in self.pids.iter().zip(programs) {
            builder.process(pid, program);
        }
        if self.any_without_pid && self.threads.len() > 1 {
            builder.warnings.push(
                "Samples name threads but not their processes, so each thread counts as a program of \
                 its own; print them with `perf script -F +pid`."
                    .to_owned(),
            );
        }
        builder.threads = self.threads;
    }
}
