//! The processes and threads that attributes name, and what else they tell of samples.

use super::attributes::{Told, Value, Whose};
use crate::formats::excerpts;
use crate::formats::labels::{LabelIx, LabelSetIx, LabelSets, RawLabel};
use crate::recording::{ModuleIx, ModuleKind, ProcessIx, RecordingBuilder, ThreadIx};
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// The threads of all profiles.
#[derive(Default)]
pub(super) struct Threads<'b> {
    /// By process, thread id, name and labels.
    thread_of: HashMap<(ProcessIx, u32, &'b [u8], LabelSetIx), ThreadIx>,
    /// By process id and program.
    process_of: HashMap<(u32, &'b [u8]), ProcessIx>,
    /// By thread.
    label_sets: Vec<LabelSetIx>,
    /// Attributes that tell something else.
    others: HashMap<(&'b [u8], Value<'b>), LabelIx>,
    sets: LabelSets<'b>,
    /// Keys of those whose values are lists or maps.
    not_kept: BTreeSet<&'b [u8]>,
}

impl<'b> Threads<'b> {
    /// The thread of a sample, by what its profile tells and by its own attributes.
    pub(super) fn of(
        &mut self,
        mut whose: Whose<'b>,
        attributes: Vec<Told<'b>>,
        builder: &mut RecordingBuilder,
    ) -> ThreadIx {
        let mut labels = Vec::new();
        for told in attributes {
            whose.tell(told);
            if let Told::Other(key, value) = told {
                labels.extend(self.label(key, value));
            }
        }
        let labels = self.sets.set(&mut labels);
        let (pid, program) = (whose.pid, whose.program());
        let process = *self
            .process_of
            .entry((pid, program))
            .or_insert_with(|| builder.process(pid, &String::from_utf8_lossy(program)));
        let thread = self
            .thread_of
            .entry((process, whose.tid, whose.thread, labels));
        *thread.or_insert_with(|| {
            self.label_sets.push(labels);
            builder.new_thread(process, whose.tid, &String::from_utf8_lossy(whose.thread))
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

    /// Gives the threads their labels, and the processes their main modules: the first file that has the
    /// program's name.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        let mut first = HashMap::new();
        for (module, ix) in builder.modules.iter().zip(0..) {
            if module.kind == ModuleKind::File {
                first.entry(module.name()).or_insert(ModuleIx(ix));
            }
        }
        for process in &mut builder.processes {
            process.main_module = first.get(&*process.program).copied();
        }
        drop(first);
        builder
            .warnings
            .extend(excerpts(&self.not_kept).map(|keys| {
                format!("Attributes of samples that are lists or maps are not kept: {keys}.")
            }));
        self.sets.finish(&self.label_sets, builder);
    }
}
