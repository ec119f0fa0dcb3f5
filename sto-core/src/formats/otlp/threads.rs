//! The processes and threads that attributes name.

use super::attributes::{Told, Whose};
use crate::formats::excerpt::excerpts;
use crate::formats::named::process_name;
use crate::formats::{Module, ModuleIx, ModuleKind, Process, ProcessIx, Thread, ThreadIx};
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// The threads of all profiles.
pub(super) struct Threads<'b> {
    /// By process, thread id and name.
    thread_of: HashMap<(ProcessIx, u32, &'b [u8]), ThreadIx>,
    /// By process id and program.
    process_of: HashMap<(u32, &'b [u8]), ProcessIx>,
    /// The first module of each name.
    modules: HashMap<String, ModuleIx>,
    pub(super) processes: Vec<Process>,
    pub(super) threads: Vec<Thread>,
    /// Keys of samples' attributes that are not read.
    others: BTreeSet<&'b [u8]>,
}

impl<'b> Threads<'b> {
    pub(super) fn new(modules: &[Module]) -> Self {
        let mut first = HashMap::new();
        for (module, ix) in modules.iter().zip(0..) {
            if module.kind == ModuleKind::File {
                first
                    .entry(module.name().to_owned())
                    .or_insert(ModuleIx(ix));
            }
        }
        Threads {
            thread_of: HashMap::new(),
            process_of: HashMap::new(),
            modules: first,
            processes: Vec::new(),
            threads: Vec::new(),
            others: BTreeSet::new(),
        }
    }

    /// The thread of a sample, by what its profile tells and by its own attributes.
    pub(super) fn of(&mut self, mut whose: Whose<'b>, attributes: &[Told<'b>]) -> ThreadIx {
        for &told in attributes {
            whose.tell(told);
            if let Told::Other(key) = told {
                self.others.insert(key);
            }
        }
        let (pid, program) = (whose.pid, whose.program());
        let process = *self.process_of.entry((pid, program)).or_insert_with(|| {
            let program = process_name(program);
            self.processes.push(Process {
                pid,
                main_module: self.modules.get(&program).copied(),
                program,
            });
            ProcessIx(self.processes.len() as u32 - 1)
        });
        let thread = self.thread_of.entry((process, whose.tid, whose.thread));
        *thread.or_insert_with(|| {
            self.threads.push(Thread {
                tid: whose.tid,
                name: process_name(whose.thread),
                process,
            });
            ThreadIx(self.threads.len() as u32 - 1)
        })
    }

    /// What a user should know of attributes.
    pub(super) fn warning(&self) -> Option<String> {
        let others = excerpts(&self.others)?;
        Some(format!(
            "Attributes of samples other than thread and process are not kept: {others}."
        ))
    }
}
