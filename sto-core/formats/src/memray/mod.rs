//! memray recordings of Python programs: all allocations with stacks, or the memory in use at the peak and at the end.
//!
//! See [the manual](crate::manual::memray).
//!
//! Source: `src/memray/_memray/record_writer.cpp` and `records.h` of <https://github.com/bloomberg/memray>.

mod aggregated;
mod allocations;
mod frames;
mod header;
mod heap;
mod lines;
mod record;

use self::aggregated::Aggregated;
use self::allocations::Allocations;
use self::frames::Threads;
use self::header::{Header, MAGIC};
use self::record::Read;
use crate::error::{DecodeError, Decoded, Salvage};
use crate::recording::{Built, RecordingBuilder};
use crate::source::{Head, LineReader, ReadOptions};
use crate::wire::records::{PendingBytes, RecordFailure};
use sto_model::bytes::Cursor;
use sto_model::units::Unit;

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(MAGIC)
}

pub(super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        allow_truncated: options.allow_truncated,
        held: PendingBytes::default(),
        records: Records::Header,
        has_ended: false,
        builder: options.builder(),
    })
}

struct Reader {
    allow_truncated: bool,
    held: PendingBytes,
    records: Records,
    /// Whether the end mark was read, or the zeros that follow it, which are also left by a killed
    /// program.
    has_ended: bool,
    builder: RecordingBuilder,
}

/// The state of reading.
enum Records {
    Header,
    Allocations(Box<Header>, Box<Allocations>),
    Aggregated(Box<Header>, Box<Aggregated>),
}

impl LineReader for Reader {
    fn takes_parts_of_lines(&self) -> bool {
        true
    }

    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        if self.has_ended {
            return Ok(());
        }
        self.held.read(bytes, "a record", |bytes| {
            match self.records.read(bytes, &mut self.builder)? {
                Read::Record => Ok(()),
                Read::EndMark => {
                    self.has_ended = true;
                    bytes.take(bytes.left() as u64)?;
                    Ok(())
                }
                Read::Zeros => {
                    self.has_ended = true;
                    Err(RecordFailure::Ends)
                }
            }
        })
    }

    fn finish(mut self: Box<Self>) -> Decoded<RecordingBuilder> {
        if !self.has_ended || !self.held.is_empty() {
            let cut = if self.has_ended || self.held.is_empty() {
                format!(
                    "its records end at byte {}, without an end mark",
                    self.held.at()
                )
            } else {
                format!("the file ends within the record at byte {}", self.held.at())
            };
            if !self.allow_truncated {
                return Err(DecodeError::cut_off(cut, Salvage::Possible));
            }
            let (first, others) = cut.split_at(1);
            self.builder.warnings.push(format!(
                "{}{others}; its allocations until then were read.",
                first.to_uppercase()
            ));
        }
        let added = self.records.finish(&mut self.builder);
        added.map_err(|problem| DecodeError::new(self.held.at(), problem))?;
        Ok(self.builder)
    }
}

impl Records {
    /// Reads the next record completely or not at all.
    fn read(
        &mut self,
        bytes: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<Read, RecordFailure> {
        match self {
            Records::Header => {
                let header = Box::new(Header::read(bytes)?);
                *self = if header.is_aggregated {
                    Records::Aggregated(header, Box::default())
                } else {
                    Records::Allocations(header, Box::default())
                };
                Ok(Read::Record)
            }
            Records::Allocations(header, allocations) => allocations.record(header, bytes, builder),
            Records::Aggregated(header, aggregated) => aggregated.record(header, bytes, builder),
        }
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Built<()> {
        match self {
            Records::Header => {}
            Records::Allocations(header, allocations) => {
                let threads = allocations.finish(builder)?;
                describe(&header, &["allocated", "peak", "at-end"], threads, builder);
            }
            Records::Aggregated(header, aggregated) => {
                let threads = aggregated.finish(&header, builder)?;
                describe(&header, &["peak", "at-end"], threads, builder);
            }
        }
        Ok(())
    }
}

/// Describes the recording and its samples, which were added before.
fn describe(header: &Header, events: &[&str], threads: Threads, builder: &mut RecordingBuilder) {
    for event in events {
        builder.sample_type(event, Unit::Bytes);
    }
    let process = header.describe(builder);
    threads.add(process, builder);
    if header.has_native {
        builder
            .warnings
            .push("Its native frames were left out: stacks have only Python frames.".to_owned());
    }
}
