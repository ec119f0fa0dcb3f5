//! Labels of samples, and the limit to their distinct sets.

use crate::recording::{RecordingBuilder, ThreadIx, text_prefix};
use crate::wire::text::excerpts;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use sto_model::index_types;
use sto_model::limits::{LABEL_OVERHEAD, MAX_LABEL_SETS_SIZE, MAX_NAME};
use sto_model::{LabelValue, SampleLabel};

pub(super) struct RawLabel<'b> {
    pub(super) key: &'b [u8],
    pub(super) value: RawValue<'b>,
}

pub(super) enum RawValue<'b> {
    Text(Cow<'b, [u8]>),
    Number { number: i64, unit: &'b [u8] },
}

index_types! {
    pub(super) LabelIx;
    LabelSetIx;
    TextIx;
}

/// The threads of samples, one per set of labels of a thread. Each text is stored once; otherwise a
/// small file could need any amount of memory.
#[derive(Default)]
pub(super) struct LabelledThreads {
    texts: Texts,
    labels: Vec<Label>,
    label_of: HashMap<Label, LabelIx>,
    sets: HashMap<Vec<LabelIx>, LabelSetIx>,
    threads: HashMap<([u32; 2], [TextIx; 2], LabelSetIx), ThreadIx>,
    /// The label set of each thread.
    set_of: Vec<LabelSetIx>,
}

#[derive(Default)]
struct Texts {
    texts: Vec<Arc<[u8]>>,
    ix_of: HashMap<Arc<[u8]>, TextIx>,
}

impl Texts {
    fn ix(&mut self, text: &[u8]) -> TextIx {
        if let Some(&known) = self.ix_of.get(text) {
            return known;
        }
        let (ix, text) = (TextIx(self.texts.len() as u32), Arc::from(text));
        self.texts.push(Arc::clone(&text));
        self.ix_of.insert(text, ix);
        ix
    }

    fn get(&self, ix: TextIx) -> &[u8] {
        &self.texts[ix.get()]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Label {
    key: TextIx,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Text(TextIx),
    Number { number: i64, unit: TextIx },
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct ThreadName<'b> {
    pub(super) pid: u32,
    pub(super) program: &'b [u8],
    pub(super) tid: u32,
    pub(super) name: &'b [u8],
}

impl LabelledThreads {
    pub(super) fn label(&mut self, label: RawLabel<'_>) -> LabelIx {
        let texts = &mut self.texts;
        let label = Label {
            key: texts.ix(label.key),
            value: match label.value {
                RawValue::Text(text) => Value::Text(texts.ix(&text)),
                RawValue::Number { number, unit } => Value::Number {
                    number,
                    unit: texts.ix(unit),
                },
            },
        };
        *self.label_of.entry(label).or_insert_with(|| {
            self.labels.push(label);
            LabelIx(self.labels.len() as u32 - 1)
        })
    }

    /// The thread for samples with these labels.
    pub(super) fn thread(
        &mut self,
        name: ThreadName<'_>,
        mut labels: Vec<LabelIx>,
        builder: &mut RecordingBuilder,
    ) -> ThreadIx {
        labels.sort_unstable();
        labels.dedup();
        let next = LabelSetIx(self.sets.len() as u32);
        let set = *self.sets.entry_ref(labels.as_slice()).or_insert(next);
        let texts = [name.program, name.name].map(|text| self.texts.ix(text_prefix(text)));
        let key = ([name.pid, name.tid], texts, set);
        *self.threads.entry(key).or_insert_with(|| {
            self.set_of.push(set);
            let process = builder.process(name.pid, &String::from_utf8_lossy(name.program));
            builder.new_thread(process, name.tid, &String::from_utf8_lossy(name.name))
        })
    }

    /// Assigns the labels to threads. If there are more than [`MAX_LABEL_SETS_SIZE`] sets, the labels of
    /// some keys are left out, with a warning.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        let left_out = self.left_out();
        let labels = self.labels.iter();
        let mut text = |ix: TextIx| builder.text(self.texts.get(ix)).into_owned();
        let labels: Vec<Option<SampleLabel>> = labels
            .map(|label| {
                (!left_out.contains(self.texts.get(label.key))).then(|| SampleLabel {
                    key: text(label.key),
                    value: match label.value {
                        Value::Text(value) => LabelValue::Text(text(value)),
                        Value::Number { number, unit } => LabelValue::Number {
                            number,
                            unit: text(unit),
                        },
                    },
                })
            })
            .collect();
        let mut sets: Vec<Arc<[SampleLabel]>> = vec![Arc::default(); self.sets.len()];
        for (set, ix) in &self.sets {
            let own = set.iter().filter_map(|label| labels[label.get()].clone());
            let mut own: Vec<SampleLabel> = own.collect();
            own.sort_unstable();
            // Texts that were cut may have become equal.
            own.dedup();
            sets[ix.get()] = own.into();
        }
        for (thread, set) in builder.threads.iter_mut().zip(&self.set_of) {
            thread.labels = sets[set.get()].clone();
        }
        builder
            .warnings
            .extend(excerpts(&left_out).map(|keys| {
                format!("Labels with too many distinct values were left out: {keys}.")
            }));
    }

    /// The keys to leave out until the limit is met: those with most values first, then by name.
    fn left_out(&self) -> BTreeSet<&[u8]> {
        let cost = |label: &LabelIx| self.cost(self.labels[label.get()]);
        if self.sets.keys().flatten().map(cost).sum::<usize>() <= MAX_LABEL_SETS_SIZE {
            return BTreeSet::new();
        }
        let mut values: HashMap<TextIx, usize> = HashMap::new();
        for label in &self.labels {
            *values.entry(label.key).or_default() += 1;
        }
        let mut keys: Vec<(Reverse<usize>, &[u8], TextIx)> = values
            .iter()
            .map(|(&key, &count)| (Reverse(count), self.texts.get(key), key))
            .collect();
        keys.sort_unstable();
        for (rank, &(_, _, key)) in keys.iter().enumerate() {
            values.insert(key, rank);
        }
        let ranks: Vec<usize> = self.labels.iter().map(|label| values[&label.key]).collect();
        let is_too_much = |without: &usize| {
            let is_kept = |label: &&LabelIx| ranks[label.get()] >= *without;
            let sets = self.sets.keys();
            let sets: HashSet<Vec<&LabelIx>> = sets
                .map(|set| set.iter().filter(is_kept).collect())
                .collect();
            sets.into_iter().flatten().map(cost).sum::<usize>() > MAX_LABEL_SETS_SIZE
        };
        let counts: Vec<usize> = (0..=keys.len()).collect();
        let without = counts.partition_point(is_too_much);
        let left_out = keys.into_iter().take(without);
        left_out.map(|(_, key, _)| key).collect()
    }

    /// The share of a label in [`MAX_LABEL_SETS_SIZE`].
    fn cost(&self, label: Label) -> usize {
        let (Value::Text(text) | Value::Number { unit: text, .. }) = label.value;
        let length = |text: TextIx| self.texts.get(text).len().min(MAX_NAME);
        LABEL_OVERHEAD + length(label.key) + length(text)
    }
}
