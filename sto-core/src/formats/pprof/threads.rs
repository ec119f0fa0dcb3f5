//! What labels say of samples: their thread, their process, their time, and whatever else they tell.

use super::schema::{Label, Profile, Text};
use crate::formats::error::DecodeError;
use crate::formats::labels::{LabelIx, LabelSetIx, LabelSets, RawLabel, RawValue};
use crate::formats::wire::protobuf::Message;
use crate::formats::wire::text;
use crate::recording::{Process, RecordingBuilder, ThreadIx, beginning};
use crate::units::Nanoseconds;
use hashbrown::HashMap;

/// The threads that samples are labelled with; without labels there is one.
pub(super) struct Threads<'r, 'b> {
    profile: &'r Profile<'b>,
    meanings: HashMap<u64, Meaning>,
    /// Labels that tell none of these, by what refers to their texts, and by their number.
    others: HashMap<[u64; 4], LabelIx>,
    sets: LabelSets<'b>,
    known: HashMap<(u32, u32, &'b [u8], LabelSetIx), ThreadIx>,
    /// By thread.
    label_sets: Vec<LabelSetIx>,
    /// The process that each pid is.
    main: Process,
}

/// What the label of a key tells.
#[derive(Clone, Copy)]
enum Meaning {
    ThreadId,
    ThreadName,
    ProcessId,
    Time,
    /// That the sample belongs to what others are to be compared with.
    Base,
    Other,
}

/// What the labels of a sample tell.
pub(super) struct Labelled {
    pub(super) thread: ThreadIx,
    pub(super) time: Option<Nanoseconds>,
}

impl<'r, 'b> Threads<'r, 'b> {
    /// `main` is what is known of the process, but for its id.
    pub(super) fn new(profile: &'r Profile<'b>, main: Process) -> Self {
        Threads {
            profile,
            meanings: HashMap::new(),
            others: HashMap::new(),
            sets: LabelSets::default(),
            known: HashMap::new(),
            label_sets: Vec::new(),
            main,
        }
    }

    /// Reads the labels of a sample.
    pub(super) fn read(
        &mut self,
        labels: &[Message<'b>],
        builder: &mut RecordingBuilder,
    ) -> Result<Labelled, DecodeError> {
        let (mut pid, mut tid, mut name) = (0, 0, &b""[..]);
        let mut time = None;
        let mut others = Vec::new();
        for &message in labels {
            let label = Label::parse(message)?;
            let text = beginning(self.profile.text(label.text)?);
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
                Meaning::ThreadId => tid = id(),
                Meaning::ThreadName if text.is_empty() => tid = id(),
                Meaning::ThreadName => name = text,
                Meaning::ProcessId => pid = id(),
                Meaning::Time => time = number().map(Nanoseconds),
                Meaning::Base => {
                    return Err(DecodeError::new(
                        message.at(),
                        "the label `pprof::base`: the profile is a difference of two \
                         (`-diff_base`); give the two that it was made of",
                    ));
                }
                // As for pprof, what has neither text nor number is no label.
                Meaning::Other if [label.text.ix, label.number, label.unit.ix] == [0; 3] => {}
                Meaning::Other => others.push(self.other(&label)?),
            }
        }
        let labels = self.sets.set(&mut others);
        Ok(Labelled {
            thread: self.thread(pid, tid, name, labels, builder),
            time,
        })
    }

    fn meaning(&mut self, key: Text) -> Result<Meaning, DecodeError> {
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

    fn other(&mut self, label: &Label) -> Result<LabelIx, DecodeError> {
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
        let ix = self.sets.label(RawLabel {
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

    fn thread(
        &mut self,
        pid: u32,
        tid: u32,
        name: &'b [u8],
        labels: LabelSetIx,
        builder: &mut RecordingBuilder,
    ) -> ThreadIx {
        *self
            .known
            .entry((pid, tid, name, labels))
            .or_insert_with(|| {
                let process = builder.process(pid, &self.main.program);
                builder.processes[process.0 as usize].main_module = self.main.main_module;
                self.label_sets.push(labels);
                builder.new_thread(process, tid, &String::from_utf8_lossy(name))
            })
    }

    /// Gives the threads their labels.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        self.sets.finish(&self.label_sets, builder);
    }
}
