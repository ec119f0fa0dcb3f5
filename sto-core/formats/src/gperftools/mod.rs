//! Profiles of gperftools, and profiles in the same text format: jemalloc's heap, and Go's with `debug=1`.
//!
//! ```text
//! bytes            cpu          words of a CPU profile
//! lines            text         heaps, waits for locks, counts
//! their end        mappings     mappings of files: from addresses to offsets in files
//! ```
//!
//! Source: `docs/cpuprofile-fileformat.html` and `docs/heapprofile.html` of <https://github.com/gperftools/gperftools>;
//! `jemalloc(3)`; `runtime/pprof` of Go.
//!
//! See [the manual](crate::manual::gperftools).

mod cpu;
mod mappings;
mod text;

use crate::error::{DecodeError, Decoded};
use crate::pprof::columns::{Column, ValueInfo, columns};
use crate::pprof::schema::Named;
use crate::recording::{LocationIx, RecordingBuilder, SampleTypeIx, ThreadIx};
use crate::source::Head;
use crate::wire::text::lines;

const NO_NAMES: &str = "It has neither names nor mapped files, so its addresses cannot be symbolized; `pprof -proto PROGRAM FILE` adds names.";

/// Returns `true` if a profile begins like a CPU profile or with the first line of a text profile.
pub(super) fn matches(head: &Head<'_>) -> bool {
    cpu::Words::new(head.bytes).is_some()
        || lines(head.bytes)
            .next()
            .is_some_and(|(_, first)| text::Kind::from_first_line(first).is_some())
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    match cpu::Words::new(bytes) {
        Some((words, period)) => cpu::read(bytes, words, period),
        None => text::read(bytes),
    }
}

/// The sample types with these names and units, the default (last) one first.
fn sample_types(types: Vec<Named<'_>>, builder: &mut RecordingBuilder) -> Decoded<Vec<Column>> {
    let measured = ValueInfo {
        types,
        default: b"",
        period: None,
    };
    let columns = columns(&measured, builder)?;
    let sample_types = columns.iter().map(|column| column.sample_type.clone());
    builder.sample_types = sample_types.collect();
    Ok(columns)
}

/// Adds the costs of a stack, root first, for each sample type.
fn add(
    (values, stack): (&[u64], &[LocationIx]),
    columns: &[Column],
    at: usize,
    builder: &mut RecordingBuilder,
) -> Decoded<()> {
    let stack = builder.stack(stack).map_err(DecodeError::at(at))?;
    for (column, ix) in columns.iter().zip((0..).map(SampleTypeIx)) {
        if let Some(cost) = column.cost(values, at)? {
            let added = builder.add_cost(ThreadIx(0), ix, stack, cost);
            added.map_err(DecodeError::at(at))?;
        }
    }
    Ok(())
}
