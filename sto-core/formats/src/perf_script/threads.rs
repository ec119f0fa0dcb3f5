//! Threads and processes, as named by the first lines of samples.

use super::header::Header;
use crate::recording::{RecordingBuilder, ThreadIx, process_name};
use hashbrown::HashMap;

pub(super) const WITHOUT_PIDS: &str = "Samples name threads but not their processes, so each thread counts as a program of \
    its own; print them with `perf script -F +pid`.";

#[derive(Default)]
pub(super) struct Threads {
    /// Threads by process and thread id.
    known: HashMap<(u32, u32), ThreadIx>,
    any_without_pid: bool,
}

impl Threads {
    /// The thread of a sample. If a thread changes its name, for example by starting another
    /// program, it gets the last one.
    pub(super) fn insert(
        &mut self,
        header: &Header<'_>,
        builder: &mut RecordingBuilder,
    ) -> ThreadIx {
        self.any_without_pid |= header.pid.is_none();
        let thread = self.thread(header.pid.unwrap_or(header.tid), header.tid, builder);
        let name = &mut builder.threads[thread.get()].name;
        if name.as_bytes() != header.comm {
            *name = process_name(header.comm);
        }
        thread
    }

    fn thread(&mut self, pid: u32, tid: u32, builder: &mut RecordingBuilder) -> ThreadIx {
        *self.known.entry((pid, tid)).or_insert_with(|| {
            let process = builder.process(pid, "");
            builder.new_thread(process, tid, "")
        })
    }

    /// Adds the threads of a builder that read a later part of the text. Returns their new indices.
    pub(super) fn append(
        &mut self,
        later: &Threads,
        from: &RecordingBuilder,
        builder: &mut RecordingBuilder,
    ) -> Vec<ThreadIx> {
        self.any_without_pid |= later.any_without_pid;
        let threads = from.threads.iter().map(|thread| {
            let pid = from.processes[thread.process.get()].pid;
            let here = self.thread(pid, thread.tid, builder);
            builder.threads[here.get()].name.clone_from(&thread.name);
            here
        });
        threads.collect()
    }

    /// Names each process after its main thread, or after its first thread in the text.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        for thread in builder.threads.iter().rev() {
            let process = &mut builder.processes[thread.process.get()];
            let main = self.known.get(&(process.pid, process.pid));
            let named_after = main.map_or(thread, |main| &builder.threads[main.get()]);
            process.program.clone_from(&named_after.name);
        }
        if self.any_without_pid && builder.threads.len() > 1 {
            builder.warnings.push(WITHOUT_PIDS.to_owned());
        }
    }
}
