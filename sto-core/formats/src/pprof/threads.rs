//! Labels of samples: thread, process, time and others.

use super::schema::{Label, Profile, Text};
use crate::error::{DecodeError, Decoded};
use crate::labels::{LabelIx, LabelledThreads, RawLabel, RawValue, ThreadName};
use crate::recording::{
    ModuleIx, ModuleKind, RecordingBuilder, ThreadIx, process_name, text_prefix,
};
use crate::wire::protobuf::Message;
use crate::wire::text;
use hashbrown::HashMap;
use sto_model::units::Nanoseconds;

/// The threads in the labels of samples; without labels there is one thread.
pub(super) struct Threads<'b> {
    profile: &'b Profile<'b>,
    meanings: HashMap<u64, Meaning>,
    /// Other labels, by their text references and number.
    others: HashMap<[u64; 4], LabelIx>,
    threads: LabelledThreads,
}

/// The meaning of a label's key.
#[derive(Clone, Copy)]
enum Meaning {
    ThreadId,
    ThreadName,
    ProcessId,
    Time,
    /// The sample belongs to the baseline of a difference.
    Base,
    Other,
}

impl<'b> Threads<'b> {
    pub(super) fn new(profile: &'b Profile<'b>) -> Self {
        Threads {
            profile,
            meanings: HashMap::new(),
            others: HashMap::new(),
            threads: LabelledThreads::default(),
        }
    }

    /// Reads the labels of a sample and returns its thread and time.
    pub(super) fn read(
        &mut self,
        labels: &[Message<'_>],
        builder: &mut RecordingBuilder,
    ) -> Decoded<(ThreadIx, Option<Nanoseconds>)> {
        let mut thread = ThreadName::default();
        let mut time = None;
        let mut others = Vec::new();
        for &message in labels {
            let label = Label::parse(message)?;
            let text = text_prefix(self.profile.text(label.text)?);
            let number = || match text {
                b"" => Some(label.number),
                digits => text::decimal(digits),
            };
            let id = || {
                number()
                    .and_then(|number| u32::try_from(number).ok())
                    .unwrap_or(0)
            };
            match self.meaning(label.key)? {
                Meaning::ThreadId => thread.tid = id(),
                Meaning::ThreadName if text.is_empty() => thread.tid = id(),
                Meaning::ThreadName => thread.name = text,
                Meaning::ProcessId => thread.pid = id(),
                Meaning::Time => time = number().map(Nanoseconds),
                Meaning::Base => {
                    return Err(DecodeError::new(
                        message.at(),
                        "the label `pprof::base`: the profile is a difference of two \
                         (`-diff_base`); use the two profiles it was made from",
                    ));
                }
                // As in pprof, a label without text and number is ignored.
                Meaning::Other if [label.text.ix, label.number, label.unit.ix] == [0; 3] => {}
                Meaning::Other => others.push(self.other(&label)?),
            }
        }
        Ok((self.threads.thread(thread, others, builder), time))
    }

    fn meaning(&mut self, key: Text) -> Decoded<Meaning> {
        if let Some(&known) = self.meanings.get(&key.ix) {
            return Ok(known);
        }
        let name = self.profile.text(key)?;
        let meaning = match name {
            b"thread_id" | b"thread id" | b"thread.id" | b"tid" | b"os thread id" => {
                Meaning::ThreadId
            }
            b"thread" | b"thread_name" | b"thread name" | b"thread.name" | b"comm" => {
                Meaning::ThreadName
            }
            b"pid" | b"process_id" | b"process id" | b"process.pid" => Meaning::ProcessId,
            b"timestamp_ns" | b"end_timestamp_ns" => Meaning::Time,
            b"pprof::base" => Meaning::Base,
            _ => Meaning::Other,
        };
        self.meanings.insert(key.ix, meaning);
        Ok(meaning)
    }

    fn other(&mut self, label: &Label) -> Decoded<LabelIx> {
        let Label {
            key,
            text,
            number,
            unit,
        } = *label;
        let id = [key.ix, text.ix, number, unit.ix];
        if let Some(&known) = self.others.get(&id) {
            return Ok(known);
        }
        let ix = self.threads.label(RawLabel {
            key: self.profile.text(key)?,
            value: match text.ix {
                0 => RawValue::Number {
                    number: number as i64,
                    unit: self.profile.text(unit)?,
                },
                _ => RawValue::Text(self.profile.text(text)?.into()),
            },
        });
        self.others.insert(id, ix);
        Ok(ix)
    }

    /// Assigns the labels to threads, and to processes their program, which is the first mapping.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        let main = builder.modules.first();
        let main = main.filter(|main| main.kind == ModuleKind::File);
        let program = main.map_or_else(String::new, |main| process_name(main.name().as_bytes()));
        for process in &mut builder.processes {
            process.program.clone_from(&program);
            process.main_module = main.map(|_| ModuleIx(0));
        }
        self.threads.finish(builder);
    }
}
