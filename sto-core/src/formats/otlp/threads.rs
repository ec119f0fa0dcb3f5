//! The processes and threads that attributes name.

use super::attributes::{Told, Whose};
use crate::formats::{Module, ModuleIx, ModuleKind, Process, ProcessIx, Thread, ThreadIx, excerpt};
use crate::limits::{MAX_PROCESS_NAME, cut};
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// The threads of all profiles.
pub(super) struct Threads<'b> {
    /// By process id, program, thread id and name.
    known: HashMap<(u32, &'b [u8], u32, &'b [u8]), ThreadIx>,
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
            known: HashMap::new(),
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
        let names = (pid, program, whose.tid, whose.thread);
        *self.known.entry(names).or_insert_with(|| {
            let process = self.process_of.entry((pid, program));
            let process = *process.or_insert_with(|| {
                let program = shown(program);
                self.processes.push(Process {
                    pid,
                    main_module: self.modules.get(&program).copied(),
                    program,
                });
                ProcessIx(self.processes.len() as u32 - 1)
            });
            self.threads.push(Thread {
                tid: whose.tid,
                name: shown(whose.thread),
                process,
            });
            ThreadIx(self.threads.len() as u32 - 1)
        })
    }

    /// What a user should know of attributes.
    pub(super) fn warning(&self) -> Option<String> {
        const NAMED: usize = 5;
        let named = self.others.iter().take(NAMED);
        let named: Vec<String> = named.map(|key| excerpt(key)).collect();
        let more = match self.others.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!named.is_empty()).then(|| {
            format!(
                "Attributes of samples other than thread and process are not kept: {}{more}.",
                named.join(", ")
            )
        })
    }
}

fn shown(name: &[u8]) -> String {
    let kept = &name[..name.len().min(MAX_PROCESS_NAME + 1)];
    let mut shown = String::from_utf8_lossy(kept).into_owned();
    cut(&mut shown, MAX_PROCESS_NAME);
    shown
}
