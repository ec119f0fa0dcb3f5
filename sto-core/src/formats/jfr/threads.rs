//! The threads and processes that samples were taken in.

use super::pools::Pools;
use super::values::{Identity, Value};
use crate::formats::error::DecodeError;
use crate::recording::{ProcessIx, RecordingBuilder, ThreadIx};
use hashbrown::HashMap;

/// The threads of a chunk.
pub(super) struct Threads {
    process: ProcessIx,
    known: HashMap<Identity, ThreadIx>,
}

impl Threads {
    /// Those of a chunk of a process.
    pub(super) fn of(process: ProcessIx) -> Threads {
        Threads {
            process,
            known: HashMap::new(),
        }
    }

    /// The thread that a value refers to.
    pub(super) fn read<'b>(
        &mut self,
        thread: Value<'b>,
        pools: &Pools<'_, 'b>,
        builder: &mut RecordingBuilder,
    ) -> Result<ThreadIx, DecodeError> {
        let identity = thread.identity();
        if let Some(&known) = self.known.get(&identity) {
            return Ok(known);
        }
        let [tid, java_name, system_name] =
            pools.fields(thread, ["osThreadId", "javaName", "osName"])?;
        let mut name = pools.text(java_name)?;
        if name.is_empty() {
            name = pools.text(system_name)?;
        }
        let tid = u32::try_from(tid.number()).unwrap_or(0);
        let name = String::from_utf8_lossy(&name);
        let thread = builder.known_thread(self.process, tid, &name);
        self.known.insert(identity, thread);
        Ok(thread)
    }
}
