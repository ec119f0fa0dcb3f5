//! Samples: their stacks, values, times and threads.

use super::schema::{Data, Dictionary, Profile};
use super::threads::Threads;
use crate::error::{DecodeError, Decoded};
use crate::pprof::columns::{ValueInfo, checked, columns};
use crate::pprof::frames::{Frames, Modules};
use crate::recording::{RecordingBuilder, StackIx, ThreadIx, text_prefix};
use crate::source::ReadOptions;
use crate::wire::protobuf::{Message, fields};
use hashbrown::HashMap;
use sto_model::Origin;
use sto_model::units::{Cost, Nanoseconds, SampleType, UnixSeconds};

/// The field numbers of a sample, which version 1.10 changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// 2 values, 3 attributes, 4 link.
    V1_9,
    /// 2 attributes, 3 link, 4 values.
    V1_10,
}

/// Detects the numbering: a field that is a list in one numbering is a single number in the other.
/// If no sample shows it, the numbering in which field 2 makes sense is used.
fn numbering<'b>(
    samples: impl Iterator<Item = Message<'b>>,
    attributes: usize,
) -> Decoded<Numbering> {
    let (mut seconds, mut times) = (Vec::new(), Vec::new());
    let mut could_be_attributes = true;
    for mut sample in samples {
        seconds.clear();
        times.clear();
        while let Some(field) = sample.next()? {
            let is_list = field.message().is_ok();
            match (field.number, is_list) {
                (3, true) | (4, false) => return Ok(Numbering::V1_9),
                (3, false) | (4, true) => return Ok(Numbering::V1_10),
                (2, _) => field.numbers_into(&mut seconds)?,
                (5, _) => field.fixed64_into(&mut times)?,
                _ => {}
            }
        }
        // If a sample has both values and times, their numbers are equal.
        let could_be_values = times.is_empty() || seconds.len() == times.len();
        if !could_be_values {
            return Ok(Numbering::V1_10);
        }
        could_be_attributes &=
            !times.is_empty() && seconds.iter().all(|&index| index < attributes as u64);
    }
    if could_be_attributes {
        Ok(Numbering::V1_10)
    } else {
        Ok(Numbering::V1_9)
    }
}

/// The samples of one or several exports, each with its own dictionary.
#[derive(Default)]
pub(super) struct Samples {
    builder: RecordingBuilder,
    modules: Modules,
    threads: Threads,
    about: About,
}

impl Samples {
    /// Makes the samples of a file with this length in bytes.
    pub(super) fn with_file_size(length: usize, options: &ReadOptions) -> Samples {
        Samples {
            builder: RecordingBuilder::with_file_size(length).with_summing(options.sum_samples),
            ..Samples::default()
        }
    }

    /// Adds the samples of an export. If the numbering is not known, it is detected.
    pub(super) fn add(&mut self, export: Message<'_>, known: Option<Numbering>) -> Decoded<()> {
        let Data {
            dictionary,
            profiles,
        } = Data::parse(export)?;
        let frames = Frames::new(&dictionary.tables, &mut self.modules, &mut self.builder)?;
        let samples = profiles.iter().flat_map(Profile::samples);
        let numbering = match known {
            Some(known) => known,
            None => numbering(samples, dictionary.attributes.len())?,
        };
        let mut reader = SampleReader {
            stack_of: vec![None; dictionary.stacks.len()],
            dictionary: &dictionary,
            frames: &frames,
            numbering,
            thread_of: HashMap::new(),
            all: self,
        };
        let mut is_counted = false;
        for (ix, profile) in profiles.iter().enumerate() {
            let next = profiles.get(ix + 1).filter(|next| next.follows);
            let counted = next.filter(|next| reader.counts_samples_of(profile, next));
            reader.read(profile, counted, is_counted)?;
            is_counted = counted.is_some();
        }
        Ok(())
    }

    pub(super) fn finish(self) -> RecordingBuilder {
        let mut builder = self.builder;
        builder.modules = self.modules.modules;
        self.threads.finish(&mut builder);
        builder.origin = self.about.finish(&mut builder);
        builder
    }
}

/// Reads the samples of an export, profile by profile.
struct SampleReader<'r, 'b> {
    all: &'r mut Samples,
    dictionary: &'r Dictionary<'b>,
    frames: &'r Frames,
    numbering: Numbering,
    /// Stacks by index in the dictionary.
    stack_of: Vec<Option<StackIx>>,
    /// Threads by the indices of attributes in the dictionary and by profile.
    thread_of: HashMap<Vec<u64>, ThreadIx>,
}

#[derive(Default)]
struct Fields {
    stack: u64,
    values: Vec<u64>,
    attributes: Vec<u64>,
    times: Vec<u64>,
}

impl<'b> SampleReader<'_, 'b> {
    /// Returns `true` if a profile has the numbers of samples for another one: `cpu_samples`, in
    /// `count`, for `cpu`.
    fn counts_samples_of(&self, profile: &Profile<'b>, other: &Profile<'b>) -> bool {
        let named = |profile: &Profile<'b>| self.dictionary.tables.named(&profile.sample_type);
        let (Ok((name, b"count")), Ok((other, _))) = (named(profile), named(other)) else {
            return false;
        };
        name.strip_suffix(b"_samples") == Some(other)
    }

    /// Reads the samples of a profile. Their number may come from the profile before it.
    fn read(
        &mut self,
        profile: &Profile<'b>,
        counts: Option<&Profile<'b>>,
        is_counted: bool,
    ) -> Decoded<()> {
        self.all.about.add(profile);
        let Some(first) = profile.samples().next() else {
            return Ok(());
        };
        let tables = &self.dictionary.tables;
        let of = counts.unwrap_or(profile);
        let measured = ValueInfo {
            types: vec![tables.named(&of.sample_type)?],
            default: b"",
            period: tables.period_of(&of.period_type, of.period)?,
        };
        let columns = columns(&measured, &mut self.all.builder)?;
        let column = &columns[0];
        let SampleType { event, unit } = &column.sample_type;
        let sample_type = self.all.builder.try_sample_type(event, *unit);
        let sample_type = sample_type.map_err(DecodeError::at(first.at()))?;
        self.thread_of = HashMap::new();
        let mut fields = Fields::default();
        for message in profile.samples() {
            fields.parse(message, self.numbering)?;
            let thread = self.thread(&fields.attributes, profile, message.at())?;
            let stack = self.stack(fields.stack, message.at())?;
            for (value, time) in fields.events(message.at())? {
                let cost = match counts {
                    Some(_) => Some(Cost {
                        samples: checked(value, message.at())?,
                        value: 0,
                    }),
                    None => column.cost(&[value], message.at())?,
                };
                let Some(mut cost) = cost else { continue };
                if is_counted {
                    cost.samples = 0;
                }
                let (builder, time) = (&mut self.all.builder, time.map(Nanoseconds));
                builder.push((thread, sample_type), stack, time, cost);
            }
        }
        Ok(())
    }

    fn thread(
        &mut self,
        attributes: &[u64],
        profile: &Profile<'b>,
        at: usize,
    ) -> Decoded<ThreadIx> {
        if let Some(&known) = self.thread_of.get(attributes) {
            return Ok(known);
        }
        let own = self.dictionary.attributes(attributes, at)?;
        let all = &mut *self.all;
        let thread = all.threads.thread(profile.owner, own, &mut all.builder);
        self.thread_of.insert(attributes.to_vec(), thread);
        Ok(thread)
    }

    fn stack(&mut self, ix: u64, at: usize) -> Decoded<StackIx> {
        let missing = || DecodeError::undefined_id(at, "the stack", ix);
        let index = usize::try_from(ix).map_err(|_| missing())?;
        if let Some(known) = *self.stack_of.get(index).ok_or_else(missing)? {
            return Ok(known);
        }
        let mut locations = Vec::new();
        fields!(self.dictionary.stacks[index], { 1 => locations });
        let tables = &self.dictionary.tables;
        tables.locations.indices_of(&mut locations, at)?;
        let stacks = &mut self.all.builder;
        let stack = self.frames.stack(&locations, stacks);
        let stack = stack.map_err(DecodeError::at(at))?;
        self.stack_of[index] = Some(stack);
        Ok(stack)
    }
}

impl Fields {
    fn parse(&mut self, mut message: Message<'_>, numbering: Numbering) -> Decoded<()> {
        self.stack = 0;
        self.values.clear();
        self.attributes.clear();
        self.times.clear();
        while let Some(field) = message.next()? {
            match (field.number, numbering) {
                (1, _) => self.stack = field.number()?,
                (2, Numbering::V1_9) | (4, Numbering::V1_10) => {
                    field.numbers_into(&mut self.values)?;
                }
                (3, Numbering::V1_9) | (2, Numbering::V1_10) => {
                    field.numbers_into(&mut self.attributes)?;
                }
                (5, _) => field.fixed64_into(&mut self.times)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The value and time of each event; without values, each counts 1.
    fn events(&self, at: usize) -> Decoded<impl Iterator<Item = (u64, Option<u64>)> + '_> {
        let (values, times) = (self.values.len(), self.times.len());
        let events = values.max(times);
        if events == 0 {
            let problem = "a sample without values and times; expected at least one of them";
            return Err(DecodeError::new(at, problem));
        }
        if values > 0 && times > 0 && values != times {
            let problem =
                format!("a sample of {values} values and {times} times; expected as many");
            return Err(DecodeError::new(at, problem));
        }
        Ok((0..events).map(|ix| {
            let value = self.values.get(ix).copied().unwrap_or(1);
            (value, self.times.get(ix).copied())
        }))
    }
}

/// The time, duration and machine of the exports' profiles.
#[derive(Default)]
struct About {
    /// Nanoseconds since 1970.
    start: Option<u64>,
    end: u64,
    longest: u64,
    host: Vec<u8>,
    architecture: Vec<u8>,
}

impl About {
    fn add(&mut self, profile: &Profile<'_>) {
        let &Profile { time, duration, .. } = profile;
        // 0 means unset.
        if time > 0 {
            self.start = Some(self.start.map_or(time, |start| start.min(time)));
            self.end = self.end.max(time.saturating_add(duration));
        }
        self.longest = self.longest.max(duration);
        for (known, found) in [
            (&mut self.host, profile.owner.host),
            (&mut self.architecture, profile.owner.architecture),
        ] {
            if known.is_empty() {
                *known = text_prefix(found).to_vec();
            }
        }
    }

    fn finish(self, texts: &mut RecordingBuilder) -> Origin {
        let spanned = self.start.map_or(0, |start| self.end - start);
        let duration = self.longest.max(spanned);
        let mut text = |name: &[u8]| (!name.is_empty()).then(|| texts.text(name).into_owned());
        Origin {
            recorded: self.start.map(|time| UnixSeconds(time / 1_000_000_000)),
            duration: (duration > 0).then_some(Nanoseconds(duration)),
            host: text(&self.host),
            arch: text(&self.architecture),
            ..Origin::default()
        }
    }
}
