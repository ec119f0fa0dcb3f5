//! Processes and threads as viewers name them.

use crate::formats::named::NamedStacks;
use crate::formats::wire::json::{Id, Text};
use crate::limits::{MAX_PROCESS_NAME, cut};
use crate::recording::{Process, ProcessIx, Thread, ThreadIx};
use hashbrown::HashMap;
use std::sync::Arc;

/// Processes and threads, each in the order in which it came first.
#[derive(Default)]
pub(in crate::formats) struct Threads {
    process_of: HashMap<(Id, String), ProcessIx>,
    pub(in crate::formats) processes: Vec<Process>,
    pub(in crate::formats) threads: Vec<Thread>,
}

impl Threads {
    /// Adds a thread, and its process if that is new.
    pub(in crate::formats) fn add(
        &mut self,
        (pid, program): (&Id, &Text<'_>),
        (tid, name): (&Id, &Text<'_>),
        named: &mut NamedStacks,
    ) -> ThreadIx {
        let mut text = |text: &Text<'_>| {
            let mut text = named.text(&text.0).into_owned();
            cut(&mut text, MAX_PROCESS_NAME);
            text
        };
        let (program, name) = (text(program), text(name));
        let processes = &mut self.processes;
        let key = (pid.clone(), program);
        let process = *self
            .process_of
            .entry(key)
            .or_insert_with_key(|(pid, program)| {
                processes.push(Process {
                    pid: pid.number(),
                    program: program.clone(),
                    main_module: None,
                });
                ProcessIx(processes.len() as u32 - 1)
            });
        self.threads.push(Thread {
            tid: tid.number(),
            name,
            process,
            labels: Arc::default(),
        });
        ThreadIx(self.threads.len() as u32 - 1)
    }
}
