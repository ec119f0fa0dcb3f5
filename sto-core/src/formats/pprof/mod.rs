//! pprof: the profiles of Go, gperftools, Parca, Pyroscope, py-spy and many others.
//!
//! ```text
//! bytes            protobuf     fields of messages, in place
//!   |              schema       tables of strings, mappings, locations, functions
//!   v
//! values           columns      sample types and costs
//! locations        frames       named frames, inlined ones, addresses; dropped ones taken out
//! labels           threads      threads, processes, times, other labels
//! ```
//!
//! Source: `proto/profile.proto` and `proto/README.md` of <https://github.com/google/pprof>.
//!
#![doc = include_str!("pprof.md")]

pub(super) mod columns;
mod dropped;
pub(super) mod frames;
pub(super) mod schema;
mod threads;

pub(super) use frames::build_id;

use super::error::{DecodeError, Decoded};
use super::source::Head;
use super::wire::protobuf::{Message, fields};
use crate::limits::{MAX_NAME, cut};
use crate::model::Origin;
use crate::recording::{LocationIx, RecordingBuilder, SampleTypeIx};
use crate::units::{Nanoseconds, UnixSeconds};
use columns::{Column, Measured, columns};
use frames::{Frames, Modules};
use schema::Profile;
use threads::Threads;

/// Whether a file that begins with these bytes is a profile: its fields are those of one, up to a
/// sample type. Writers put few fields before the sample types, if any.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let mut profile = Message::of_file(head.bytes);
    while let Ok(Some(field)) = profile.next() {
        // One that says nothing, before others.
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
    // What cannot be read is left.
    fields > 0 && message.bytes().is_empty()
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let profile = Profile::parse(bytes)?;
    let mut builder = RecordingBuilder::of_file(bytes.len());
    let columns = columns(&Measured::of(&profile)?, &mut builder)?;
    let mut modules = Modules::default();
    let frames = Frames::of(&profile, &mut modules, &mut builder)?;
    builder.modules = modules.modules;
    let mut reader = SampleReader {
        profile: &profile,
        columns: &columns,
        frames: &frames,
        threads: Threads::new(&profile),
        builder,
        buffers: Buffers::default(),
    };
    for &message in &profile.samples {
        reader.read(message)?;
    }
    let SampleReader {
        mut builder,
        threads,
        ..
    } = reader;
    builder.origin = origin(&profile, &mut builder)?;
    threads.finish(&mut builder);
    builder.sample_types = columns
        .into_iter()
        .map(|column| column.sample_type)
        .collect();
    Ok(builder)
}

/// When and how long was recorded; its comments stand where other formats have a command line.
fn origin(profile: &Profile<'_>, stacks: &mut RecordingBuilder) -> Decoded<Origin> {
    let mut comments = Vec::new();
    for &comment in &profile.comments {
        comments.push(stacks.text(profile.text(comment)?).into_owned());
    }
    let mut comments = comments.join("\n");
    cut(&mut comments, MAX_NAME);
    // A year has more than 3 * 10^16 nanoseconds; what is negative here was never set.
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

struct SampleReader<'r, 'b> {
    profile: &'r Profile<'b>,
    columns: &'r [Column],
    frames: &'r Frames,
    builder: RecordingBuilder,
    threads: Threads<'r, 'b>,
    buffers: Buffers<'b>,
}

/// The parts of the sample that is being read.
#[derive(Default)]
struct Buffers<'b> {
    /// First ids of locations, then their indices; the leaf first.
    locations: Vec<u64>,
    values: Vec<u64>,
    labels: Vec<Message<'b>>,
    /// Root first.
    stack: Vec<LocationIx>,
}

impl<'b> SampleReader<'_, 'b> {
    fn read(&mut self, message: Message<'b>) -> Decoded<()> {
        let at = message.at();
        let Buffers {
            locations,
            values,
            labels,
            stack,
        } = &mut self.buffers;
        locations.clear();
        values.clear();
        labels.clear();
        stack.clear();
        fields!(message, { 1 => *locations, 2 => *values, 3 => *labels });
        let types = self.profile.sample_types.len();
        if values.len() != types {
            let problem = format!(
                "a sample of {} values; expected {types}, one a sample type",
                values.len()
            );
            return Err(DecodeError::new(at, problem));
        }
        self.profile.locations.indices_of(locations, at)?;
        let taken = self.frames.stack(locations, &mut self.builder, stack);
        let stack = taken.map_err(DecodeError::at(at))?;
        let (thread, time) = self.threads.read(labels, &mut self.builder)?;
        for (column, ix) in self.columns.iter().zip((0..).map(SampleTypeIx)) {
            if let Some(cost) = column.cost(values, at)? {
                self.builder.push((thread, ix), stack, time, cost);
            }
        }
        Ok(())
    }
}
