//! Processes and threads from attributes, and other labels.

use super::attributes::{Attribute, SampleOwner, Value};
use crate::labels::{LabelIx, LabelledThreads, RawLabel, ThreadName};
use crate::recording::{ModuleIx, ModuleKind, RecordingBuilder, ThreadIx};
use crate::wire::text::excerpts;
use hashbrown::HashMap;
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Threads {
    threads: LabelledThreads,
    /// Keys of attributes whose values are lists or maps.
    not_kept: BTreeSet<Vec<u8>>,
}

impl Threads {
    /// The thread of a sample, from the attributes of its profile and its own.
    pub(super) fn thread<'b>(
        &mut self,
        mut owner: SampleOwner<'b>,
        attributes: Vec<Attribute<'b>>,
        builder: &mut RecordingBuilder,
    ) -> ThreadIx {
        let mut labels = Vec::new();
        for attribute in attributes {
            owner.set(attribute);
            if let Attribute::Other(key, value) = attribute {
                labels.extend(self.label(key, value));
            }
        }
        let thread = ThreadName {
            program: owner.program(),
            ..owner.thread
        };
        self.threads.thread(thread, labels, builder)
    }

    fn label(&mut self, key: &[u8], value: Value<'_>) -> Option<LabelIx> {
        let Some(value) = value.into_label_value() else {
            self.not_kept.insert(key.to_vec());
            return None;
        };
        Some(self.threads.label(RawLabel { key, value }))
    }

    /// Assigns the labels to threads, and to processes their main modules: the first file with the
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
        let not_kept = self.not_kept.iter().map(Vec::as_slice).collect();
        builder.warnings.extend(excerpts(&not_kept).map(|keys| {
            format!("Attributes of samples that are lists or maps were left out: {keys}.")
        }));
        self.threads.finish(builder);
    }
}
