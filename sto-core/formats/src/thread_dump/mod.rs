//! Thread dumps: the stacks of all threads of a program at one moment. Each thread in a dump is one
//! sample; a text may contain several dumps.

pub(super) mod go;
pub(super) mod java;

use crate::labels::{LabelledThreads, RawLabel, RawValue, ThreadName};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx};
use std::borrow::Cow;
use sto_model::units::{Cost, Unit};

/// A thread in a dump.
struct Thread<'b> {
    name: ThreadName<'b>,
    state: &'b [u8],
    /// Leaf first.
    frames: Vec<LocationIx>,
}

/// Builds a recording of dumps.
#[derive(Default)]
struct Dumps {
    builder: RecordingBuilder,
    threads: LabelledThreads,
}

impl Dumps {
    fn add(&mut self, mut thread: Thread<'_>) -> Built<()> {
        let Thread { name, state, .. } = thread;
        let label = (!state.is_empty()).then(|| {
            self.threads.label(RawLabel {
                key: b"state",
                value: RawValue::Text(Cow::Borrowed(state)),
            })
        });
        let labels = label.into_iter().collect();
        let of = self.threads.thread(name, labels, &mut self.builder);
        thread.frames.reverse();
        let stack = self.builder.stack(&thread.frames)?;
        self.builder
            .add_cost(of, SampleTypeIx(0), stack, Cost::from_count(1))
    }

    fn finish(mut self) -> RecordingBuilder {
        self.threads.finish(&mut self.builder);
        self.builder.sample_type("samples", Unit::Samples);
        self.builder
    }
}
