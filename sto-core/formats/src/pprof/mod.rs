//! pprof profiles, written by Go, gperftools, Parca, Pyroscope, py-spy and many others.
//!
//! ```text
//! bytes            protobuf     fields of messages, in place
//!   |              schema       tables of strings, mappings, locations, functions
//!   v
//! values           columns      sample types and costs
//! locations        frames       named frames, inlined ones, addresses; dropped frames removed
//! labels           threads      threads, processes, times, other labels
//! ```
//!
//! Source: `proto/profile.proto` and `proto/README.md` of <https://github.com/google/pprof>.
//!
//! See [the manual](crate::manual::pprof).

pub(super) mod columns;
mod dropped;
pub(super) mod frames;
pub(super) mod schema;
mod threads;

pub(super) use frames::build_id;

use crate::error::{DecodeError, Decoded, FormatError};
use crate::recording::{Format, Recording, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::source::{Head, ReadOptions};
use crate::wire::cutter::each_field;
use crate::wire::protobuf::{Field, Message, fields};
use columns::{Column, ValueInfo, columns};
use frames::{Frames, Modules};
use hashbrown::HashMap;
use schema::Profile;
use std::ops::Range;
use std::path::Path;
use sto_model::Origin;
use sto_model::files::ReadAt;
use sto_model::id::RecordingHasher;
use sto_model::limits::{MAX_NAME, truncate_text};
use sto_model::units::{Bytes, Nanoseconds, UnixSeconds};
use threads::Threads;

/// Returns `true` if a file begins with fields of a profile, up to a sample type. Writers put few
/// fields, if any, before the sample types.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let mut profile = Message::from_file(head.bytes);
    while let Ok(Some(field)) = profile.next() {
        // Some writers put an empty sample type first.
        if field.number == 1 && field.message().is_ok_and(|of| of.bytes().is_empty()) {
            continue;
        }
        let fits = match field.number {
            1 | 11 => field.message().is_ok_and(is_value_type),
            2..=6 => field.message().is_ok(),
            7..=10 | 12 | 14..=15 => field.number().is_ok(),
            13 => true,
            _ => false,
        };
        if !fits || field.number == 1 {
            return fits;
        }
    }
    false
}

fn is_value_type(mut message: Message<'_>) -> bool {
    let mut fields = 0;
    while let Ok(Some(field)) = message.next() {
        if !matches!(field.number, 1 | 2) || field.number().is_err() {
            return false;
        }
        fields += 1;
    }
    // The end is reached without invalid bytes.
    fields > 0 && message.bytes().is_empty()
}

/// Reads a profile in two passes, because the tables that samples refer to come after them.
pub(super) fn read(
    path: &Path,
    file: &dyn ReadAt,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    let size = file.size() as usize;
    let in_file = |error: DecodeError| error.in_file(path, size);
    let mut digest = RecordingHasher::new();
    let mut tables = Tables::default();
    let on_piece = |piece: &[u8]| {
        digest.update(piece);
        let read = options.on_read.call(piece.len() as u64);
        read.map_err(FormatError::Cancelled)
    };
    each_field(path, file, on_piece, |field| {
        tables.add(field);
        Ok(())
    })?;
    let profile = Profile::parse(tables.parts(), size).map_err(in_file)?;
    let mut reader = SampleReader::new(&profile, size, options).map_err(in_file)?;
    each_field(
        path,
        file,
        |_| Ok(()),
        |mut field| match field.next()?.filter(is_sample) {
            Some(sample) => reader.read(sample.message()?),
            None => Ok(()),
        },
    )?;
    let builder = reader.finish().map_err(in_file)?;
    Ok(builder.finish(Format::Pprof, digest.finish(), Bytes(size as u64)))
}

fn is_sample(field: &Field<'_>) -> bool {
    field.number == 2
}

/// The parts of a file other than samples.
#[derive(Default)]
struct Tables {
    bytes: Vec<u8>,
    /// Offsets of the parts in the file, and their ranges in `bytes`.
    parts: Vec<(usize, Range<usize>)>,
}

impl Tables {
    fn add(&mut self, field: Message<'_>) {
        if matches!(field.partial_message(), Some((2, _))) {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(field.bytes());
        let end = self.bytes.len();
        match self.parts.last_mut() {
            Some((at, last)) if *at + last.len() == field.at() => last.end = end,
            _ => self.parts.push((field.at(), start..end)),
        }
    }

    fn parts(&self) -> impl Iterator<Item = Message<'_>> {
        let parts = self.parts.iter();
        parts.map(|(at, range)| Message::from_part(&self.bytes[range.clone()], *at))
    }
}

/// The time and duration of the recording. Its comments are stored as the command line.
fn origin(profile: &Profile<'_>, stacks: &mut RecordingBuilder) -> Decoded<Origin> {
    let mut comments = Vec::new();
    for &comment in &profile.comments {
        comments.push(stacks.text(profile.text(comment)?).into_owned());
    }
    let mut comments = comments.join("\n");
    truncate_text(&mut comments, MAX_NAME);
    // A year has more than 3 * 10^16 nanoseconds; negative numbers are unset values.
    let known = |nanoseconds: u64| {
        (1..=i64::MAX as u64)
            .contains(&nanoseconds)
            .then_some(nanoseconds)
    };
    Ok(Origin {
        recorded: known(profile.time).map(|time| UnixSeconds(time / 1_000_000_000)),
        duration: known(profile.duration).map(Nanoseconds),
        command: (!comments.is_empty()).then_some(comments),
        ..Origin::default()
    })
}

struct SampleReader<'b> {
    profile: &'b Profile<'b>,
    columns: Vec<Column>,
    frames: Frames,
    builder: RecordingBuilder,
    threads: Threads<'b>,
    /// Stacks by their encoded location ids; most samples have a known stack.
    stack_of: HashMap<Box<[u8]>, StackIx>,
    /// Threads by encoded labels, if these have no time.
    thread_of: HashMap<Box<[u8]>, ThreadIx>,
    /// The fields of the current sample.
    locations: Vec<u8>,
    labels: Vec<u8>,
    values: Vec<u64>,
}

impl<'b> SampleReader<'b> {
    fn new(
        profile: &'b Profile<'b>,
        size: usize,
        options: &ReadOptions,
    ) -> Decoded<SampleReader<'b>> {
        let mut builder = RecordingBuilder::with_file_size(size).with_summing(options.sum_samples);
        let columns = columns(&ValueInfo::new(profile)?, &mut builder)?;
        let mut modules = Modules::default();
        let frames = Frames::new(profile, &mut modules, &mut builder)?;
        builder.modules = modules.modules;
        Ok(SampleReader {
            profile,
            columns,
            frames,
            threads: Threads::new(profile),
            builder,
            stack_of: HashMap::new(),
            thread_of: HashMap::new(),
            locations: Vec::new(),
            labels: Vec::new(),
            values: Vec::new(),
        })
    }

    fn read(&mut self, message: Message<'_>) -> Decoded<()> {
        let at = message.at();
        self.locations.clear();
        self.labels.clear();
        self.values.clear();
        let mut rest = message;
        loop {
            let before = rest;
            let Some(field) = rest.next()? else { break };
            match field.number {
                1 => self.locations.extend_from_slice(rest.bytes_since(&before)),
                2 => field.numbers_into(&mut self.values)?,
                3 => self.labels.extend_from_slice(rest.bytes_since(&before)),
                _ => {}
            }
        }
        let types = self.profile.sample_types.len();
        if self.values.len() != types {
            let problem = format!(
                "a sample of {} values; expected {types}, one a sample type",
                self.values.len()
            );
            return Err(DecodeError::new(at, problem));
        }
        let stack = self.stack(message)?;
        let (thread, time) = self.thread(message)?;
        for (column, ix) in self.columns.iter().zip((0..).map(SampleTypeIx)) {
            if let Some(cost) = column.cost(&self.values, at)? {
                self.builder.push((thread, ix), stack, time, cost);
            }
        }
        Ok(())
    }

    fn stack(&mut self, message: Message<'_>) -> Decoded<StackIx> {
        if let Some(&known) = self.stack_of.get(&*self.locations) {
            return Ok(known);
        }
        let (at, mut indices) = (message.at(), Vec::new());
        fields!(message, { 1 => indices });
        self.profile.locations.indices_of(&mut indices, at)?;
        let stack = self.frames.stack(&indices, &mut self.builder);
        let stack = stack.map_err(DecodeError::at(at))?;
        self.stack_of
            .insert(self.locations.as_slice().into(), stack);
        Ok(stack)
    }

    fn thread(&mut self, message: Message<'_>) -> Decoded<(ThreadIx, Option<Nanoseconds>)> {
        if let Some(&known) = self.thread_of.get(&*self.labels) {
            return Ok((known, None));
        }
        let mut labels = Vec::new();
        fields!(message, { 3 => labels });
        let (thread, time) = self.threads.read(&labels, &mut self.builder)?;
        if time.is_none() {
            self.thread_of.insert(self.labels.as_slice().into(), thread);
        }
        Ok((thread, time))
    }

    fn finish(self) -> Decoded<RecordingBuilder> {
        let mut builder = self.builder;
        builder.origin = origin(self.profile, &mut builder)?;
        self.threads.finish(&mut builder);
        let types = self.columns.into_iter().map(|column| column.sample_type);
        builder.sample_types = types.collect();
        Ok(builder)
    }
}
