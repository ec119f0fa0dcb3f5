//! The threads and processes that samples were taken in.

use super::pools::Pools;
use super::values::{Identity, Value};
use crate::formats::error::DecodeError;
use crate::limits::{MAX_PROCESS_NAME, cut};
use crate::recording::{Process, ProcessIx, Thread, ThreadIx};
use hashbrown::HashMap;
use std::sync::Arc;

/// The threads of a recording.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) processes: Vec<Process>,
    pub(super) threads: Vec<Thread>,
    known: HashMap<(ProcessIx, u32, String), ThreadIx>,
    /// The process of the current chunk.
    process: usize,
    /// The threads of the current chunk.
    of_chunk: HashMap<Identity, ThreadIx>,
}

impl Threads {
    /// Begins with a chunk of a process.
    pub(super) fn begin(&mut self, pid: u32, program: &str) {
        self.of_chunk.clear();
        let is_same = |process: &Process| process.pid == pid && process.program == program;
        let known = self.processes.iter().position(is_same);
        self.process = known.unwrap_or_else(|| {
            self.processes.push(Process {
                pid,
                program: program.to_owned(),
                main_module: None,
            });
            self.processes.len() - 1
        });
    }

    /// The thread that a value refers to.
    pub(super) fn read<'b>(
        &mut self,
        thread: Value<'b>,
        pools: &Pools<'_, 'b>,
    ) -> Result<ThreadIx, DecodeError> {
        let identity = thread.identity();
        if let Some(&known) = self.of_chunk.get(&identity) {
            return Ok(known);
        }
        let [tid, java_name, system_name] =
            pools.fields(thread, ["osThreadId", "javaName", "osName"])?;
        let mut name = pools.text(java_name)?;
        if name.is_empty() {
            name = pools.text(system_name)?;
        }
        let mut name = String::from_utf8_lossy(&name).into_owned();
        cut(&mut name, MAX_PROCESS_NAME);
        let tid = u32::try_from(tid.number()).unwrap_or(0);
        let process = ProcessIx(self.process as u32);
        let threads = &mut self.threads;
        let thread = *self
            .known
            .entry((process, tid, name))
            .or_insert_with_key(|(_, _, name)| {
                threads.push(Thread {
                    tid,
                    name: name.clone(),
                    process,
                    labels: Arc::default(),
                });
                ThreadIx(threads.len() as u32 - 1)
            });
        self.of_chunk.insert(identity, thread);
        Ok(thread)
    }
}
