//! The processes and threads that attributes name, and what else they tell of samples.

use super::attributes::{Told, Value, Whose};
use crate::formats::excerpts;
use crate::formats::labels::{LabelIx, LabelSetIx, LabelSets, RawLabel};
use crate::formats::named::{NamedStacks, process_name};
use crate::recording::{Module, ModuleIx, ModuleKind, Process, ProcessIx, Thread, ThreadIx};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The threads of all profiles.
#[derive(Default)]
pub(super) struct Threads<'b> {
    /// By process, thread id, name and labels.
    thread_of: HashMap<(ProcessIx, u32, &'b [u8], LabelSetIx), ThreadIx>,
    /// By process id and program.
    process_of: HashMap<(u32, &'b [u8]), ProcessIx>,
    processes: Vec<Process>,
    threads: Vec<(Thread, LabelSetIx)>,
    /// Attributes that tell something else.
    others: HashMap<(&'b [u8], Value<'b>), LabelIx>,
    sets: LabelSets<'b>,
    /// Keys of those whose values are lists or maps.
    not_kept: BTreeSet<&'b [u8]>,
}

impl<'b> Threads<'b> {
    /// The thread of a sample, by what its profile tells and by its own attributes.
    pub(super) fn of(&mut self, mut whose: Whose<'b>, attributes: Vec<Told<'b>>) -> ThreadIx {
        let mut labels = Vec::new();
        for told in attributes {
            whose.tell(told);
            if let Told::Other(key, value) = told {
                labels.extend(self.label(key, value));
            }
        }
        let labels = self.sets.set(&mut labels);
        let (pid, program) = (whose.pid, whose.program());
        let process = *self.process_of.entry((pid, program)).or_insert_with(|| {
            self.processes.push(Process {
                pid,
                main_module: None,
                program: process_name(program),
            });
            ProcessIx(self.processes.len() as u32 - 1)
        });
        let thread = self
            .thread_of
            .entry((process, whose.tid, whose.thread, labels));
        *thread.or_insert_with(|| {
            let own = Thread {
                tid: whose.tid,
                name: process_name(whose.thread),
                process,
                labels: Arc::default(),
            };
            self.threads.push((own, labels));
            ThreadIx(self.threads.len() as u32 - 1)
        })
    }

    fn label(&mut self, key: &'b [u8], value: Value<'b>) -> Option<LabelIx> {
        if let Some(&known) = self.others.get(&(key, value)) {
            return Some(known);
        }
        let Some(raw) = value.of_label() else {
            self.not_kept.insert(key);
            return None;
        };
        let label = self.sets.label(RawLabel { key, value: raw });
        self.others.insert((key, value), label);
        Some(label)
    }

    /// The processes, the threads, and what a user should know of attributes. The main module of a
    /// process is the first file that has the program's name.
    pub(super) fn finish(
        mut self,
        modules: &[Module],
        texts: &mut NamedStacks,
    ) -> (Vec<Process>, Vec<Thread>, Vec<String>) {
        let mut first = HashMap::new();
        for (module, ix) in modules.iter().zip(0..) {
            if module.kind == ModuleKind::File {
                first.entry(module.name()).or_insert(ModuleIx(ix));
            }
        }
        for process in &mut self.processes {
            process.main_module = first.get(&*process.program).copied();
        }
        let (threads, left_out) = self.sets.finish(self.threads, texts);
        let not_kept = excerpts(&self.not_kept);
        let not_kept = not_kept.map(|keys| {
            format!("Attributes of samples that are lists or maps are not kept: {keys}.")
        });
        let warnings = not_kept.into_iter().chain(left_out).collect();
        (self.processes, threads, warnings)
    }
}
